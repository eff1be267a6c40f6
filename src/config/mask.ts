import {KEYRING_PREFIX} from './profiles.ts'

/** A secret as a person may see it, to tell it from another one. */

/** Never more than the last four characters, and of a short secret none: `****************wxyz`. */
export function mask(secret: string): string {
  const shown = secret.length >= 12 ? secret.slice(-4) : ''
  return '*'.repeat(8) + shown
}

/**
 * A value of the configuration file as it may be shown: a reference (`${VAR}`, `keyring:name`) is no secret, the
 * default inside one is.
 */
export function maskRaw(raw: string): string {
  if (/^\$\{[A-Za-z_]\w*\}$/.test(raw) || raw.startsWith(KEYRING_PREFIX)) return raw
  const withDefault = /^\$\{([A-Za-z_]\w*):-(.*)\}$/.exec(raw)
  return withDefault ? `\${${withDefault[1]}:-${mask(withDefault[2] ?? '')}}` : mask(raw)
}
