import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {readConfigFile} from '../../src/config/config-file.ts'
import {saveFilesKey} from '../../src/config/profile-store.ts'
import {editPlace} from './edit-place.ts'

const LARGEST = 1_048_576
let folder: string
let file: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-file-'))
  file = join(folder, 'config.toml')
})
afterAll(() => rmSync(folder, {recursive: true}))

it('a configuration file has at most 1 MiB, for who reads it and for who changes it', async () => {
  writeFileSync(file, '#'.repeat(LARGEST))
  expect(readConfigFile(file)?.text).toHaveLength(LARGEST)
  writeFileSync(file, '#'.repeat(LARGEST + 1))
  const refusal = {code: 'E_CONFIG_ACCESS', exit: 64}
  expect(() => readConfigFile(file)).toThrow(expect.objectContaining(refusal))
  await expect(saveFilesKey(editPlace(file), 'new')).rejects.toMatchObject(refusal)
})
