import {execFileSync} from 'node:child_process'
import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {OF_VARIABLES, ReadAllowance} from '../../../src/declaration/files/project-text.ts'
import {readStackDocuments} from '../../../src/declaration/files/stack-files.ts'
import {readVariableFiles, readVariableOptions} from '../../../src/declaration/read/variable-files.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'project-text-'))
  mkdirSync(join(cwd, 'shop'))
})
afterEach(() => rmSync(cwd, {recursive: true, force: true}))

const read = () => readStackDocuments('shop', {cwd})
const put = (name: string, text: string) => writeFileSync(join(cwd, 'shop', name), text)

it('a byte order mark at the beginning of a file is passed over', async () => {
  put('cdk.tf.json', '\uFEFF{"output": {"a": {"value": 1}}}')
  const [document] = (await read()).documents
  expect([...(document?.outputs.keys() ?? [])]).toEqual(['a'])
})

describe.skipIf(process.platform === 'win32')('a stack file of a project', () => {
  it.each(['/dev/zero', '/dev', 'fifo'])('that leads to %s is refused, and neither read for ever nor waited for', async target => {
    if (target === 'fifo') execFileSync('mkfifo', [join(cwd, 'fifo')])
    symlinkSync(target === 'fifo' ? join(cwd, 'fifo') : target, join(cwd, 'shop', 'cdk.tf.json'))
    await expect(read()).rejects.toThrow('shop/cdk.tf.json: is no file')
    symlinkSync(target === 'fifo' ? join(cwd, 'fifo') : target, join(cwd, 'terraform.tfvars'))
    await expect(readVariableFiles(cwd, [])).rejects.toThrow('terraform.tfvars: is no file')
  })

  it.each([
    ['main.tf.json', 'nowhere', 'ENOENT'],
    ['more.tf', 'nowhere', 'ENOENT'],
    ['main.tf.json', 'main.tf.json', 'ELOOP'],
  ])('%s that is a link to %s is an error of the stack, which says what to do', async (name, target, code) => {
    put('a.tf.json', '{}')
    symlinkSync(target, join(cwd, 'shop', name))
    await expect(read()).rejects.toMatchObject({
      code: 'E_STACK_FILE',
      exit: 64,
      message: `shop/${name}: cannot be read (${code})`,
      suggestions: ['Make it readable, or take it away.'],
    })
  })

  it('is refused before more of it is held than all files of an app may have', async () => {
    const allowance = new ReadAllowance({...OF_VARIABLES, bytes: 24 * 2 ** 10, values: 100})
    put('a.tf.json', `{"locals": {"a": "${'x'.repeat(20 * 2 ** 10)}"}}`)
    put('b.tf.json', `{"locals": {"b": "${'x'.repeat(5 * 2 ** 10)}"}}`)
    expect(await allowance.read(join(cwd, 'shop', 'a.tf.json'), 'a.tf.json')).toHaveLength(20 * 2 ** 10 + 21)
    const second = allowance.read(join(cwd, 'shop', 'b.tf.json'), 'b.tf.json')
    await expect(second).rejects.toThrow('b.tf.json: with this file the files of variables have more than 24 KiB')
  })

  it.each([
    ['lists', (count: number) => `{"locals": {"a": [${'[],'.repeat(count / 2)}0]}}`],
    ['lists in the text of a spec', (count: number) => JSON.stringify({locals: {a: `[${'[],'.repeat(count / 2)}0]`}})],
    ['objects', (count: number) => `{"locals": {"a": [${'{},'.repeat(count / 2)}0]}}`],
  ])('has no more values than fit into memory: %s', async (_, text) => {
    const allowance = new ReadAllowance({...OF_VARIABLES, bytes: 2 ** 20, values: 5000})
    put('a.tf.json', text(4000))
    put('b.tf.json', text(1100))
    await allowance.read(join(cwd, 'shop', 'a.tf.json'), 'a.tf.json')
    await expect(allowance.read(join(cwd, 'shop', 'b.tf.json'), 'b.tf.json')).rejects.toThrow('more than 5000 values')
  })

  it('has the bounds of all files together where an app is read', async () => {
    put('a.tf.json', `{"locals": {"a": [${'[],'.repeat(1_400_000)}0]}}`)
    await expect(read()).rejects.toThrow('more than 2750000 values')
  })
})

it.skipIf(process.platform === 'win32')('a file of values that a person names may be a pipe', async () => {
  const fifo = join(cwd, 'values')
  execFileSync('mkfifo', [fifo])
  const reading = readVariableOptions([{type: 'file', path: 'values'}], cwd, [])
  writeFileSync(fifo, 'a = 1\n')
  expect(await reading).toMatchObject([{file: {values: {a: 1}}}])
})
