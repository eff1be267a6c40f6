import {describe, expect, it} from 'vitest'
import {parseConfigText} from '../../src/config/config-file.ts'
import {readEnvironment} from '../../src/config/environment.ts'
import {activeFilesProfile, resolveFilesKey} from '../../src/config/files-key.ts'
import {type Keyring, KeyringUnavailableError} from '../../src/config/keyring.ts'
import {Profiles} from '../../src/config/profiles.ts'

const holding = (entries: Record<string, string>): Keyring => ({
  get: async name => entries[name],
  set: async () => undefined,
  remove: async () => false,
})
const locked: Keyring = {
  ...holding({}),
  get: async () => {
    throw new KeyringUnavailableError('read', new Error('locked'))
  },
}
const PROFILE = '[profiles.lab]\ndeployment_type = "enterprise"\nfiles_api_key = "of-profile"\n'
const CLOUD = '[profiles.main]\ndeployment_type = "cloud"\nfiles_api_key = "of-cloud"\n'
const FIRST = {SVC_ENTERPRISE_FILES_API_KEY: 'first'}
const LAST = {SVC_FILES_API_KEY: 'last'}

const resolve = (env: Record<string, string>, toml: string, keyring: Keyring) => {
  const environment = readEnvironment(env)
  const profiles = new Profiles('config.toml', parseConfigText(toml, 'config.toml'), env)
  return resolveFilesKey(environment, profiles, activeFilesProfile(environment, profiles), keyring)
}

describe('the upload key', () => {
  const kept = holding({'files-api-key': 'kept'})

  it.each([
    [{...FIRST, ...LAST}, `files_api_key = "global"\n${PROFILE}`, {key: 'first', source: 'environment SVC_ENTERPRISE_FILES_API_KEY'}],
    [LAST, `files_api_key = "global"\n${PROFILE}`, {key: 'of-profile', source: 'profile lab'}],
    [LAST, `files_api_key = "global"\n${CLOUD}`, {key: 'of-cloud', source: 'profile main'}],
    [LAST, `${CLOUD}${PROFILE}`, {key: 'of-profile', source: 'profile lab'}],
    [LAST, `${CLOUD}[profiles.lab]\ndeployment_type = "enterprise"\n`, {key: 'of-cloud', source: 'profile main'}],
    [LAST, 'files_api_key = "global"\n', {key: 'global', source: 'global config'}],
    [LAST, '', {key: 'kept', source: 'keyring'}],
    [LAST, 'files_api_key = "keyring:files-api-key"\n', {key: 'kept', source: 'keyring'}],
  ])('is looked for in the order of the contract (%#)', async (env, toml, found) => {
    expect(await resolve(env, toml, kept)).toEqual({found})
  })

  it('comes from SVC_FILES_API_KEY when nothing else has it', async () => {
    expect(await resolve(LAST, '', holding({}))).toEqual({found: {key: 'last', source: 'environment SVC_FILES_API_KEY'}})
  })

  it('is an error when the configuration refers to a keyring that is locked', async () => {
    await expect(resolve(LAST, 'files_api_key = "keyring:files-api-key"\n', locked)).rejects.toMatchObject({code: 'E_KEYRING_UNAVAILABLE'})
  })

  it('tells of a locked keyring to which nothing refers, and goes on', async () => {
    expect(await resolve(LAST, '', locked)).toMatchObject({found: {key: 'last'}, keyringFailure: {code: 'E_KEYRING_UNAVAILABLE'}})
  })
})
