/** A profile as it may be shown: values as they stand in the file, secrets masked. */
import type {Json, JsonObject} from '../../base/json.ts'
import {largest} from '../../base/many.ts'
import {maskRaw} from '../../config/mask.ts'
import {type ProfileField, profileField, SWITCHES} from '../../config/profile-fields.ts'
import type {Profiles} from '../../config/profiles.ts'

/** @throws UnknownProfileError, ProfileValueError */
export function profileView(profiles: Profiles, name: string): JsonObject {
  const profile = profiles.get(name, 'profile show')
  const fields = profile.fields
    .filter(field => field !== 'deployment_type')
    .map(field => {
      const raw = profile.raw(field) ?? ''
      const known = profileField(field)
      // What nobody knows may be a secret too.
      return [field, known !== undefined && !known.secret ? typed(known, raw) : maskRaw(raw)]
    })
  return {name, deployment_type: profile.deployment, default: profiles.isDefault(name), ...Object.fromEntries(fields)}
}

/** A number or a switch as such, also where the file has it in quotes; text that is still to be expanded stays text. */
function typed({type}: ProfileField, raw: string): Json {
  if (type === 'switch') return SWITCHES[raw.toLowerCase()] ?? raw
  if (type === 'text') return isAddress(raw) ? shownAddress(raw) : raw
  return type === 'number' && raw.trim() !== '' && Number.isFinite(Number(raw)) ? Number(raw) : raw
}

/** However it is written: with a variable in it or before it, or so that no connection would take it (no scheme, a blank before it). */
const isAddress = (raw: string): boolean => raw.includes('//') || (raw.includes(':') && raw.indexOf(':') < raw.lastIndexOf('@'))

/** No address shows who signs in, nor what a query may hold, which no connection takes. */
function shownAddress(raw: string): string {
  const [scheme = ''] = /^[^/@?#]*\/\//.exec(raw) ?? []
  const at = raw.lastIndexOf('@')
  const end = raw.search(/[?#]./)
  // A sign in a password, or an @ in a query: nobody can tell where either ends.
  if (at >= 0 && end >= 0 && end < at) return `${scheme}********`
  const shownFrom = (from: number) => (end < 0 ? raw.slice(from) : `${raw.slice(from, end + 1)}********`)
  return at < 0 ? shownFrom(0) : `${scheme}********${shownFrom(at)}`
}

export function viewText(view: JsonObject): string {
  const width = largest(Object.keys(view).map(key => key.length))
  return Object.entries(view)
    .map(([key, value]) => `${key.padEnd(width)}  ${typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)}`)
    .join('\n')
}
