/** One row of the table after the other, given by every source at once: who wins is what the table says. */
import {describe, expect, it} from 'vitest'
import type {Api} from '../../src/base/apis.ts'
import {parseConfigText} from '../../src/config/config-file.ts'
import {type Connection, type ConnectionInput, resolveConnection} from '../../src/config/connection.ts'
import {describeSource} from '../../src/config/connection-sources.ts'
import {readEnvironment} from '../../src/config/environment.ts'
import {OPTION_TABLE, optionRow, type SourcedField, variablesOf} from '../../src/config/option-table.ts'
import {PROFILE_FIELDS} from '../../src/config/profile-fields.ts'
import {Profiles} from '../../src/config/profiles.ts'

type Flags = ConnectionInput['flags']

interface Case {
  /** Text of the variable, the profile, and what the command line gives, in its own type. */
  readonly values: readonly [variable: string, profile: string, flags: Flags]
  /** What the connection says then, by who won. */
  readonly shown: readonly [variable: unknown, profile: unknown, option: unknown]
  readonly of: (connection: Connection) => unknown
}

const key = ({credentials}: Connection) => (credentials.type === 'key' ? [credentials.key, credentials.secret] : [])
const basic = ({credentials}: Connection) => (credentials.type === 'basic' ? [credentials.username, credentials.password] : [])
const number = (flags: (n: number) => Flags, of: Case['of']): Case => ({values: ['1', '20', flags(300)], shown: [1, 20, 300], of})
const text = (flags: (it: string) => Flags, of: Case['of'], end = ''): Case => ({
  values: [`variable${end}`, `profile${end}`, flags(`option${end}`)],
  shown: [`variable${end}`, `profile${end}`, `option${end}`],
  of,
})
const address = (flags: (it: string) => Flags): Case => ({
  values: ['https://variable/v1', 'https://profile/v1', flags('https://option/v1')],
  shown: ['https://variable/v1', 'https://profile/v1', 'https://option/v1'],
  of: it => it.address,
})
const duration = (flags: (ms: number) => Flags, of: Case['of']): Case => ({
  values: ['1s', '20s', flags(300)],
  shown: [1_000, 20_000, 300],
  of,
})

const CASES: Readonly<Record<SourcedField, Case>> = {
  api_url: address(apiUrl => ({apiUrl})),
  api_key: text(
    apiKey => ({apiKey}),
    it => key(it)[0],
  ),
  api_secret: text(
    apiSecret => ({apiSecret}),
    it => key(it)[1],
  ),
  url: address(url => ({url})),
  username: text(
    username => ({username}),
    it => basic(it)[0],
  ),
  password: text(
    password => ({password}),
    it => basic(it)[1],
  ),
  insecure: {values: ['true', 'false', {insecure: true}], shown: [true, false, true], of: it => it.insecure},
  ca_file: text(
    caFile => ({caFile}),
    it => it.trust[0]?.path,
  ),
  default_subscription: text(
    subscription => ({subscription}),
    it => it.subscription,
  ),
  default_database: text(
    database => ({database}),
    it => it.settings.database,
  ),
  rate: number(
    rate => ({rate}),
    it => it.settings.ratePerMinute,
  ),
  burst: number(
    burst => ({burst}),
    it => it.settings.burst,
  ),
  reserve: number(
    reserve => ({reserve}),
    it => it.settings.reserve,
  ),
  poll_interval: duration(
    pollIntervalMs => ({pollIntervalMs}),
    it => it.settings.pollIntervalMs,
  ),
  timeout: duration(
    timeoutMs => ({timeoutMs}),
    it => it.settings.timeoutMs,
  ),
  request_timeout: duration(
    requestTimeoutMs => ({requestTimeoutMs}),
    it => it.settings.requestTimeoutMs,
  ),
  max_response: {
    values: ['1MiB', '20MB', {maxResponseBytes: 300}],
    shown: [1_048_576, 20_000_000, 300],
    of: it => it.settings.maxResponseBytes,
  },
  max_destroy: {values: ['1', '20', {maxDestroy: '300'}], shown: ['1', '20', '300'], of: it => it.settings.maxDestroy},
  refuse_risky: {values: ['false', 'true', {refuseRisky: false}], shown: [false, true, false], of: it => it.settings.refuseRisky},
  on_drift: {values: ['overwrite', 'refuse', {onDrift: 'keep'}], shown: ['overwrite', 'refuse', 'keep'], of: it => it.settings.onDrift},
  adopt: {values: ['equal', 'changes', {}], shown: ['equal', 'changes', undefined], of: it => it.settings.adopt},
  limits: {values: ['none', 'conservative', {}], shown: ['none', 'conservative', undefined], of: it => it.settings.limits},
  controls: {values: ['/variable', '/profile', {}], shown: ['/variable', '/profile', undefined], of: it => it.settings.controls},
  mode: {values: ['read-write', 'read-only', {}], shown: ['read-write', 'read-only', undefined], of: it => it.settings.mode},
}

