import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {basename, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {PartFile, removeUnfinished} from '../../src/support-package/part-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-part-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

describe('an archive that grows', () => {
  it('never takes the half of another that was begun under the same name', async () => {
    const target = join(folder, 'a.tar.gz')
    const first = await PartFile.create(`${target}.part`)
    await first.write(Buffer.from('first'))
    const second = await PartFile.create(`${target}.part`)
    await second.write(Buffer.from('sec'))
    await expect(first.commit(target, {replace: true})).rejects.toMatchObject({code: 'E_DESTINATION'})
    await first.discard()
    await second.write(Buffer.from('ond'))
    await second.commit(target, {replace: true})
    expect(readFileSync(target, 'utf8')).toBe('second')
  })

  it('takes the next free name where its own is taken, unless it may replace what is there', async () => {
    const commit = async (name: string, text: string, replace: boolean) => {
      const part = await PartFile.create(join(folder, 'a.part'))
      await part.write(Buffer.from(text))
      return basename(await part.commit(join(folder, name), {replace}))
    }
    const names = ['a.tar.gz', 'a.tar.gz', 'a.tar.gz', 'b', 'b', '.c', '.c']
    const taken: string[] = []
    for (const [at, name] of names.entries()) taken.push(await commit(name, String(at), false))
    expect(taken).toEqual(['a.tar.gz', 'a-2.tar.gz', 'a-3.tar.gz', 'b', 'b-2', '.c', '.c-2'])
    expect(await commit('a.tar.gz', 'new', true)).toBe('a.tar.gz')
    expect([...taken.keys()].map(at => readFileSync(join(folder, taken[at] ?? ''), 'utf8'))).toEqual(['new', '1', '2', '3', '4', '5', '6'])
    expect(existsSync(join(folder, 'a.part'))).toBe(false)
  })

  it('is gone when the process ends at once, and one that is whole stays', async () => {
    const whole = await PartFile.create(join(folder, 'whole.part'))
    await whole.commit(join(folder, 'whole'), {replace: false})
    await PartFile.create(join(folder, 'half.part'))
    removeUnfinished()
    expect([existsSync(join(folder, 'whole')), existsSync(join(folder, 'half.part'))]).toEqual([true, false])
  })
})
