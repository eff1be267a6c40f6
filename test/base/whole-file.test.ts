import {mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {readWholeFile, readWholeFileSync} from '../../src/base/whole-file.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-'))
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

describe('a file that is read as a whole', () => {
  it.each([0, 1, 262_144, 600_001])('is its bytes: %d of them', async size => {
    const path = join(folder, `f${size}`)
    const bytes = Buffer.alloc(size, 'ab\n')
    writeFileSync(path, bytes)
    expect((await readWholeFile(path)).equals(bytes)).toBe(true)
    expect(readWholeFileSync(path).equals(bytes)).toBe(true)
  })

  it('may be as large as the bound, and is given up as soon as it is larger, whatever it is', async () => {
    const path = join(folder, 'large')
    writeFileSync(path, Buffer.alloc(1000))
    symlinkSync(path, join(folder, 'link'))
    expect(await readWholeFile(join(folder, 'link'), 1000)).toHaveLength(1000)
    truncateSync(path, 2 ** 40)
    for (const it of [path, join(folder, 'link')]) {
      await expect(readWholeFile(it, 1000)).rejects.toMatchObject({code: 'EFBIG'})
      expect(() => readWholeFileSync(it, 1000)).toThrow('is larger than 1000 bytes')
    }
  })

  it('fails as the system does where there is none', async () => {
    const path = join(folder, 'none')
    await expect(readWholeFile(path)).rejects.toMatchObject({code: 'ENOENT'})
    expect(() => readWholeFileSync(path)).toThrow('ENOENT')
  })
})
