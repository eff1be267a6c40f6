/**
 * Everything needed to speak to one API: address, credentials, certificates, limits; each field from the source that
 * comes first (`option-table.ts`), and the story of where it came from.
 */
import {createHash} from 'node:crypto'
import type {Api} from '../base/apis.ts'
import {addAll} from '../base/many.ts'
import type {TrustedFile} from '../transport/trusted-file.ts'
import {chooseProfile, type ProfileWish} from './choose-profile.ts'
import {AddressError, NoAddressError, NoCredentialsError} from './connection-errors.ts'
import {describeSource, type OptionSource, type Sourced, SourcePicker} from './connection-sources.ts'
import {type Environment, EnvironmentError} from './environment.ts'
import {dereference, type Keyring} from './keyring.ts'
import {SWITCHES} from './profile-fields.ts'
import type {Profiles} from './profiles.ts'
import {resolveSettings, type SettingFlags, type Settings} from './settings.ts'

export interface CredentialFlags {
  readonly apiUrl?: string | undefined
  readonly apiKey?: string | undefined
  readonly apiSecret?: string | undefined
  readonly url?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly insecure?: boolean | undefined
  readonly caFile?: string | undefined
  readonly subscription?: string | undefined
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
  /** Certificates to trust beside the built-in ones. */
  readonly trust: readonly TrustedFile[]
  readonly profile?: string
  /** Of the key id (the user name on a cluster) at this address: tells accounts apart, gives nothing away. */
  readonly keyHash: string
  /** `--subscription`, `SVC_SUBSCRIPTION_ID`, or the profile's `default_subscription`: an id or a name. */
  readonly subscription?: string
  readonly settings: Settings
  /** The profile that makes this connection read-only, where it is one. */
  readonly readOnlyBy?: string
  /** Per field of the profile, what it came from. */
  readonly sources: Readonly<Record<string, OptionSource>>
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
  const {profile, named, heldBy} = chooseProfile(api, profiles, environment, wish)
  const picker = new SourcePicker(api, profile, environment.sources)
  const {address: addressed, id, secret, insecure: loosened} = api === 'cloud' ? pickCloud(picker, flags) : pickCluster(picker, flags)
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
  const insecure = loosened?.value ?? false
  const warnings = [...picker.warnings]
  if (insecure && address.startsWith('https:')) {
    warnings.push(`certificates of ${address} are not verified (${describeSource(loosened?.source ?? {from: 'default'})})`)
  }
  if (address.startsWith('http:') && !isLoopback(address)) warnings.push(`credentials travel to ${address} unencrypted`)
  addAll(warnings, mixture(api, [addressed, id, secret], picker.sources))
  const fromProfile = Object.values(picker.sources).some(source => source.from === 'profile')
  if (named && profile !== undefined && !fromProfile && profile.fields.length > 1) {
    warnings.push(notUsed(profile.name, id.source, address))
  }
  if (heldBy !== undefined) {
    const target = JSON.stringify(profile?.name)
    warnings.push(
      `profile "${heldBy.profile}" (${heldBy.named}) is read-only, and so is the stack's target ${target} here: nothing is written`,
    )
  }
  const chosen = resolveSettings(api, picker, flags)
  const settings: Settings = heldBy === undefined ? chosen : {...chosen, mode: 'read-only'}
  const readOnlyBy = settings.mode === 'read-only' ? (heldBy?.profile ?? profile?.name) : undefined
  const caFile = picker.pick('ca_file', flags.caFile)
  const subscription = api === 'cloud' ? picker.pick('default_subscription', flags.subscription) : undefined
  return {
    api,
    address,
    credentials: api === 'cloud' ? {type: 'key', key: idText, secret: secretText} : {type: 'basic', username: idText, password: secretText},
    insecure,
    trust: trustedFiles(caFile, environment),
    ...(profile === undefined ? {} : {profile: profile.name}),
    keyHash: keyHashOf(address, idText),
    ...(subscription === undefined ? {} : {subscription: subscription.value}),
    settings,
    ...(readOnlyBy === undefined ? {} : {readOnlyBy}),
    sources: picker.sources,
    warnings,
    secrets: api === 'cloud' ? [idText, secretText] : [secretText],
  }
}

const keyHashOf = (address: string, id: string): string => createHash('sha256').update(`${address}\n${id}`).digest('hex').slice(0, 16)

