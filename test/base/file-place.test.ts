import {execFileSync} from 'node:child_process'
import {lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {writeFileAtomic, writeFileAtomicSync} from '../../src/base/atomic-file.ts'
import {placeOfFile} from '../../src/base/file-place.ts'
import {makeFolder} from '../../src/base/make-folder.ts'

let folder: string
const at = (...names: string[]) => join(folder, ...names)
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svcctl-place-')))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

describe('the place of a file', () => {
  it('is the file itself, there or not', () => {
    writeFileSync(at('a'), '')
    expect([placeOfFile(at('a')), placeOfFile(at('b'))]).toEqual([
      {is: 'file', path: at('a')},
      {is: 'file', path: at('b')},
    ])
  })

  it('is what a link leads to, also through other links, relative ones, and to nothing yet', () => {
    mkdirSync(at('real'))
    symlinkSync('real', at('folder'))
    symlinkSync('../target', at('real', 'inner'))
    symlinkSync('folder/inner', at('outer'))
    expect(placeOfFile(at('outer'))).toEqual({is: 'file', path: at('target')})
    writeFileSync(at('target'), '')
    expect(placeOfFile(at('outer'))).toEqual({is: 'file', path: at('target')})
  })

  it('of a device or a FIFO is a stream, also behind a link', () => {
    execFileSync('mkfifo', [at('fifo')])
    symlinkSync('/dev/full', at('full'))
    expect([placeOfFile(at('fifo')), placeOfFile(at('full')), placeOfFile('/dev/null')]).toEqual([
      {is: 'stream', path: at('fifo'), fifo: true},
      {is: 'stream', path: at('full'), fifo: false},
      {is: 'stream', path: '/dev/null', fifo: false},
    ])
  })

  it('is refused for a folder, what is spelled like one, and links in a circle', () => {
    symlinkSync('y', at('x'))
    symlinkSync('x', at('y'))
    for (const path of [folder, at('new/'), at('x')])
      expect(() => placeOfFile(path), path).toThrow(expect.objectContaining({code: 'E_NOT_A_FILE', exit: 64}))
  })
})

describe.each([
  ['writeFileAtomic', writeFileAtomic],
  ['writeFileAtomicSync', async (...args: Parameters<typeof writeFileAtomicSync>) => writeFileAtomicSync(...args)],
] as const)('%s', (_, write) => {
  it('leaves a link a link, and replaces what it leads to', async () => {
    mkdirSync(at('real'))
    writeFileSync(at('real', 'a'), 'old')
    symlinkSync('real/a', at('a'))
    await write(at('a'), 'new')
    expect([lstatSync(at('a')).isSymbolicLink(), readFileSync(at('real', 'a'), 'utf8')]).toEqual([true, 'new'])
  })

  it('never puts a file in the place of what is none', async () => {
    execFileSync('mkfifo', [at('fifo')])
    symlinkSync('/dev/full', at('full'))
    for (const name of ['fifo', 'full']) await expect(write(at(name), 'x'), name).rejects.toMatchObject({code: 'E_NOT_A_FILE'})
    expect([lstatSync(at('fifo')).isFIFO(), lstatSync(at('full')).isSymbolicLink()]).toEqual([true, true])
  })
})

describe('a folder', () => {
  it('is made with what is missing above it, and once', () => {
    makeFolder(at('a', 'b', 'c'), 0o700)
    makeFolder(at('a', 'b', 'c'))
    expect(lstatSync(at('a', 'b')).mode & 0o777).toBe(0o700)
  })

  it('that the system does not take is an error that names it, and nothing that is tried for ever', ctx => {
    if (process.platform !== 'linux') return ctx.skip('there is no /proc')
    expect(() => makeFolder('/proc/svcctl/state')).toThrow('/proc/svcctl cannot be made: /proc takes no folders')
  })
})
