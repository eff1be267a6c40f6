/** The upload key: where it may stand, in the order in which it is looked for (contract section 5, "Upload key resolution"). */
import type {Environment} from './environment.ts'
import {dereference, type Keyring} from './keyring.ts'
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

/**
 * @param profile - the active one: `--profile`, `SVC_PROFILE`, or the default of the enterprise type
 * @returns `undefined` when it stands nowhere
 * @throws KeyringUnavailableError, KeyringEntryMissingError when the configuration refers to the keyring. A machine
 * without a keyring to which nothing refers is no error: the keyring then simply does not have the key.
 */
export async function resolveFilesKey(
  environment: Environment,
  profiles: Profiles,
  profile: Profile | undefined,
  keyring: Keyring,
): Promise<FilesKey | undefined> {
  if (environment.files.first) return {key: environment.files.first.value, source: 'environment SVC_ENTERPRISE_FILES_API_KEY'}
  const own = profile?.value('files_api_key')
  if (profile !== undefined && own !== undefined) {
    return {key: await dereference(own, `profiles.${profile.name}.files_api_key`, keyring), source: `profile ${profile.name}`}
  }
  const global = profiles.globalFilesKey()
  if (global !== undefined) {
    const source = global.startsWith(KEYRING_PREFIX) ? 'keyring' : 'global config'
    return {key: await dereference(global, 'files_api_key', keyring), source}
  }
  const kept = await keyring.get(FILES_KEY_ENTRY).catch(() => undefined)
  if (kept !== undefined) return {key: kept, source: 'keyring'}
  return environment.files.last && {key: environment.files.last.value, source: 'environment SVC_FILES_API_KEY'}
}
