import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Readable} from 'node:stream'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {readRequestBody} from '../../src/passthrough/request-body.ts'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svcctl-body-'))
  writeFileSync(join(cwd, 'body.json'), '{"id": 12345678901234567890}')
  writeFileSync(join(cwd, 'marked.json'), '\uFEFF{"a": 1}')
  writeFileSync(join(cwd, 'latin1.json'), Buffer.from('{"a": "\u00e4"}', 'latin1'))
})
afterAll(() => rmSync(cwd, {recursive: true, force: true}))

const read = (data: string, contentType?: string, input: readonly string[] = []) =>
  readRequestBody(data, {cwd, stdin: Readable.from(input)}, contentType)
const text = async (data: string, contentType?: string, input?: readonly string[]) =>
  Buffer.from((await read(data, contentType, input)).bytes).toString()

describe('the body of a raw request', () => {
  it('is sent as it was given, inline, from a file beside the working folder, or from standard input in pieces', async () => {
    expect(await text('{"a":  1}')).toBe('{"a":  1}')
    expect(await text('@body.json')).toBe('{"id": 12345678901234567890}')
    expect(await text('@-', undefined, ['{"a":', ' 1}'])).toBe('{"a": 1}')
    expect((await read('@-', undefined, ['1'])).from).toBe('standard input')
  })

  it('from standard input has an end, as that of a file has', async () => {
    const chunk = 'x'.repeat(1_048_576)
    const endless = (async function* () {
      for (;;) yield chunk
    })()
    await expect(readRequestBody('@-', {cwd, stdin: endless})).rejects.toMatchObject({code: 'E_REQUEST_BODY', exit: 64})
  })

  it('loses the byte order mark that JSON does not know', async () => {
    expect(await text('@marked.json')).toBe('{"a": 1}')
  })

  it('is not looked at where the headers say that it is no JSON', async () => {
    expect(await read('no { json', 'text/plain')).toEqual({bytes: Buffer.from('no { json'), from: '--data'})
  })

  it.each([
    ['@', 'names no file'],
    ['@none.json', 'none.json'],
    ['@latin1.json', 'is not UTF-8 text'],
    ['{"password": "hunter2" oops}', 'is not JSON'],
    [`${'['.repeat(100_000)}`, 'the body (--data)'],
  ])('that cannot be sent is refused without a word of it: %.30s', async (data, message) => {
    const refused = await read(data).then(
      () => undefined,
      error => error,
    )
    expect(refused).toMatchObject({code: 'E_REQUEST_BODY', exit: 64, message: expect.stringContaining(message)})
    expect(refused.message).not.toContain('hunter2')
  })
})
