import {describe, expect, it} from 'vitest'
import {removeFilesKey, removeProfile, saveFilesKey, saveProfile} from '../../src/config/profile-store.ts'
import {processorTime} from '../support/processor-time.ts'
import {editedFile} from './edit-place.ts'

const {place, edited} = editedFile('toml-edit-')

describe('what is removed from the configuration file', () => {
  it('takes the comments inside it along, and none of the others', async () => {
    const before = `# all of ours
default_cloud = "b" # since May

# A is for tests
[profiles.a] # the first
deployment_type = "cloud"
# ask ops for a new one
api_key = "k"

# B is for everybody
[profiles.b] # the second
deployment_type = "cloud"
# the end
`
    expect(await edited(before, () => removeProfile(place(), 'a'))).toBe(`# all of ours
default_cloud = "b" # since May

# A is for tests

# B is for everybody
[profiles.b] # the second
deployment_type = "cloud"
# the end
`)
  })

  it('is one line where it is a field of a profile, also between comments', async () => {
    const before = '[profiles.a]\n# type\ndeployment_type = "cloud"\n# key\napi_key = "k" # old\n# rate\nrate = 60\n'
    const after = await edited(before, () => saveProfile(place(), {name: 'a', set: {}, unset: ['api_key']}))
    expect(after).toBe(before.replace('api_key = "k" # old\n', ''))
  })

  it('is one line where it is a key of the file, also the first', async () => {
    const before = 'files_api_key = "f"\n# about a\n[profiles.a]\ndeployment_type = "cloud" # c\n'
    expect(await edited(before, () => removeFilesKey(place(), {}))).toBe(before.replace('files_api_key = "f"\n', ''))
  })

  it('goes with its own tables, wherever they stand, and with the default that names it', async () => {
    const others = '# own\n[other] # o\ny = """\n[profiles.a]\n# no "comment""""\n'
    const before = `default_cloud = "a" # d\n[profiles.a.extra] # e\nx = 1\n${others}[profiles.a] # late\ndeployment_type = "cloud"\n`
    expect(await edited(before, () => removeProfile(place(), 'a'))).toBe(others)
  })

  it('may be written inline', async () => {
    const before = 'profiles = {a = {deployment_type = "cloud"}, b = {deployment_type = "cloud", x = "}"}} # all\n'
    expect(await edited(before, () => removeProfile(place(), 'a'))).toBe('profiles = {b = {deployment_type = "cloud", x = "}"}} # all\n')
    expect(await edited(before, () => removeProfile(place(), 'b'))).toBe('profiles = {a = {deployment_type = "cloud"}} # all\n')
  })

  it('may be written inline over several lines, with comments', async () => {
    const line = (name: string) => `  # about ${name}\n  ${name} = {deployment_type = "cloud"}`
    expect(await edited(`profiles = {\n${line('a')}, # A\n${line('b')} # B\n}\n`, () => removeProfile(place(), 'b'))).toBe(
      `profiles = {\n${line('a')}, # A\n  # about b\n}\n`,
    )
    expect(await edited(`profiles = {\n${line('a')}, # A\n${line('b')} # B\n}\n`, () => removeProfile(place(), 'a'))).toBe(
      `profiles = {\n  # about a\n${line('b')} # B\n}\n`,
    )
  })

  it('may be written with dots', async () => {
    const before = 'profiles.a.deployment_type = "cloud" # a\nprofiles."b".deployment_type = "cloud" # b\n'
    expect(await edited(before, () => removeProfile(place(), 'b'))).toBe('profiles.a.deployment_type = "cloud" # a\n')
  })
})

it('an edit of a file of blanks or comments takes no longer than any: one of 500 kB of blanks took minutes', async () => {
  const takenMs = processorTime()
  const add = () => saveProfile(place(), {name: 'b', deployment: 'cloud', set: {}, unset: []})
  const b = '[profiles.b]\ndeployment_type = "cloud"\n'
  const a = '[profiles.a]\ndeployment_type = "cloud"\n'
  const [blanks, lines, comments] = [' '.repeat(400_000), '\n'.repeat(200_000), '#\n'.repeat(200_000)]
  expect(await edited(`${blanks}${a}`, add)).toBe(`${blanks}${a}\n${b}`)
  expect(await edited(`x = 1${lines}y = 1\n${lines}${b}`, () => removeProfile(place(), 'b'))).toBe(`x = 1${lines}y = 1\n`)
  expect(await edited(`${a}${lines}${b}${lines}[z]\n`, () => removeProfile(place(), 'b'))).toBe(`${a}${lines}[z]\n`)
  expect(await edited(`${comments}\n${comments.slice(0, 10)}${a}`, () => saveFilesKey(place(), 'k'))).toBe(
    `${comments}\nfiles_api_key = "k"\n\n${comments.slice(0, 10)}${a}`,
  )
  expect(takenMs()).toBeLessThan(10_000)
})

describe('a field that is added to a profile', () => {
  const set = () => saveProfile(place(), {name: 'a', set: {api_key: 'k'}, unset: []})

  it('stands below the last of its fields, with their indentation', async () => {
    expect(await edited('[profiles.a]\n  deployment_type = "cloud" # c\n\n# next\n[other]\n', set)).toBe(
      '[profiles.a]\n  deployment_type = "cloud" # c\n  api_key = "k"\n\n# next\n[other]\n',
    )
  })

  it('is written with dots where the others are', async () => {
    expect(await edited('[profiles]\na.deployment_type = "cloud" # a\nx.y = 1\n[other]\n', set)).toBe(
      '[profiles]\na.deployment_type = "cloud" # a\na.api_key = "k"\nx.y = 1\n[other]\n',
    )
    expect(await edited('profiles = {a.deployment_type = "cloud", b.x = 1}\n', set)).toBe(
      'profiles = {a.deployment_type = "cloud", a.api_key = "k", b.x = 1}\n',
    )
  })
})
