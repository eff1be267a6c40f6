/** `profile set --api-url …`: one option per field of a profile, made from the table of fields. */
import {PROFILE_FIELDS, type ProfileField, type ProfileFieldName} from '../../config/profile-fields.ts'
import {Flags, type Interfaces} from './oclif.ts'

const SUMMARIES: Readonly<Record<Exclude<ProfileFieldName, 'deployment_type'>, string>> = {
  api_key: 'key of the cloud API',
  api_secret: 'secret of the cloud API',
  api_url: 'address of the cloud API',
  url: 'address of the cluster',
  username: 'user name on the cluster',
  password: 'password on the cluster',
  insecure: "do not verify the cluster's certificate",
  ca_file: 'certificates to trust (PEM)',
  files_api_key: 'upload key of this profile',
  rate: 'most requests per minute that svcctl sends',
  burst: 'requests that may be sent at once after a pause',
  reserve: 'requests kept free for people on call',
  poll_interval: 'shortest pause between two looks at the same thing',
  timeout: 'how long one operation may take',
  request_timeout: 'how long one request may take',
  max_response: 'largest answer that is held in memory',
  limits: 'what may run at the same time',
  max_destroy: 'most objects one plan may delete: a number, a percentage such as 30%, or both',
  refuse_risky: 'refuse changes that may lose data',
  on_drift: 'what to do with fields somebody changed outside',
  adopt: 'what is taken over when it is found by name: only what is as declared, or what would be changed too',
  mode: 'read-only refuses every change',
  controls: 'where holds and freezes of the account are: an absolute path, or an address',
  default_subscription: 'subscription used when none is named',
  default_database: 'database used when none is named',
}

const GROUPS = {cloud: 'CLOUD PROFILES', enterprise: 'ENTERPRISE PROFILES'} as const

const flagFor = (name: string, summary: string, field: ProfileField) => {
  const secret = field.secret ? '; - reads standard input' : ''
  const common = {
    summary: `${summary}${secret}${field.choices ? `: ${field.choices.join(' | ')}` : ''}`,
    helpGroup: field.only ? GROUPS[field.only] : 'ANY PROFILE',
  }
  return field.type === 'switch'
    ? Flags.boolean({...common, allowNo: true})
    : Flags.string({...common, helpValue: `<${name.split('_').at(-1)}>`})
}

export const fieldFlags: Interfaces.FlagInput = Object.fromEntries(
  Object.entries(SUMMARIES).map(([name, summary]) => [
    name.replaceAll('_', '-'),
    flagFor(name, summary, PROFILE_FIELDS[name as ProfileFieldName]),
  ]),
)

/** The fields that were given, as text, by their name in the file. */
export function fieldValues(flags: Readonly<Record<string, unknown>>): Record<string, string> {
  const given: Record<string, string> = {}
  for (const name of Object.keys(SUMMARIES)) {
    const value = flags[name.replaceAll('_', '-')]
    if (value !== undefined) given[name] = String(value)
  }
  return given
}