const OTHERS = {
  cloud: {apiUrl: 'https://o/v1', apiKey: 'o', apiSecret: 'o', rate: 7},
  cluster: {url: 'https://o', username: 'o', password: 'o', rate: 7},
} as const

/** The connection when the field is given by these sources, and everything else by options. */
function connect(api: Api, field: SourcedField, from: {variable?: string | undefined; profile?: boolean; option?: boolean}) {
  const {values} = CASES[field]
  const profile = `[profiles.p]\ndeployment_type = "${api === 'cloud' ? 'cloud' : 'enterprise'}"\n${from.profile ? `${field} = ${JSON.stringify(values[1])}\n` : ''}`
  const {[field === 'rate' ? 'rate' : 'none']: _, ...others}: Record<string, unknown> = OTHERS[api]
  const own = Object.keys(values[2])[0] ?? ''
  const {[own]: __, ...rest} = others
  return resolveConnection(api, {
    environment: readEnvironment({HOME: '/h', ...(from.variable === undefined ? {} : {[from.variable]: values[0]})}),
    profiles: new Profiles('config.toml', parseConfigText(profile, 'config.toml'), {}),
    keyring: {get: async () => undefined, set: async () => undefined, remove: async () => false},
    flags: {...rest, ...(from.option ? values[2] : {})},
    wish: {},
  })
}

const rows = (Object.keys(OPTION_TABLE) as SourcedField[]).flatMap(field => {
  const {only} = PROFILE_FIELDS[field] as {only?: string}
  const apis = (['cloud', 'cluster'] as const).filter(api => only === undefined || only === (api === 'cloud' ? 'cloud' : 'enterprise'))
  return apis
    .filter(api => api === 'cloud' || field !== 'default_subscription')
    .flatMap(api =>
      [...(variablesOf(field, api).length === 0 ? [undefined] : variablesOf(field, api))].map(variable => ({field, api, variable})),
    )
})

describe.each(rows)('$field of the $api ($variable)', ({field, api, variable}) => {
  const {first, option} = optionRow(field)
  const {shown, of} = CASES[field]

  it(`comes from ${first === 'option' ? 'option, environment, profile' : 'environment, profile, option'}, in this order`, async () => {
    const fromVariable = variable === undefined ? [] : [{at: 0, name: `the environment variable ${variable}`}]
    const fromOption = option === undefined ? [] : [{at: 2, name: option}]
    const fromProfile = [{at: 1, name: 'profile "p"'}]
    const order = first === 'option' ? [fromOption, fromVariable, fromProfile] : [fromVariable, fromProfile, fromOption]
    const left = order.flat()
    while (left.length > 0) {
      const given = (at: number) => left.some(it => it.at === at)
      const connection = await connect(api, field, {variable: given(0) ? variable : undefined, profile: given(1), option: given(2)})
      const [winner] = left
      const source = connection.sources[field]
      expect([of(connection), source && describeSource(source)]).toEqual([shown[winner?.at ?? 0], winner?.name])
      const lost = given(2) && winner?.at !== 2
      expect(connection.warnings.filter(it => it.includes('is not used'))).toEqual(
        lost ? [`${option} is not used: ${winner?.name} comes first`] : [],
      )
      left.shift()
    }
  })
})

describe('the table of options', () => {
  it('has every field of a profile that may come from elsewhere', () => {
    const own = ['deployment_type', 'files_api_key']
    const missing = Object.keys(PROFILE_FIELDS).filter(field => !Object.hasOwn(OPTION_TABLE, field) && !own.includes(field))
    expect(missing).toEqual([])
  })
})
