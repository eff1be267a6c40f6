/**
 * Everything needed to speak to one API: address, credentials, certificates, limits; each field from the source that
 * comes first (contract section 5), and the story of where it came from.
 */
import {createHash} from 'node:crypto'
import {chooseProfile, type ProfileWish} from './choose-profile.ts'
import {AddressError, type Api, NoAddressError, NoCredentialsError} from './connection-errors.ts'
import {describeSource, type Source, type Sourced, SourcePicker} from './connection-sources.ts'
import {type Environment, EnvironmentError} from './environment.ts'
import {dereference, type Keyring} from './keyring.ts'
import {SWITCHES} from './profile-fields.ts'
import type {Profiles} from './profiles.ts'
import {resolveSettings, type SettingFlags, type Settings, settingSources} from './settings.ts'

export type {Api} from './connection-errors.ts'

export interface CredentialFlags {
  readonly apiUrl?: string | undefined
  readonly apiKey?: string | undefined
  readonly apiSecret?: string | undefined
  readonly url?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly insecure?: boolean | undefined
  readonly caFile?: string | undefined
}

export type Credentials =
  /** Headers `x-api-key` and `x-api-secret-key`. */
  | {readonly type: 'key'; readonly key: string; readonly secret: string}
  | {readonly type: 'basic'; readonly username: string; readonly password: string}

export interface Connection {
  readonly api: Api
  /** Without a slash at the end. The cloud's ends in its version segment, the cluster's does not. */
  readonly address: string
  readonly credentials: Credentials
  /** Certificates are not verified. Never true for the cloud. */
  readonly insecure: boolean
  readonly caFile?: string
  readonly profile?: string
  /** Of the key id (the user name on a cluster) at this address: tells accounts apart, gives nothing away. */
  readonly keyHash: string
  /** `SVC_SUBSCRIPTION_ID`, or the profile's `default_subscription`. */
  readonly defaultSubscription?: string
  readonly settings: Settings
  /** Per field of the profile, what it came from. */
  readonly sources: Readonly<Record<string, Source>>
  readonly warnings: readonly string[]
  /** What must never be printed. */
  readonly secrets: readonly string[]
}

export interface ConnectionInput {
  readonly environment: Environment
  readonly profiles: Profiles
  readonly keyring: Keyring
  readonly flags: CredentialFlags & SettingFlags
  readonly wish: ProfileWish
}

/**
 * @throws NoCredentialsError, NoAddressError, AddressError, UnknownProfileError, ProfileTypeError, ProfileValueError,
 * UnsetVariableError, EnvironmentError, KeyringUnavailableError, KeyringEntryMissingError
 */
export async function resolveConnection(api: Api, input: ConnectionInput): Promise<Connection> {
  const {environment, profiles, keyring, flags, wish} = input
  const {profile, named} = chooseProfile(api, profiles, environment, wish)
  const picker = new SourcePicker(profile)
  const picked = api === 'cloud' ? pickCloud(picker, environment, flags) : pickCluster(picker, environment, flags)
  const {address: addressed, id, secret} = picked
  if (id === undefined || secret === undefined) {
    const [idField, secretField] = api === 'cloud' ? ['api_key', 'api_secret'] : ['username', 'password']
    const has = (there: unknown) => there !== undefined
    throw new NoCredentialsError(
      api,
      [...(has(id) ? [] : [idField]), ...(has(secret) ? [] : [secretField])],
      [...(has(id) ? [idField] : []), ...(has(secret) ? [secretField] : [])],
    )
  }
  if (addressed === undefined) throw new NoAddressError(api)
  const address = cleanAddress(api, addressed)
  const [idText, secretText] = [await inClear(id, keyring), await inClear(secret, keyring)]
  const insecure = picked.insecure !== undefined && switchOf(picked.insecure)
  const caFile = picked.caFile?.value
  const warnings = [...picker.warnings]
  if (insecure && address.startsWith('https:')) {
    warnings.push(`certificates of ${address} are not verified (${describeSource(picked.insecure?.source ?? {from: 'default'})})`)
  }
  if (address.startsWith('http:') && !isLoopback(address)) warnings.push(`credentials travel to ${address} unencrypted`)
  warnings.push(...mixture(api, [addressed, id, secret], picker.sources))
  const fromProfile = Object.values(picker.sources).some(source => source.from === 'profile')
  if (named && profile !== undefined && !fromProfile && profile.fields.length > 1) {
    warnings.push(`profile "${profile.name}" gives no credentials here: ${describeSource(id.source)} comes first`)
  }
  const subscription = new SourcePicker(profile)
  const defaultSubscription = subscription.pick({
    variable: environment.subscriptionId === undefined ? undefined : {variable: 'SVC_SUBSCRIPTION_ID', value: environment.subscriptionId},
    field: 'default_subscription',
    flag: {name: '--subscription', value: undefined},
  })
  return {
    api,
    address,
    credentials: api === 'cloud' ? {type: 'key', key: idText, secret: secretText} : {type: 'basic', username: idText, password: secretText},
    insecure,
    ...(caFile === undefined ? {} : {caFile}),
    ...(profile === undefined ? {} : {profile: profile.name}),
    keyHash: createHash('sha256').update(`${address}\n${idText}`).digest('hex').slice(0, 16),
    ...(defaultSubscription === undefined ? {} : {defaultSubscription: defaultSubscription.value}),
    settings: resolveSettings(api, profile, flags),
    sources: {...picker.sources, ...(api === 'cloud' ? subscription.sources : {}), ...settingSources(profile, flags)},
    warnings,
    secrets: api === 'cloud' ? [idText, secretText] : [secretText],
  }
}

