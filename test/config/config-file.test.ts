import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {parseConfigText, readConfigFile} from '../../src/config/config-file.ts'
import {saveFilesKey} from '../../src/config/profile-store.ts'
import {Profiles} from '../../src/config/profiles.ts'
import {editPlace} from './edit-place.ts'

const LARGEST = 524_288
let folder: string
let file: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-file-'))
  file = join(folder, 'config.toml')
})
afterAll(() => rmSync(folder, {recursive: true}))

it('a configuration file has at most 512 KiB, for who reads it and for who changes it', async () => {
  writeFileSync(file, '#'.repeat(LARGEST))
  expect(readConfigFile(file)?.text).toHaveLength(LARGEST)
  writeFileSync(file, '#'.repeat(LARGEST + 1))
  const refusal = {code: 'E_CONFIG_ACCESS', exit: 64}
  expect(() => readConfigFile(file)).toThrow(expect.objectContaining(refusal))
  await expect(saveFilesKey(editPlace(file), 'new')).rejects.toMatchObject(refusal)
})

it.each([
  ['a dotted key', `a${'.a'.repeat(200_000)} = 1`],
  ['a dotted header', `[a${'.a'.repeat(200_000)}]`],
])('a configuration file with %s of a hundred thousand parts is refused, for who reads it and for who changes it', async (_, text) => {
  expect(() => parseConfigText(text, file)).toThrow(expect.objectContaining({code: 'E_CONFIG_SYNTAX', exit: 64}))
  writeFileSync(file, text)
  await expect(saveFilesKey(editPlace(file), 'new')).rejects.toMatchObject({code: 'E_CONFIG_SYNTAX', exit: 64})
})

it('of twenty thousand profiles each is told at once whether it is the default one', () => {
  const table = Object.fromEntries(
    Array.from({length: 20_000}, (_, at) => [`p${at}`, {deployment_type: at === 7 ? 'cloud' : 'enterprise'}]),
  )
  const profiles = new Profiles(file, {profiles: table}, {})
  // One after the other asked all the others, which took a quarter of an hour.
  expect(profiles.names.filter(it => profiles.isDefault(it))).toEqual(['p7'])
})
