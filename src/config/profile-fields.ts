/** What may stand in a profile, as data: `profile set`, `show`, `validate` and the connection all read this table. */

import {isAbsolute} from 'node:path'
import type {Deployment} from '../base/apis.ts'
import {DEPLOYMENTS} from '../base/apis.ts'
import {parseDuration} from '../base/duration.ts'
import {parseSizeBytes} from '../base/units.ts'

type FieldType = 'text' | 'number' | 'switch' | 'duration'

export interface ProfileField {
  readonly type: FieldType
  /** Only profiles of this deployment type have it. */
  readonly only?: Deployment
  /** Masked whenever it is shown; may be `keyring:<name>`. */
  readonly secret?: true
  /** Sent as a header, as it is. */
  readonly inHeader?: true
  readonly choices?: readonly string[]
  /** Names what is wrong with a value of the right type; `undefined` when nothing is. */
  readonly refuse?: (value: string) => string | undefined
}

const positive = (value: string): string | undefined => (Number(value) > 0 ? undefined : 'a number above zero')
function webAddress(value: string): string | undefined {
  if (!URL.canParse(value) || !/^https?:\/\//i.test(value)) return 'an address that begins with https:// (or http://)'
  const {username, password, search, hash} = new URL(value)
  // An address is shown wherever it is used, and no connection takes one with credentials in it.
  return `${username}${password}${search}${hash}` === '' ? undefined : 'an address without a user name, password, query or fragment'
}

/** The same place wherever a command is run. */
const controlsPlace = (value: string): string | undefined =>
  isAbsolute(value) || (/^https?:/i.test(value) && webAddress(value) === undefined)
    ? undefined
    : 'an absolute path, or an address without a user name, password, query or fragment'

export const A_SIZE = 'a size above zero such as 64MiB'

/** Bytes, or `undefined` when it is no size above zero. */
export function sizeIn(text: string): number | undefined {
  try {
    return parseSizeBytes(text) || undefined
  } catch {
    return undefined
  }
}

export const PROFILE_FIELDS = {
  deployment_type: {type: 'text', choices: DEPLOYMENTS},
  api_key: {type: 'text', only: 'cloud', secret: true, inHeader: true},
  api_secret: {type: 'text', only: 'cloud', secret: true, inHeader: true},
  api_url: {type: 'text', only: 'cloud', refuse: webAddress},
  url: {type: 'text', only: 'enterprise', refuse: webAddress},
  username: {type: 'text', only: 'enterprise'},
  password: {type: 'text', only: 'enterprise', secret: true},
  insecure: {type: 'switch', only: 'enterprise'},
  ca_file: {type: 'text'},
  files_api_key: {type: 'text', secret: true, inHeader: true},
  rate: {type: 'number', refuse: positive},
  burst: {type: 'number', refuse: positive},
  reserve: {type: 'number'},
  poll_interval: {type: 'duration'},
  timeout: {type: 'duration'},
  request_timeout: {type: 'duration'},
  max_response: {type: 'text', refuse: value => (sizeIn(value) === undefined ? A_SIZE : undefined)},
  limits: {type: 'text', choices: ['none', 'conservative']},
  max_destroy: {
    type: 'text',
    refuse: value => (/^\d+%?(, *\d+%?)?$/.test(value) ? undefined : 'a number, a percentage such as 30%, or both, such as 5,30%'),
  },
  refuse_risky: {type: 'switch'},
  on_drift: {type: 'text', choices: ['overwrite', 'refuse', 'keep']},
  adopt: {type: 'text', choices: ['equal', 'changes']},
  mode: {type: 'text', choices: ['read-write', 'read-only']},
  controls: {type: 'text', refuse: controlsPlace},
  default_subscription: {type: 'text'},
  default_database: {type: 'text'},
} as const satisfies Record<string, ProfileField>

export type ProfileFieldName = keyof typeof PROFILE_FIELDS

export const profileField = (name: string): ProfileField | undefined =>
  Object.hasOwn(PROFILE_FIELDS, name) ? PROFILE_FIELDS[name as ProfileFieldName] : undefined

export const SWITCHES: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  on: true,
  false: false,
  '0': false,
  no: false,
  off: false,
}

/**
 * What is wrong with an (expanded) value of this field, in words that follow "must be".
 * @returns `undefined` when it is fine
 */
export function refusalOfField(field: ProfileField, value: string): string | undefined {
  if (field.choices && !field.choices.includes(value)) return field.choices.map(choice => JSON.stringify(choice)).join(' or ')
  if (field.type === 'number' && !(value.trim() !== '' && Number(value) >= 0)) return 'a number that is not negative'
  if (field.type === 'switch' && SWITCHES[value.toLowerCase()] === undefined) return 'true or false'
  if (field.type === 'duration') {
    try {
      if (parseDuration(value) === 0) return 'a length of time above zero'
    } catch {
      return 'a length of time such as 200ms, 5s or 30m'
    }
  }
  return field.refuse?.(value)
}