interface Picked {
  readonly address: Sourced | undefined
  readonly id: Sourced | undefined
  readonly secret: Sourced | undefined
  readonly insecure?: Sourced | undefined
  readonly caFile?: Sourced | undefined
}

const pickCloud = (picker: SourcePicker, {cloud}: Environment, flags: CredentialFlags): Picked => ({
  address: picker.pick({variable: cloud.address, field: 'api_url', flag: {name: '--api-url', value: flags.apiUrl}}),
  id: picker.pick({variable: cloud.apiKey, field: 'api_key', flag: {name: '--api-key', value: flags.apiKey}}),
  secret: picker.pick({variable: cloud.apiSecret, field: 'api_secret', flag: {name: '--api-secret', value: flags.apiSecret}}),
  // `insecure` and the certificate flags belong to the cluster; the cloud takes a `ca_file` from its own profile only.
  caFile: picker.pick({variable: undefined, field: 'ca_file', flag: {name: '--ca-file', value: undefined}}),
})

const pickCluster = (picker: SourcePicker, {cluster}: Environment, flags: CredentialFlags): Picked => ({
  address: picker.pick({variable: cluster.address, field: 'url', flag: {name: '--url', value: flags.url}}),
  id: picker.pick({variable: cluster.username, field: 'username', flag: {name: '--username', value: flags.username}}),
  secret: picker.pick({variable: cluster.password, field: 'password', flag: {name: '--password', value: flags.password}}),
  insecure: picker.pick({
    variable: cluster.insecure,
    field: 'insecure',
    flag: {name: '--insecure', value: flags.insecure === undefined ? undefined : String(flags.insecure)},
  }),
  caFile: picker.pick({variable: cluster.caFile, field: 'ca_file', flag: {name: '--ca-file', value: flags.caFile}}),
})

const inClear = ({value, source}: Sourced, keyring: Keyring): Promise<string> =>
  // Only the file refers to the keyring; a password that happens to begin with the word is a password.
  source.from === 'profile' ? dereference(value, `profiles.${source.name}.${source.field}`, keyring) : Promise.resolve(value)

function switchOf({value, source}: Sourced): boolean {
  const on = SWITCHES[value.toLowerCase()]
  if (on === undefined) throw new EnvironmentError(source.from === 'environment' ? source.name : describeSource(source), 'true or false')
  return on
}

/** The address as a prefix for paths. Its text is not quoted in errors: it may carry a password. */
function cleanAddress(api: Api, {value, source}: Sourced): string {
  const where = describeSource(source)
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) throw new AddressError(api, where, 'is no http(s) address')
  const url = new URL(value)
  if (url.username !== '' || url.password !== '') throw new AddressError(api, where, 'carries a user name or a password')
  if (url.search !== '' || url.hash !== '') throw new AddressError(api, where, 'carries a query or a fragment')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

const isLoopback = (address: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(address).hostname)

/** An address from one place and a secret from another may not belong together (design section 10, Account). */
function mixture(api: Api, fields: readonly Sourced[], sources: Readonly<Record<string, Source>>): string[] {
  const origins = new Set(fields.map(({source}) => source.from))
  if (origins.size < 2) return []
  const needed = api === 'cloud' ? ['api_url', 'api_key', 'api_secret'] : ['url', 'username', 'password']
  const story = needed.flatMap(field => {
    const source = sources[field]
    return source === undefined ? [] : [`${field} from ${describeSource(source)}`]
  })
  return [`the connection to the ${api} API is put together from several sources: ${story.join(', ')}`]
}
