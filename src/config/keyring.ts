/**
 * The operating system's store for secrets: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows.
 * The native module is loaded when it is needed and not before; it is optional, and its absence is said, never worked around.
 */
import {AppError} from '../base/errors.ts'
import {KEYRING_PREFIX} from './profiles.ts'
import {silenceOfBus} from './session-bus.ts'

/** Entries are found under this name in the system's own tools. */
export const KEYRING_SERVICE = 'svcctl'

export interface Keyring {
  /** @returns `undefined` when there is no such entry */
  get(name: string): Promise<string | undefined>
  set(name: string, secret: string): Promise<void>
  /** @returns whether there was one */
  remove(name: string): Promise<boolean>
}

/** No keyring on this machine, or it is locked, or the native module is not installed. */
export class KeyringUnavailableError extends AppError {
  constructor(doing: string, cause: unknown) {
    super(`the system's keyring cannot be used to ${doing}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      code: 'E_KEYRING_UNAVAILABLE',
      suggestions: [
        'Unlock the keyring, or start one (on Linux a Secret Service such as gnome-keyring, with a D-Bus session).',
        'Or keep the value in an environment variable, and refer to it from the configuration file as ${VAR}.',
      ],
      cause,
    })
  }
}

/** The configuration refers to an entry that the keyring does not have. */
export class KeyringEntryMissingError extends AppError {
  constructor(name: string, key: string) {
    super(`${key} refers to "${name}" in the system's keyring, and there is no such entry`, {
      code: 'E_KEYRING_MISSING',
      suggestions: ['Store it again with --use-keyring (svcctl profile set, svcctl files-key set).'],
    })
  }
}

export const systemKeyring: Keyring = {
  get: name => using(`read "${name}"`, async entry => (await entry.getPassword()) ?? undefined, name),
  set: (name, secret) => using(`store "${name}"`, entry => entry.setPassword(secret), name),
  remove: name => using(`remove "${name}"`, entry => entry.deleteCredential(), name),
}

async function using<T>(doing: string, use: (entry: import('@napi-rs/keyring').AsyncEntry) => Promise<T>, name: string): Promise<T> {
  const silence = await silenceOfBus()
  if (silence !== undefined) throw new KeyringUnavailableError(doing, silence)
  try {
    const {AsyncEntry} = await import('@napi-rs/keyring')
    // Without the pin Linux falls back to the kernel's keyring, which forgets everything at the next start.
    return await use(new AsyncEntry(KEYRING_SERVICE, name, {linux: {store: 'secret-service'}}))
  } catch (error) {
    throw new KeyringUnavailableError(doing, error)
  }
}

/**
 * The value itself, or what the keyring holds under the name after `keyring:`.
 * @throws KeyringUnavailableError, KeyringEntryMissingError
 */
export async function dereference(value: string, key: string, keyring: Keyring): Promise<string> {
  if (!value.startsWith(KEYRING_PREFIX)) return value
  const name = value.slice(KEYRING_PREFIX.length)
  const secret = await keyring.get(name)
  if (secret === undefined) throw new KeyringEntryMissingError(name, key)
  return secret
}
