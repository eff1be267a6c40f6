import {execFile, execFileSync} from 'node:child_process'
import {mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../src/base/clock.ts'
import {pourInto, writeNamedFile} from '../../src/base/named-file.ts'

let folder: string
const at = (name: string) => join(folder, name)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-named-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

describe('a file somebody named', () => {
  it('is replaced as a whole', async () => {
    writeFileSync(at('a'), 'a longer text that was there')
    await writeNamedFile(at('a'), 'new', {clock: systemClock, cwd: folder})
    expect([readFileSync(at('a'), 'utf8'), readdirSync(folder)]).toEqual(['new', ['a']])
  })

  it('is written part by part, and stays as it was where a part cannot be made', async () => {
    const host = {clock: systemClock, cwd: folder}
    await writeNamedFile(at('a'), ['one, ', 'two, ', 'drei: ä'], host)
    function* broken() {
      yield 'half'
      throw new RangeError('no more')
    }
    await expect(writeNamedFile(at('a'), broken(), host)).rejects.toMatchObject({code: 'E_FILE_WRITE'})
    expect([readFileSync(at('a'), 'utf8'), readdirSync(folder)]).toEqual(['one, two, drei: ä', ['a']])
    symlinkSync('/dev/null', at('null'))
    await writeNamedFile(at('null'), ['one', 'two'], host)
    expect(readdirSync(folder).sort()).toEqual(['a', 'null'])
  })

  it('that is a FIFO gets all of it, however late its reader comes and whatever it holds at once', async () => {
    execFileSync('mkfifo', [at('fifo')])
    const text = 'x'.repeat(1_000_000)
    let looks = 0
    let read: Promise<{stdout: string}> | undefined
    const clock = {
      now: () => 0,
      // The reader comes only after the writer has looked twice in vain.
      sleep: async () => {
        looks += 1
        if (looks === 2) read = promisify(execFile)('cat', [at('fifo')], {maxBuffer: 2_000_000})
        await systemClock.sleep(1)
      },
    }
    await writeNamedFile(at('fifo'), text, {clock, cwd: folder})
    expect((await read)?.stdout).toBe(text)
  })

  it('that is a FIFO nobody reads is given up when the wait is', async () => {
    execFileSync('mkfifo', [at('fifo')])
    const stop = new AbortController()
    const poured = pourInto(at('fifo'), true, [Buffer.from('x')], systemClock, stop.signal)
    stop.abort(new Error('enough'))
    await expect(poured).rejects.toThrow('enough')
  })

  it('on a full device is an error that says so, and the device stays', async ctx => {
    if (process.platform !== 'linux') return ctx.skip('there is no /dev/full')
    // Behind a link, so that a mistake here replaces the link and not the device.
    symlinkSync('/dev/full', at('full'))
    await expect(writeNamedFile(at('full'), 'x', {clock: systemClock, cwd: folder})).rejects.toMatchObject({
      code: 'E_FILE_WRITE',
      message: `${at('full')} could not be written (ENOSPC)`,
    })
    expect(readdirSync(folder)).toEqual(['full'])
  })

  it('that is a folder is refused', async () => {
    await expect(writeNamedFile(folder, 'x', {clock: systemClock, cwd: folder})).rejects.toMatchObject({code: 'E_NOT_A_FILE', exit: 64})
  })
})
