/**
 * Where each field of a connection may come from, and which source wins: for every option that also has a variable or a
 * field in the profile, one row. `connection-sources.ts` applies it and nothing else decides.
 *
 * Two things have an order of their own: the profile itself (`choose-profile.ts`) and the upload key (`files-key.ts`).
 */
import type {Api} from '../base/apis.ts'
import type {ProfileFieldName} from './profile-fields.ts'

/**
 * - `option`: option, environment, profile, as in gh, kubectl, aws and terraform
 * - `environment`: environment, profile, option: credentials, by the contract (section 5, "Client credential sources")
 */
export type FirstSource = 'option' | 'environment'

export interface OptionRow {
  readonly first: FirstSource
  readonly option?: `--${string}`
  /** The first that is set counts. */
  readonly variables?: readonly string[] | Readonly<Record<Api, readonly string[]>>
}

export const OPTION_TABLE = {
  api_url: {first: 'environment', option: '--api-url', variables: ['SVC_CLOUD_API_URL']},
  api_key: {first: 'environment', option: '--api-key', variables: ['SVC_CLOUD_API_KEY']},
  api_secret: {first: 'environment', option: '--api-secret', variables: ['SVC_CLOUD_SECRET_KEY', 'SVC_CLOUD_API_SECRET']},
  url: {first: 'environment', option: '--url', variables: ['SVC_ENTERPRISE_URL']},
  username: {first: 'environment', option: '--username', variables: ['SVC_ENTERPRISE_USER']},
  password: {first: 'environment', option: '--password', variables: ['SVC_ENTERPRISE_PASSWORD']},
  insecure: {first: 'environment', option: '--insecure', variables: ['SVC_ENTERPRISE_INSECURE']},
  ca_file: {
    first: 'option',
    option: '--ca-file',
    variables: {cloud: ['SVC_CA_FILE'], cluster: ['SVC_ENTERPRISE_CA_FILE', 'SVC_CA_FILE']},
  },
  default_subscription: {first: 'option', option: '--subscription', variables: ['SVC_SUBSCRIPTION_ID']},
  default_database: {first: 'option', option: '--database'},
  rate: {first: 'option', option: '--rate'},
  burst: {first: 'option', option: '--burst'},
  reserve: {first: 'option', option: '--reserve'},
  poll_interval: {first: 'option', option: '--poll-interval'},
  timeout: {first: 'option', option: '--timeout'},
  request_timeout: {first: 'option', option: '--request-timeout'},
  max_response: {first: 'option', option: '--max-response', variables: ['SVC_MAX_RESPONSE']},
  max_destroy: {first: 'option', option: '--max-destroy'},
  refuse_risky: {first: 'option', option: '--refuse-risky'},
  on_drift: {first: 'option', option: '--on-drift'},
  adopt: {first: 'option'},
  limits: {first: 'option'},
  mode: {first: 'option'},
  controls: {first: 'option'},
} as const satisfies Partial<Record<ProfileFieldName, OptionRow>>

export type SourcedField = keyof typeof OPTION_TABLE

export const optionRow = (field: SourcedField): OptionRow => OPTION_TABLE[field]

export function variablesOf(field: SourcedField, api: Api): readonly string[] {
  const {variables = []} = optionRow(field)
  return 'cloud' in variables ? variables[api] : variables
}

/** Fields whose variables are credentials: they say who one is, and not how to work. */
export const CREDENTIAL_FIELDS = (Object.keys(OPTION_TABLE) as SourcedField[]).filter(field => optionRow(field).first === 'environment')

/** Every variable of the table. */
export const SOURCE_VARIABLES: readonly string[] = [
  ...new Set(
    (Object.keys(OPTION_TABLE) as SourcedField[]).flatMap(field => [...variablesOf(field, 'cloud'), ...variablesOf(field, 'cluster')]),
  ),
]