/** What `keyHash` would be of the same key at another address. */
export const keyHashAt = ({credentials}: Pick<Connection, 'credentials'>, address: string): string =>
  keyHashOf(address, credentials.type === 'key' ? credentials.key : credentials.username)

/** Whom a connection would speak to, as far as that needs no secret. */
export interface MeantAccount extends Pick<Connection, 'api' | 'address' | 'keyHash' | 'profile'> {
  /** Where its holds and freezes are, for all machines. */
  readonly controls?: string
}

/** Somebody named a profile, and something that comes before it says who signs in, and where. */
const notUsed = (profile: string, source: OptionSource, address: string): string =>
  source.from === 'environment'
    ? `profile "${profile}" is not used: ${source.name} is set, and the environment comes first. This command uses ${address}. Unset the variable to use the profile.`
    : `profile "${profile}" is not used: ${describeSource(source)} comes first. This command uses ${address}.`

/**
 * @returns `undefined` where nothing says who that is: nobody has configured this API
 * @throws UnknownProfileError, ProfileTypeError, ProfileValueError, UnsetVariableError, AddressError
 */
export async function accountMeant(api: Api, input: ConnectionInput): Promise<MeantAccount | undefined> {
  const {environment, profiles, keyring, flags, wish} = input
  const {profile} = chooseProfile(api, profiles, environment, wish)
  const picker = new SourcePicker(api, profile, environment.sources)
  const {address: addressed, id} = api === 'cloud' ? pickCloud(picker, flags) : pickCluster(picker, flags)
  if (id === undefined || addressed === undefined) return undefined
  const address = cleanAddress(api, addressed)
  const controls = picker.pick('controls')?.value
  return {
    api,
    address,
    keyHash: keyHashOf(address, await inClear(id, keyring)),
    ...(profile === undefined ? {} : {profile: profile.name}),
    ...(controls === undefined ? {} : {controls}),
  }
}

interface Picked {
  readonly address: Sourced | undefined
  readonly id: Sourced | undefined
  readonly secret: Sourced | undefined
  readonly insecure?: Sourced<boolean> | undefined
}

const pickCloud = (picker: SourcePicker, flags: CredentialFlags): Picked => ({
  address: picker.pick('api_url', flags.apiUrl),
  id: picker.pick('api_key', flags.apiKey),
  secret: picker.pick('api_secret', flags.apiSecret),
})

const pickCluster = (picker: SourcePicker, flags: CredentialFlags): Picked => ({
  address: picker.pick('url', flags.url),
  id: picker.pick('username', flags.username),
  secret: picker.pick('password', flags.password),
  insecure: picker.pickAs('insecure', flags.insecure, switchOf),
})

/** What the system trusts is trusted beside what was chosen: it is no choice between the two. */
const trustedFiles = (chosen: Sourced | undefined, {systemCaFile}: Environment): readonly TrustedFile[] => [
  ...(chosen === undefined ? [] : [{path: chosen.value, from: describeSource(chosen.source)}]),
  ...(systemCaFile === undefined ? [] : [{path: systemCaFile, from: describeSource({from: 'environment', name: 'SSL_CERT_FILE'})}]),
]

/** For connections that are none to the two APIs: what the environment says for all of them. */
export function environmentTrust(environment: Environment): readonly TrustedFile[] {
  const name = 'SVC_CA_FILE'
  const value = environment.sources[name]
  return trustedFiles(value === undefined ? undefined : {value, source: {from: 'environment', name}}, environment)
}

const inClear = ({value, source}: Sourced, keyring: Keyring): Promise<string> =>
  // Only the file refers to the keyring; a password that happens to begin with the word is a password.
  source.from === 'profile' ? dereference(value, `profiles.${source.name}.${source.field}`, keyring) : Promise.resolve(value)

function switchOf(text: string, source: OptionSource): boolean {
  const on = SWITCHES[text.toLowerCase()]
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
function mixture(api: Api, fields: readonly Sourced[], sources: Readonly<Record<string, OptionSource>>): string[] {
  const origins = new Set(fields.map(({source}) => source.from))
  if (origins.size < 2) return []
  const needed = api === 'cloud' ? ['api_url', 'api_key', 'api_secret'] : ['url', 'username', 'password']
  const story = needed.flatMap(field => {
    const source = sources[field]
    return source === undefined ? [] : [`${field} from ${describeSource(source)}`]
  })
  return [`the connection to the ${api} API is put together from several sources: ${story.join(', ')}`]
}
