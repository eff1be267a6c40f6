/** A profile as it may be shown: values as they stand in the file, secrets masked. */
import type {JsonObject} from '../base/json.ts'
import {maskRaw} from '../config/mask.ts'
import {profileField} from '../config/profile-fields.ts'
import type {Profiles} from '../config/profiles.ts'

/** @throws UnknownProfileError, ProfileValueError */
export function profileView(profiles: Profiles, name: string): JsonObject {
  const profile = profiles.get(name, 'profile show')
  const fields = profile.fields
    .filter(field => field !== 'deployment_type')
    .map(field => {
      const raw = profile.raw(field) ?? ''
      const known = profileField(field)
      // What nobody knows may be a secret too.
      return [field, known !== undefined && !known.secret ? raw : maskRaw(raw)]
    })
  return {name, deployment_type: profile.deployment, default: profiles.isDefault(name), ...Object.fromEntries(fields)}
}

export function viewText(view: JsonObject): string {
  const width = Math.max(...Object.keys(view).map(key => key.length))
  return Object.entries(view)
    .map(([key, value]) => `${key.padEnd(width)}  ${typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)}`)
    .join('\n')
}
