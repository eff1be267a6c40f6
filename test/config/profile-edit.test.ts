import {readFileSync, writeFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {removeProfile, saveFilesKey, saveProfile, setDefaultProfile} from '../../src/config/profile-store.ts'
import {editedFile} from './edit-place.ts'

const {place, edited} = editedFile('profile-edit-')
const add = (name: string) => saveProfile(place(), {name, deployment: 'cloud', set: {api_key: 'k'}, unset: []})
const BLOCK = '[profiles.new]\ndeployment_type = "cloud"\napi_key = "k"\n'

describe('a new profile', () => {
  it('stands at the end of the file, as a table of its own', async () => {
    const before = '# top\n\n[profiles.a] # first\ndeployment_type = "cloud"\n# the end\n'
    expect(await edited(before, () => add('new'))).toBe(`${before}\n${BLOCK}`)
  })

  it('follows a file without an end of line', async () => {
    expect(await edited('[profiles.a]\ndeployment_type = "cloud"', () => add('new'))).toBe(
      `[profiles.a]\ndeployment_type = "cloud"\n\n${BLOCK}`,
    )
  })

  it('goes into a file that has keys and no profiles yet', async () => {
    expect(await edited('files_api_key = "f" # upload\n', () => add('new'))).toBe(`files_api_key = "f" # upload\n\n${BLOCK}`)
  })

  it('keeps the line ends of a file from Windows', async () => {
    const before = '[profiles.a]\r\ndeployment_type = "cloud"\r\n'
    expect(await edited(before, () => add('new'))).toBe(`${before}\r\n${BLOCK.replaceAll('\n', '\r\n')}`)
  })

  it('joins the others where they are written inline', async () => {
    expect(await edited('profiles = {a = {deployment_type = "cloud"}} # all\n', () => add('new'))).toBe(
      'profiles = {a = {deployment_type = "cloud"}, new = {deployment_type = "cloud", api_key = "k"}} # all\n',
    )
  })

  it('may have any name', async () => {
    expect(await edited('', () => add('a "b".c'))).toBe('[profiles."a \\"b\\".c"]\ndeployment_type = "cloud"\napi_key = "k"\n')
  })

  it('keeps a secret with quotes, backslashes and control characters exactly', async () => {
    const secret = 'a"b\\c\td\u0001é'
    const save = () => saveProfile(place(), {name: 'p', deployment: 'enterprise', set: {password: secret}, unset: []})
    const {parse} = await import('smol-toml')
    expect(parse(await edited('', save))).toEqual({profiles: {p: {deployment_type: 'enterprise', password: secret}}})
  })
})

describe('an edit', () => {
  it('leaves numbers, dates and arrays of unknown tables as they are written', async () => {
    const before =
      'when = 1979-05-27T07:32:00Z\nbig = 0xdead_beef\nlist = [ 1,2 ,3 ] # odd\n\n[other]\nx = 1e3\n\n[profiles.a]\ndeployment_type = "cloud"\nrate = 1_00\n'
    expect(await edited(before, () => saveProfile(place(), {name: 'a', set: {api_key: 'k'}, unset: []}))).toBe(`${before}api_key = "k"\n`)
  })

  it('sets a default above the tables', async () => {
    const before = '# top\n\n[profiles.a]\ndeployment_type = "cloud"\n'
    const text = await edited(before, () => setDefaultProfile(place(), 'a', 'cloud'))
    expect(text).toContain('# top\n')
    expect(text.indexOf('default_cloud = "a"')).toBeLessThan(text.indexOf('[profiles.a]'))
  })

  it('that removes the last profile leaves the other keys', async () => {
    const text = await edited('files_api_key = "f"\n\n[profiles.a]\ndeployment_type = "cloud"\n', () => removeProfile(place(), 'a'))
    expect(text.trim()).toBe('files_api_key = "f"')
  })

  it('of a file that is not UTF-8 is refused and leaves it untouched', async () => {
    const before = Buffer.from('# caf\xe9\n[profiles.a]\ndeployment_type = "cloud"\n', 'latin1')
    writeFileSync(place().file, before)
    await expect(add('new')).rejects.toMatchObject({code: 'E_CONFIG_SYNTAX', line: 1, column: 6})
    expect(readFileSync(place().file)).toEqual(before)
  })

  it('keeps the byte order mark', async () => {
    expect(await edited('\uFEFFfiles_api_key = "f"\n', () => saveFilesKey(place(), 'g'))).toBe('\uFEFFfiles_api_key = "g"\n')
  })

  it('of a file that is no TOML is refused and leaves it untouched', async () => {
    await expect(edited('[profiles.a\n', () => add('new'))).rejects.toMatchObject({code: 'E_CONFIG_SYNTAX', line: 1})
    expect(readFileSync(place().file, 'utf8')).toBe('[profiles.a\n')
  })
})
