import {execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {readKeptFile, readKeptFileSync, readWholeFile, readWholeFileSync} from '../../src/base/whole-file.ts'

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

  it('that is too large is refused before any of it is in memory', async () => {
    const path = join(folder, 'far-too-large')
    writeFileSync(path, '')
    truncateSync(path, 300_000_001)
    const ways = [
      () => readWholeFile(path, 300_000_000),
      async () => readWholeFileSync(path, 300_000_000),
      () => readKeptFile(path, 300_000_000),
      async () => readKeptFileSync(path, 300_000_000),
    ]
    for (const way of ways) {
      const before = process.memoryUsage().arrayBuffers
      await expect(way()).rejects.toMatchObject({code: 'EFBIG'})
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000)
    }
  })

  it('is a regular file where a program keeps something for itself', () => {
    const path = join(folder, 'kept')
    writeFileSync(path, 'text')
    expect(readKeptFileSync(path, 4).toString()).toBe('text')
    expect(() => readKeptFileSync(path, 3)).toThrow('is larger than 3 bytes')
    expect(() => readKeptFileSync(join(folder, 'absent'))).toThrow(expect.objectContaining({code: 'ENOENT'}))
    expect(() => readKeptFileSync(folder)).toThrow('is no regular file')
    symlinkSync('/dev/zero', join(folder, 'zero'))
    expect(() => readKeptFileSync(join(folder, 'zero'))).toThrow('is no regular file')
    execFileSync('mkfifo', [join(folder, 'kept-fifo')])
    expect(() => readKeptFileSync(join(folder, 'kept-fifo'))).toThrow('is no regular file')
  })

  it('fails as the system does where there is none', async () => {
    const path = join(folder, 'none')
    await expect(readWholeFile(path)).rejects.toMatchObject({code: 'ENOENT'})
    expect(() => readWholeFileSync(path)).toThrow('ENOENT')
  })

  it('may be a FIFO: what is written into it late and in parts, and nothing more', async () => {
    const path = join(folder, 'fifo')
    execFileSync('mkfifo', [path])
    const ended = once(spawn('sh', ['-c', 'exec >"$1"; printf ab; sleep 0.1; printf cd', 'sh', path]), 'exit')
    expect((await readWholeFile(path)).toString()).toBe('abcd')
    await ended
    spawn('sh', ['-c', 'exec >"$1"; printf ab; sleep 0.1; printf cd', 'sh', path])
    expect(readWholeFileSync(path).toString()).toBe('abcd')
  })

  it('a FIFO that nobody writes into is given up', async () => {
    const path = join(folder, 'silent')
    execFileSync('mkfifo', [path])
    await expect(readWholeFile(path)).rejects.toMatchObject({code: 'ETIMEDOUT', message: `nobody writes into ${path}`})
  }, 30_000)

  // Only root may read it.
  it.skipIf(process.getuid?.() !== 0 || !existsSync('/proc/kmsg'))(
    'a file of the kernel that has nothing to say now is given up',
    async () => {
      const message = '/proc/kmsg has nothing to read now, and is nothing to wait for'
      await expect(readWholeFile('/proc/kmsg')).rejects.toMatchObject({code: 'EAGAIN', message})
      await expect(readKeptFile('/proc/kmsg')).rejects.toMatchObject({code: 'EAGAIN', message})
      expect(() => readWholeFileSync('/proc/kmsg')).toThrow(message)
      expect(() => readKeptFileSync('/proc/kmsg')).toThrow(message)
    },
  )

  it('a pipe that ended without a word is empty at once', () => {
    const program = `import {readWholeFile, readWholeFileSync} from '${join(import.meta.dirname, '../../src/base/whole-file.ts')}'
      console.log((await readWholeFile(process.argv[1])).length + readWholeFileSync(process.argv[2]).length)`
    expect(
      execFileSync('bash', ['-c', 'sleep 0.1; node --import tsx --input-type=module -e "$1" <(true) <(printf abc)', 'bash', program], {
        encoding: 'utf8',
      }),
    ).toBe('3\n')
  })
})
