import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import type {HolderState} from '../../src/base/process-lock.ts'
import {withConfigLock} from '../../src/config/config-lock.ts'
import {editConfig} from '../../src/config/profile-edit.ts'
import {saveFilesKey} from '../../src/config/profile-store.ts'
import {editPlace, hastyClock} from './edit-place.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-lock-'))
  file = join(folder, 'config.toml')
  writeFileSync(file, 'files_api_key = "old" # ours\n')
})
afterEach(() => rmSync(folder, {recursive: true}))

const HOLDER = {id: 'other', who: 'configuration', host: 'build-7', pid: 41, start: '', pidSpace: '', since: '2026-11-22T00:00:00.000Z'}
const leaveLock = () => writeFileSync(`${file}.lock`, JSON.stringify(HOLDER))
const edit = (state: HolderState) => saveFilesKey(editPlace(file, {clock: hastyClock(), stateOf: () => state}), 'new')
const text = () => readFileSync(file, 'utf8')

describe('the lock of the configuration file', () => {
  it('is gone when the edit is over, also when it failed', async () => {
    await edit('alive')
    await expect(editConfig(editPlace(file), () => expect.fail('stop'))).rejects.toThrow('stop')
    expect(readdirSync(folder)).toEqual(['config.toml'])
  })

  it('is waited for, and whoever does not give it back is named', async () => {
    leaveLock()
    await expect(edit('alive')).rejects.toMatchObject({
      code: 'E_CONFIG_LOCKED',
      exit: 10,
      message: expect.stringContaining('process 41 on build-7, since 2026-11-22'),
    })
    expect(text()).toBe('files_api_key = "old" # ours\n')
    expect(JSON.parse(readFileSync(`${file}.lock`, 'utf8'))).toEqual(HOLDER)
  })

  it('of a process that was killed is taken over, and what it had begun to write is cleared away', async () => {
    leaveLock()
    writeFileSync(join(folder, '.config.toml.0123456789ab.tmp'), 'files_api_key = "ha')
    await edit('dead')
    expect(text()).toBe('files_api_key = "new" # ours\n')
    expect(readdirSync(folder)).toEqual(['config.toml'])
  })

  it('of a process that cannot be asked is taken over when it does not change hands for seconds', async () => {
    leaveLock()
    await edit('elsewhere')
    expect(text()).toBe('files_api_key = "new" # ours\n')
    expect(existsSync(`${file}.lock`)).toBe(false)
  })

  it('that was lost on the way lets nothing be written', async () => {
    const place = editPlace(file)
    const lose = () => {
      rmSync(`${file}.lock`)
      leaveLock()
    }
    await expect(
      editConfig(place, root => {
        root.files_api_key = 'mine'
        lose()
      }),
    ).rejects.toMatchObject({code: 'E_CONFIG_LOCKED'})
    expect(text()).toBe('files_api_key = "old" # ours\n')
    expect(existsSync(`${file}.lock`)).toBe(true)
  })

  it.runIf(process.platform === 'linux')('is asked for in vain, and at once, where no file can be', async () => {
    const refused = (path: string) => expect(saveFilesKey(editPlace(path), 'k')).rejects
    await refused('/proc/svcctl/config.toml').toMatchObject({code: 'E_CONFIG_ACCESS', exit: 64})
    await refused(join(file, 'config.toml')).toMatchObject({suggestions: [expect.stringContaining('is a file and no folder')]})
    await refused(folder).toMatchObject({suggestions: [expect.stringContaining('is a folder')]})
  })

  it('is one for all names that a link gives the file', async () => {
    await withConfigLock(editPlace(file), () => expect(readdirSync(folder)).toEqual(['config.toml', 'config.toml.lock']))
  })
})
