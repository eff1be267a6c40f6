import {describe, expect, it} from 'vitest'
import type {Api} from '../../src/base/apis.ts'
import {parseConfigText} from '../../src/config/config-file.ts'
import {type ConnectionInput, resolveConnection} from '../../src/config/connection.ts'
import {describeCredentials} from '../../src/config/connection-sources.ts'
import {readEnvironment} from '../../src/config/environment.ts'
import type {Keyring} from '../../src/config/keyring.ts'
import {Profiles} from '../../src/config/profiles.ts'

const PROD =
  '[profiles.prod]\ndeployment_type = "cloud"\napi_key = "file-key"\napi_secret = "file-secret"\napi_url = "https://file.example.com/v1/"\n'
const LAB =
  '[profiles.lab]\ndeployment_type = "enterprise"\nurl = "https://lab.example.com:9443"\nusername = "admin"\npassword = "keyring:lab.password"\ninsecure = true\n'

const keyring: Keyring = {
  get: async name => (name === 'lab.password' ? 'from-keyring' : undefined),
  set: async () => undefined,
  remove: async () => false,
}

interface Given {
  readonly env?: Record<string, string>
  readonly toml?: string
  readonly flags?: ConnectionInput['flags']
  readonly wish?: ConnectionInput['wish']
}

const connect = async (api: Api, {env = {}, toml = '', flags = {}, wish = {}}: Given) =>
  resolveConnection(api, {
    environment: readEnvironment({HOME: '/home/somebody', ...env}),
    profiles: new Profiles('config.toml', parseConfigText(toml, 'config.toml'), env),
    keyring,
    flags,
    wish,
  })

const ENV = {SVC_CLOUD_API_KEY: 'env-key', SVC_CLOUD_SECRET_KEY: 'env-secret', SVC_CLOUD_API_URL: 'https://env.example.com/v1'}
const FLAGS = {apiKey: 'flag-key', apiSecret: 'flag-secret', apiUrl: 'https://flag.example.com/v1'}

describe('credentials of the cloud', () => {
  it('come from the environment before the profile, and from the profile before flags', async () => {
    const all = await connect('cloud', {env: ENV, toml: PROD, flags: FLAGS})
    expect(all).toMatchObject({address: 'https://env.example.com/v1', credentials: {key: 'env-key', secret: 'env-secret'}})
    const two = await connect('cloud', {toml: PROD, flags: FLAGS})
    expect(two).toMatchObject({
      address: 'https://file.example.com/v1',
      credentials: {key: 'file-key', secret: 'file-secret'},
      profile: 'prod',
    })
    const one = await connect('cloud', {flags: FLAGS})
    expect(one).toMatchObject({address: 'https://flag.example.com/v1', credentials: {key: 'flag-key', secret: 'flag-secret'}, warnings: []})
  })

  it('are taken field by field, and a mixture is a warning that names every source and no value', async () => {
    const {credentials, warnings} = await connect('cloud', {env: {SVC_CLOUD_API_URL: 'https://env.example.com/v1'}, toml: PROD})
    expect(credentials).toEqual({type: 'key', key: 'file-key', secret: 'file-secret'})
    expect(warnings).toEqual([
      'the connection to the cloud API is put together from several sources: api_url from the environment variable SVC_CLOUD_API_URL, api_key from profile "prod", api_secret from profile "prod"',
    ])
  })

  it('may have their secret in SVC_CLOUD_API_SECRET, the other spelling of the contract', async () => {
    const {SVC_CLOUD_SECRET_KEY: secret, ...rest} = ENV
    const {credentials} = await connect('cloud', {env: {...rest, SVC_CLOUD_API_SECRET: secret}})
    expect(credentials).toMatchObject({secret: 'env-secret'})
  })

  it('name in a warning the flag that lost', async () => {
    const {warnings} = await connect('cloud', {env: ENV, flags: {apiKey: 'flag-key'}})
    expect(warnings).toEqual(['--api-key is not used: the environment variable SVC_CLOUD_API_KEY comes first'])
  })

  it('name in a warning the profile that somebody named and that is not used, and what comes before it', async () => {
    const {warnings} = await connect('cloud', {env: ENV, toml: PROD, wish: {flag: 'prod'}})
    expect(warnings).toEqual([
      `profile "prod" is not used: SVC_CLOUD_API_KEY is set, and the environment comes first. This command uses ${ENV.SVC_CLOUD_API_URL}. Unset the variable to use the profile.`,
    ])
  })

  it('that come from two places are named both', () => {
    const user = {from: 'environment', name: 'SVC_ENTERPRISE_USERNAME'} as const
    const password = {from: 'profile', name: 'lab', field: 'password'} as const
    expect(describeCredentials('cluster', {username: user, password})).toBe(
      'the environment variable SVC_ENTERPRISE_USERNAME (username) and profile "lab" (password)',
    )
    expect(describeCredentials('cluster', {username: user, password: user})).toBe('the environment variable SVC_ENTERPRISE_USERNAME')
  })

  it('that are nowhere end with exit 9 and the three ways to give them', async () => {
    await expect(connect('cloud', {})).rejects.toMatchObject({
      code: 'E_NO_CREDENTIALS',
      exit: 9,
      suggestions: [
        expect.stringContaining('SVC_CLOUD_API_KEY'),
        expect.stringContaining('svcctl profile set'),
        expect.stringContaining('--api-secret -'),
      ],
    })
  })

  it('that are there in part say which part is missing', async () => {
    await expect(connect('cloud', {env: {SVC_CLOUD_API_KEY: 'k'}})).rejects.toMatchObject({
      exit: 9,
      message: 'the credentials for the cloud API are incomplete: api_secret missing (api_key given)',
    })
  })

  it('without an address are a configuration error', async () => {
    await expect(connect('cloud', {flags: {apiKey: 'k', apiSecret: 's'}})).rejects.toMatchObject({code: 'E_NO_ADDRESS', exit: 64})
  })
})

