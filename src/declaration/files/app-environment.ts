/**
 * What the app of cdktf.json gets of the environment: a list of what a program needs to run, and what somebody named.
 * The app is code of whoever opened a pull request, and what is not on the list may be a credential of anything.
 */

import {globPattern} from '../../base/glob.ts'
import type {ProcessVariables} from '../../base/process-variables.ts'
import {isPrivateKey, secretsInAddress, secretsInText} from '../../base/secret-fields.ts'

/** Where programs are found, who runs them, how they speak; on Windows, what no program starts without. */
const NEEDED = new Set(
  `PATH HOME USER LOGNAME SHELL PWD LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR CI TMPDIR TMP TEMP LD_LIBRARY_PATH
  SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES USERPROFILE USERNAME`.split(/\s+/),
)
const NEEDED_PREFIX = /^(?:LC_|NODE_|CDKTF_)/
/** `NODE_AUTH_TOKEN` is a credential of a package registry; a proxy's stands in its address. */
const CREDENTIAL = /TOKEN|SECRET|PASS|CREDENTIAL|AUTH|PROXY|PWD|JWT|BEARER|COOKIE|SIGNATURE|(?:^|_)(?:KEY|PAT|PW|PIN|PEM|SAS|DSN)S?(?:_|$)/i
/** What only the person or the job may hand on, and no file that a pull request changes. */
const OURS = /^(?:SVC_|TF_)/i

/** A name and a password before the `@` of an address, also where no URL has them so; a number before a slash is a port. */
const IN_ADDRESS = /:\/\/[^\s/@]*:(?!\d{1,5}\/)[^\s@]*@/

/** Whether a value is a credential, or has one in it, whatever its name is. */
const holdsCredential = (value: string): boolean =>
  IN_ADDRESS.test(value) ||
  isPrivateKey(value) ||
  secretsInText(value).length > 0 ||
  (/^https?:/i.test(value) && secretsInAddress(value).length > 0)

/** Whether a file of the project may ask for it: a pull request can change the file, and so it must not reach a credential. */
export const mayBeNamedInProject = (name: string, value = ''): boolean =>
  NEEDED.has(name) || (!OURS.test(name) && !CREDENTIAL.test(name) && !holdsCredential(value))

/**
 * @param named - names and globs, of `--synth-env` and of cdktf.json
 * @returns what the app gets
 */
export function appVariables(environment: ProcessVariables, named: readonly string[]): Record<string, string> {
  const patterns = named.map(globPattern)
  const isPassed = (name: string): boolean =>
    NEEDED.has(process.platform === 'win32' ? name.toUpperCase() : name) || patterns.some(pattern => pattern.test(name))
  const isHarmless = (name: string, value: string): boolean => NEEDED_PREFIX.test(name) && mayBeNamedInProject(name, value)
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && (isPassed(name) || isHarmless(name, value)) ? [[name, value] as const] : [],
    ),
  )
}
