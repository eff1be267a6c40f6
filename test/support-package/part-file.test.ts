import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
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
    await expect(first.commit(target)).rejects.toMatchObject({code: 'E_DESTINATION'})
    await first.discard()
    await second.write(Buffer.from('ond'))
    await second.commit(target)
    expect(readFileSync(target, 'utf8')).toBe('second')
  })

  it('is gone when the process ends at once, and one that is whole stays', async () => {
    const whole = await PartFile.create(join(folder, 'whole.part'))
    await whole.commit(join(folder, 'whole'))
    await PartFile.create(join(folder, 'half.part'))
    removeUnfinished()
    expect([existsSync(join(folder, 'whole')), existsSync(join(folder, 'half.part'))]).toEqual([true, false])
  })
})