describe('an address', () => {
  it.each(['h.example.com/v1', 'ftp://h/v1', 'https://user:pw@h/v1', 'https://h/v1?x=1'])(
    'like %s is refused without being quoted',
    async address => {
      const failure = connect('cloud', {flags: {...FLAGS, apiUrl: address}})
      await expect(failure).rejects.toMatchObject({code: 'E_ADDRESS', exit: 64})
      await expect(failure).rejects.not.toMatchObject({message: expect.stringContaining(address)})
    },
  )

  it('over plain http is a warning, unless it is this machine', async () => {
    const far = await connect('cloud', {flags: {...FLAGS, apiUrl: 'http://h.example.com/v1'}})
    expect(far.warnings).toEqual(['credentials travel to http://h.example.com/v1 unencrypted'])
    const near = await connect('cloud', {flags: {...FLAGS, apiUrl: 'http://127.0.0.1:8080/v1'}})
    expect(near.warnings).toEqual([])
  })
})

describe('a connection to the cluster', () => {
  it('takes a secret from the keyring where the profile refers to it', async () => {
    const {credentials, secrets} = await connect('cluster', {toml: LAB})
    expect(credentials).toEqual({type: 'basic', username: 'admin', password: 'from-keyring'})
    expect(secrets).toEqual(['from-keyring'])
  })

  it('warns every time certificates are not verified', async () => {
    const {insecure, warnings} = await connect('cluster', {toml: LAB})
    expect(insecure).toBe(true)
    expect(warnings).toEqual(['certificates of https://lab.example.com:9443 are not verified (profile "lab")'])
  })

  it('never loosens the cloud', async () => {
    const {insecure} = await connect('cloud', {env: {...ENV, SVC_ENTERPRISE_INSECURE: 'true'}, flags: {insecure: true}})
    expect(insecure).toBe(false)
  })

  it('refuses a value of SVC_ENTERPRISE_INSECURE that is neither true nor false', async () => {
    await expect(connect('cluster', {env: {SVC_ENTERPRISE_INSECURE: 'maybe'}, toml: LAB})).rejects.toMatchObject({
      code: 'E_ENVIRONMENT',
      message: 'the environment variable SVC_ENTERPRISE_INSECURE is not true or false',
    })
  })
})

