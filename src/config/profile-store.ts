/** Changes to profiles and to the upload key in the configuration file. What a change means; how it is written is `profile-edit.ts`. */

import type {Deployment} from '../base/apis.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {nearest} from '../base/nearest.ts'
import type {TomlTable} from './config-file.ts'
import type {ConfigPlace} from './config-lock.ts'
import {hasReference} from './expand.ts'
import {type EditableTable, editConfig, tableAt} from './profile-edit.ts'
import {PROFILE_FIELDS, profileField, refusalOfField, SWITCHES} from './profile-fields.ts'
import {KEYRING_PREFIX, UnknownProfileError} from './profiles.ts'

/** A field or a value that this profile cannot have. Never quotes the value. */
export class ProfileFieldError extends AppError {
  constructor(field: string, reason: string) {
    const close = nearest(field, Object.keys(PROFILE_FIELDS))
    super(`${field} ${reason}`, {
      code: 'E_PROFILE_FIELD',
      exit: EXIT.usage,
      suggestions: close === undefined || close === field ? ['See the fields: svcctl profile set --help'] : [`Did you mean ${close}?`],
    })
  }
}

export interface ProfileChange {
  readonly name: string
  readonly deployment?: Deployment | undefined
  /** Text as given, `${VAR}` and `keyring:<name>` included. */
  readonly set: Readonly<Record<string, string>>
  readonly unset: readonly string[]
}

export interface SavedProfile {
  readonly name: string
  readonly deployment: Deployment
  readonly created: boolean
}

/**
 * @param look - at what is to stand there: nothing is written where it throws
 * @throws ProfileFieldError, and what `editConfig` and `look` throw
 */
export const saveProfile = (
  place: ConfigPlace,
  change: ProfileChange,
  look: (root: TomlTable) => unknown = () => {},
): Promise<SavedProfile> =>
  editConfig(place, root => {
    const {file} = place
    const profiles = tableAt(root, 'profiles', file)
    const created = !Object.hasOwn(profiles, change.name)
    const profile = tableAt(profiles, change.name, file)
    const deployment = deploymentAfter(profile, change)
    profile.deployment_type = deployment
    for (const [name, text] of Object.entries(change.set)) profile[name] = valueFor(name, text, deployment)
    for (const name of change.unset) {
      if (name === 'deployment_type') throw new ProfileFieldError(name, 'cannot be unset')
      // A key that svcctl does not know may stand there, and may go.
      if (profileField(name) === undefined && !Object.hasOwn(profile, name)) throw new ProfileFieldError(name, 'is no field of a profile')
      delete profile[name]
    }
    look(root as TomlTable)
    return {name: change.name, deployment, created}
  })

function deploymentAfter(profile: EditableTable, {name, deployment}: ProfileChange): Deployment {
  const before = profile.deployment_type
  if (before !== undefined && deployment !== undefined && before !== deployment) {
    throw new ProfileFieldError(
      'deployment_type',
      `of profile "${name}" is ${JSON.stringify(before)}: remove the profile first, or choose another name`,
    )
  }
  const after = deployment ?? before
  if (after !== 'cloud' && after !== 'enterprise') {
    throw new ProfileFieldError('deployment_type', 'of a new profile is needed: --deployment cloud or --deployment enterprise')
  }
  return after
}

/** The text as TOML has it: numbers and switches bare, everything else a string. A reference cannot be judged before it is expanded. */
function valueFor(name: string, text: string, deployment: Deployment): string | number | boolean {
  const field = profileField(name)
  if (field === undefined) throw new ProfileFieldError(name, 'is no field of a profile')
  if (field.only !== undefined && field.only !== deployment)
    throw new ProfileFieldError(name, `belongs to ${field.only} profiles, and this one is ${deployment}`)
  if (hasReference(text) || text.startsWith(KEYRING_PREFIX)) return text
  const expected = refusalOfField(field, text)
  if (expected !== undefined) throw new ProfileFieldError(name, `must be ${expected}`)
  if (field.type === 'switch') return SWITCHES[text.toLowerCase()] ?? text
  return field.type === 'number' ? Number(text) : text
}

/**
 * Takes the profile out, and the default that names it.
 * @returns the names of keyring entries that only it referred to
 */
export const removeProfile = (place: ConfigPlace, name: string): Promise<readonly string[]> =>
  editConfig(place, root => {
    const profiles = tableAt(root, 'profiles', place.file)
    if (!Object.hasOwn(profiles, name)) throw new UnknownProfileError(name, Object.keys(profiles), 'profile remove')
    const entries = keyringEntriesIn(profiles[name])
    delete profiles[name]
    for (const key of ['default_cloud', 'default_enterprise']) if (root[key] === name) delete root[key]
    const left = keyringEntriesIn(root)
    return entries.filter(entry => !left.includes(entry))
  })

function keyringEntriesIn(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith(KEYRING_PREFIX) ? [value.slice(KEYRING_PREFIX.length)] : []
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(keyringEntriesIn) : []
}

/** @throws UnknownProfileError when it was removed meanwhile */
export const setDefaultProfile = (place: ConfigPlace, name: string, deployment: Deployment): Promise<void> =>
  editConfig(place, root => {
    existingProfile(root, name, place.file, 'profile default')
    root[`default_${deployment}`] = name
  })

/** @param profile - whose key; the global one without */
export const saveFilesKey = (place: ConfigPlace, key: string, profile?: string): Promise<void> =>
  editConfig(place, root => {
    filesKeyTable(root, place.file, profile).files_api_key = key
  })

/**
 * @param only - leave a key alone that is not this one
 * @returns whether there was one
 */
export const removeFilesKey = (place: ConfigPlace, {profile, only}: {readonly profile?: string | undefined; readonly only?: string}) =>
  editConfig(place, (root): boolean => {
    const table = filesKeyTable(root, place.file, profile)
    const there = Object.hasOwn(table, 'files_api_key') && (only === undefined || table.files_api_key === only)
    if (there) delete table.files_api_key
    return there
  })

const filesKeyTable = (root: EditableTable, file: string, profile: string | undefined): EditableTable =>
  profile === undefined ? root : existingProfile(root, profile, file, '--profile')

function existingProfile(root: EditableTable, name: string, file: string, askedBy: string): EditableTable {
  const profiles = tableAt(root, 'profiles', file)
  if (!Object.hasOwn(profiles, name)) throw new UnknownProfileError(name, Object.keys(profiles), askedBy)
  return tableAt(profiles, name, file)
}
