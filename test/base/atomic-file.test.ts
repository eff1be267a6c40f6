import {chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {removeOldLeftovers, writeFileAtomic, writeFileAtomicSync} from '../../src/base/atomic-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-atomic-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

describe.each([
  ['writeFileAtomic', writeFileAtomic],
  ['writeFileAtomicSync', async (...args: Parameters<typeof writeFileAtomicSync>) => writeFileAtomicSync(...args)],
] as const)('%s', (_name, write) => {
  it('leaves exactly the new file, readable by its owner only', async () => {
    const path = join(folder, 'a.json')
    writeFileSync(path, 'old', {mode: 0o644})
    await write(path, 'new')
    expect(readFileSync(path, 'utf8')).toBe('new')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['a.json'])
  })

  it('gives the mode that was asked for, whatever the umask', async () => {
    const path = join(folder, 'a.txt')
    await write(path, new Uint8Array([1, 2]), {mode: 0o664})
    expect(statSync(path).mode & 0o777).toBe(0o664)
  })

  it('keeps the old file and leaves nothing behind when the name cannot be taken', async () => {
    const path = join(folder, 'taken')
    mkdirSync(join(path, 'inside'), {recursive: true})
    await expect(write(path, 'new')).rejects.toMatchObject({code: 'E_NOT_A_FILE'})
    expect(readdirSync(folder)).toEqual(['taken'])
  })

  it('says so when the folder cannot be written', async ctx => {
    if (process.getuid?.() === 0) return ctx.skip('root may write everywhere')
    chmodSync(folder, 0o500)
    await expect(write(join(folder, 'a'), 'new')).rejects.toMatchObject({code: 'EACCES'})
    chmodSync(folder, 0o700)
  })
})

describe('what a writer left that was killed', () => {
  it('goes when it is a day old, and nothing that is called or made otherwise', () => {
    const names = ['.run.jsonl.0123456789ab.tmp', '.run.jsonl.0123456789a.tmp', 'run.jsonl.0123456789ab.tmp', '.hidden']
    for (const name of names) writeFileSync(join(folder, name), '')
    mkdirSync(join(folder, '.folder.0123456789ab.tmp'))
    symlinkSync('.hidden', join(folder, '.link.0123456789ab.tmp'))
    removeOldLeftovers(folder, Date.now() + 23 * 3_600_000)
    expect(readdirSync(folder)).toHaveLength(6)
    removeOldLeftovers(folder, Date.now() + 25 * 3_600_000)
    expect(readdirSync(folder).sort()).toEqual(
      ['.folder.0123456789ab.tmp', '.hidden', '.link.0123456789ab.tmp', '.run.jsonl.0123456789a.tmp', 'run.jsonl.0123456789ab.tmp'].sort(),
    )
  })
})