describe('the profile', () => {
  const two = `${PROD}${PROD.replace('prod', 'eu').replace('file.', 'eu.')}`

  it('is the one --profile names, before the target of the stack and SVC_PROFILE', async () => {
    const toml = `${two}${PROD.replace('prod', 'us')}`
    const wish = {flag: 'eu', target: 'prod'}
    expect((await connect('cloud', {toml, env: {SVC_PROFILE: 'us'}, wish})).profile).toBe('eu')
    expect((await connect('cloud', {toml, env: {SVC_PROFILE: 'us'}, wish: {target: 'prod'}})).profile).toBe('prod')
    expect((await connect('cloud', {toml, env: {SVC_PROFILE: 'us'}})).profile).toBe('us')
  })

  it('that a stack names is never written with while a read-only one is named outside, of whatever type', async () => {
    const readOnly =
      '[profiles.look]\ndeployment_type = "enterprise"\nurl = "https://x"\nusername = "u"\npassword = "p"\nmode = "read-only"\n'
    const toml = `${two}mode = "read-only"\n${readOnly}`
    const held = async (env: Record<string, string>, wish: ConnectionInput['wish']) => {
      const {profile, settings, readOnlyBy, warnings} = await connect('cloud', {toml, env, wish})
      return [profile, settings.mode, readOnlyBy, warnings.some(it => it.includes('nothing is written'))]
    }
    expect(await held({SVC_PROFILE: 'eu'}, {target: 'prod'})).toEqual(['prod', 'read-only', 'eu', true])
    expect(await held({SVC_PROFILE: 'look'}, {target: 'prod'})).toEqual(['prod', 'read-only', 'look', true])
    expect(await held({}, {flag: 'look', target: 'prod', bothApis: true})).toEqual(['prod', 'read-only', 'look', true])
    expect(await held({}, {flag: 'eu', target: 'prod'})).toEqual(['eu', 'read-only', 'eu', false])
    // An option is nearer than a variable, and says otherwise; what is not read-only holds nobody.
    expect(await held({SVC_PROFILE: 'eu'}, {flag: 'prod', target: 'eu'})).toEqual(['prod', 'read-write', undefined, false])
    expect(await held({SVC_PROFILE: 'prod'}, {target: 'prod'})).toEqual(['prod', 'read-write', undefined, false])
    await expect(held({SVC_PROFILE: 'luk'}, {target: 'prod'})).rejects.toMatchObject({code: 'E_PROFILE_UNKNOWN'})
  })

  it('is the default of its type when none is named', async () => {
    expect((await connect('cloud', {toml: `default_cloud = "eu"\n${two}`})).profile).toBe('eu')
  })

  it('is not guessed when there are two and no default', async () => {
    await expect(connect('cloud', {toml: two})).rejects.toMatchObject({code: 'E_NO_CREDENTIALS'})
  })

  it('that does not exist is exit 64 with the known names, also when the environment has everything', async () => {
    await expect(connect('cloud', {env: ENV, toml: two, wish: {flag: 'nobody'}})).rejects.toMatchObject({
      code: 'E_PROFILE_UNKNOWN',
      exit: 64,
      suggestions: ['Known profiles: eu, prod.'],
    })
  })

  it('of the other type is refused, unless the command opens both APIs', async () => {
    const toml = `${PROD}${LAB}`
    await expect(connect('cloud', {toml, wish: {flag: 'lab'}})).rejects.toMatchObject({code: 'E_PROFILE_TYPE', exit: 64})
    expect((await connect('cloud', {toml, wish: {flag: 'lab', bothApis: true}})).profile).toBe('prod')
  })

  it('needs only those of its variables that are used', async () => {
    const toml = PROD.replace('"file-key"', '"${NOT_SET}"')
    await expect(connect('cloud', {toml})).rejects.toMatchObject({
      code: 'E_CONFIG_UNSET_VARIABLE',
      message: 'profiles.prod.api_key in config.toml needs the environment variable NOT_SET, which is not set',
    })
    expect((await connect('cloud', {env: ENV, toml})).credentials).toMatchObject({key: 'env-key'})
  })
})

describe('settings', () => {
  it('are the contract’s rate for the cloud and none for a cluster', async () => {
    expect((await connect('cloud', {flags: FLAGS})).settings).toMatchObject({ratePerMinute: 100, burst: 150, mode: 'read-write'})
    expect((await connect('cluster', {toml: LAB})).settings.ratePerMinute).toBeUndefined()
  })

  it('come from flags before the profile', async () => {
    const toml = `${PROD}rate = 60\nburst = "\${BURST:-10}"\ntimeout = "5m"\nmode = "read-only"\nmax_destroy = "10%"\n`
    expect((await connect('cloud', {toml})).settings).toMatchObject({
      ratePerMinute: 60,
      burst: 10,
      timeoutMs: 300_000,
      mode: 'read-only',
      maxDestroy: '10%',
    })
    expect((await connect('cloud', {toml, flags: {rate: 30, timeoutMs: 1_000}})).settings).toMatchObject({
      ratePerMinute: 30,
      timeoutMs: 1_000,
    })
  })
})

describe('the key hash', () => {
  it('tells accounts and addresses apart and does not change with the secret', async () => {
    const hash = async (flags: ConnectionInput['flags']) => (await connect('cloud', {flags: {...FLAGS, ...flags}})).keyHash
    expect(await hash({apiSecret: 'rotated'})).toBe(await hash({}))
    expect(await hash({apiKey: 'other'})).not.toBe(await hash({}))
    expect(await hash({apiUrl: 'https://other.example.com/v1'})).not.toBe(await hash({}))
    expect(await hash({})).toMatch(/^[0-9a-f]{16}$/)
  })
})
