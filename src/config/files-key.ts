/** The upload key: where it may stand, in the order in which it is looked for (contract section 5, "Upload key resolution"). */
import type {AppError} from '../base/errors.ts'
import type {Environment} from './environment.ts'
import {dereference, type Keyring, KeyringUnavailableError} from './keyring.ts'
import {KEYRING_PREFIX, type Profile, type Profiles} from './profiles.ts'

export type FilesKeySource =
  | 'environment SVC_ENTERPRISE_FILES_API_KEY'
  | `profile ${string}`
  | 'global config'
  | 'keyring'
  | 'environment SVC_FILES_API_KEY'

export interface FilesKey {
  readonly key: string
  readonly source: FilesKeySource
}

/** The keyring entry that `files-key set --use-keyring` writes. */
export const FILES_KEY_ENTRY = 'files-api-key'

export interface FilesKeyLookup {
  readonly found?: FilesKey
  /** Nothing refers to the keyring, so that it need not work; but if it had, the key might have been there. */
  readonly keyringFailure?: AppError
}

/**
 * @param profile - the active one: `--profile`, `SVC_PROFILE`, or a default one that has a key
 * @throws KeyringUnavailableError, KeyringEntryMissingError when the configuration refers to the keyring
 */
export async function resolveFilesKey(
  environment: Environment,
  profiles: Profiles,
  profile: Profile | undefined,
  keyring: Keyring,
): Promise<FilesKeyLookup> {
  const {first, last} = environment.files
  if (first) return {found: {key: first.value, source: 'environment SVC_ENTERPRISE_FILES_API_KEY'}}
  const own = profile?.value('files_api_key')
  if (profile !== undefined && own !== undefined) {
    return {found: {key: await dereference(own, `profiles.${profile.name}.files_api_key`, keyring), source: `profile ${profile.name}`}}
  }
  const global = profiles.globalFilesKey()
  if (global !== undefined) {
    const source = global.startsWith(KEYRING_PREFIX) ? 'keyring' : 'global config'
    return {found: {key: await dereference(global, 'files_api_key', keyring), source}}
  }
  let keyringFailure: AppError | undefined
  try {
    const kept = await keyring.get(FILES_KEY_ENTRY)
    if (kept !== undefined) return {found: {key: kept, source: 'keyring'}}
  } catch (error) {
    if (!(error instanceof KeyringUnavailableError)) throw error
    keyringFailure = error
  }
  return {
    ...(last === undefined ? {} : {found: {key: last.value, source: 'environment SVC_FILES_API_KEY'}}),
    ...(keyringFailure === undefined ? {} : {keyringFailure}),
  }
}

/**
 * The profile whose upload key counts: where none is named, the default ones, that of the enterprise type first, since a
 * cluster is what packages come from.
 *
 * @throws UnknownProfileError
 */
export function activeFilesProfile(environment: Environment, profiles: Profiles, wanted?: string): Profile | undefined {
  if (wanted !== undefined) return profiles.get(wanted, '--profile')
  if (environment.profile !== undefined) return profiles.get(environment.profile, 'SVC_PROFILE')
  const defaults = (['enterprise', 'cloud'] as const).flatMap(type => {
    const name = profiles.defaultFor(type)
    return name === undefined ? [] : [profiles.get(name, `default_${type} in ${profiles.file}`)]
  })
  return defaults.find(it => it.value('files_api_key') !== undefined)
}
