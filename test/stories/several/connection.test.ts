import {mkdirSync, writeFileSync} from 'node:fs'
import {dirname} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'

let at: Site
beforeAll(async () => {
  at = await site(undefined, {tls: true})
})
afterAll(() => at.close())

const NONE = {
  SVC_CLOUD_API_KEY: '',
  SVC_CLOUD_SECRET_KEY: '',
  SVC_CLOUD_API_URL: '',
  SVC_ENTERPRISE_URL: '',
  SVC_ENTERPRISE_USER: '',
  SVC_ENTERPRISE_PASSWORD: '',
  SVC_ENTERPRISE_INSECURE: '',
}
const save = (stack: JsonStack): readonly string[] => ['--synth-dir', saveStack(at.folder, stack)]
const both = () => jsonStack('both').subscription('sub').bdb('local')

/** Each command once, with what is wrong; all of them send requests. */
const each = async (
  env: Record<string, string>,
  check: (outcome: {code: number | null; error: {code: string; message: string; suggestions: string[]}; stderr: string}) => void,
) => {
  for (const args of [['plan'], ['apply', '--auto-approve']]) {
    const outcome = await at.fast([...args, ...save(both()), '-o', 'json', '--request-timeout', '3s'], {env})
    check({code: outcome.code, error: documentOf(outcome).error, stderr: outcome.stderr})
  }
}

describe('a connection that does not come about', () => {
  it('for want of credentials is exit 9, with the three ways to give them', async () => {
    await each(NONE, ({code, error}) => {
      expect([code, error.code, error.suggestions.length]).toEqual([9, 'E_NO_CREDENTIALS', 3])
    })
  })

  it('for wrong credentials is exit 9 and says where they came from', async () => {
    await each({SVC_CLOUD_SECRET_KEY: 'wrong-secret-xyz'}, ({code, error, stderr}) => {
      expect([code, error.code]).toEqual([9, 'E_CLOUD_UNAUTHORIZED'])
      expect(error.message).toContain('SVC_CLOUD_API_KEY')
      expect(`${JSON.stringify(error)}${stderr}`).not.toContain('wrong-secret-xyz')
    })
    await each({SVC_ENTERPRISE_PASSWORD: 'wrong-password-xyz'}, ({code, error}) => {
      expect([code, error.code, error.message]).toEqual([9, 'E_CLUSTER_UNAUTHORIZED', expect.stringContaining('SVC_ENTERPRISE_USER')])
    })
  })

  it('because nobody is there, the name is unknown, or the certificate is not trusted, is exit 13 and says what to check', async () => {
    await each({SVC_CLOUD_API_URL: 'http://127.0.0.1:9/v1'}, ({code, error}) => {
      expect([code, error.code, error.suggestions.join()]).toEqual([
        13,
        'E_CONNECTION_REFUSED',
        expect.stringContaining('Check the address'),
      ])
    })
    await each({SVC_CLOUD_API_URL: 'http://nowhere.invalid/v1'}, ({code, error}) => {
      expect([code, error.suggestions.join()]).toEqual([13, expect.stringContaining('Check')])
    })
    await each({SVC_ENTERPRISE_INSECURE: 'false'}, ({code, error}) => {
      expect([code, error.code, error.suggestions.join()]).toEqual([13, 'E_TLS', expect.stringContaining('ca_file')])
    })
  })

  it('of a profile nobody knows is exit 64', async () => {
    const outcome = await at.fast(['plan', ...save(both()), '-o', 'json', '--profile', 'nobody'])
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([64, 'E_PROFILE_UNKNOWN'])
  })
})

describe('a certificate that is not verified', () => {
  it('is a warning every time', async () => {
    for (let i = 0; i < 2; i++) expect((await at.fast(['plan', ...save(both())])).stderr).toContain('are not verified')
  })
})

describe('stacks with targets of their own', () => {
  it('speak each to the API of its profile, planned together or alone, and refuse the other way round', async () => {
    const other = await site()
    try {
      const table = (name: string, {SVC_CLOUD_API_KEY, SVC_CLOUD_SECRET_KEY, SVC_CLOUD_API_URL}: Site['env']) =>
        `[profiles.${name}]\ndeployment_type = "cloud"\napi_key = "${SVC_CLOUD_API_KEY}"\napi_secret = "${SVC_CLOUD_SECRET_KEY}"\napi_url = "${SVC_CLOUD_API_URL}"\n`
      mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
      writeFileSync(at.configFile, table('east', at.env) + table('west', other.env), {mode: 0o600})
      const stack = (name: string) =>
        jsonStack(name)
          .target({cloud: {profile: name}})
          .subscription(`in-${name}`)
      const stacks = ['--synth-dir', saveStacks(at.folder, [stack('east'), stack('west')])]
      const applied = await at.fast(['apply', ...stacks, '--stack', '*', '--auto-approve', '-o', 'json'], {env: NONE})
      expect([applied.code, documentOf(applied).summary.done]).toEqual([0, 2])
      const names = (it: Site) => it.simulator.log.filter(entry => entry.method === 'POST' && entry.path === '/subscriptions').length
      expect([names(at), names(other)]).toEqual([1, 1])
      expect((await at.fast(['plan', ...stacks, '-detailed-exitcode'], {env: NONE})).code).toBe(0)
      expect((await at.fast(['plan', ...stacks, '--stack', 'west', '-detailed-exitcode'], {env: NONE})).code).toBe(0)
      expect((await at.fast(['plan', ...stacks, '--out', 'two.plan'], {env: NONE})).code).toBe(0)
      expect((await at.fast(['apply', 'two.plan', '--auto-approve'], {env: NONE})).code).toBe(0)
    } finally {
      await other.close()
    }
  })

  it('is refused with the objects of another account in its ledger, whatever account its target names', async () => {
    const other = await site()
    try {
      other.simulator.world.cloud.account.id = 2002
      const table = (name: string, {SVC_CLOUD_API_KEY, SVC_CLOUD_SECRET_KEY, SVC_CLOUD_API_URL}: Site['env']) =>
        `[profiles.${name}]\ndeployment_type = "cloud"\napi_key = "${SVC_CLOUD_API_KEY}"\napi_secret = "${SVC_CLOUD_SECRET_KEY}"\napi_url = "${SVC_CLOUD_API_URL}"\n`
      mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
      writeFileSync(at.configFile, table('east', at.env) + table('west', other.env), {mode: 0o600})
      const run = (command: string, cloud: Readonly<Record<string, string>>, stack = jsonStack('goes').subscription('goes')) => {
        const from = ['--synth-dir', saveStacks(at.folder, [stack.target({cloud})]), '-o', 'json']
        return at.fast(
          [command, ...from, ...(command === 'apply' || command === 'destroy' ? ['--auto-approve', '--allow-destroy', '*'] : [])],
          {
            env: NONE,
          },
        )
      }
      expect((await run('apply', {profile: 'east'})).code).toBe(0)
      // Theirs has the same id.
      other.simulator.edit({path: 'cloud/subscriptions', create: {name: 'theirs'}})
      for (const command of ['plan', 'apply', 'destroy', 'drift']) {
        const refused = await run(command, {profile: 'west', account: '2002'})
        expect([command, refused.code, documentOf(refused).error?.code]).toEqual([command, 3, 'E_OTHER_ACCOUNT'])
      }
      expect(other.writes).toEqual([])
      // Of an account of which it has nothing it may come to another one.
      expect((await run('destroy', {profile: 'east'})).code).toBe(0)
      expect((await run('apply', {profile: 'west', account: '2002'})).code).toBe(0)
      expect(other.writes).toEqual(['POST /subscriptions'])
    } finally {
      await other.close()
    }
  })
})

describe('help', () => {
  it.each(['plan', 'apply', 'destroy', 'drift', 'validate', 'show', 'output', 'simulator', 'force-unlock', 'version'])(
    'of %s has at least two examples',
    async command => {
      const outcome = await at.run([command, '--help'])
      expect(outcome.code).toBe(0)
      expect(outcome.stdout.match(new RegExp(`\\$? ?svcctl ${command}`, 'g'))?.length).toBeGreaterThan(1)
    },
  )
})

describe('a read-only profile named outside', () => {
  it('holds for a stack whose code names another one: exit 3, nothing sent, in plan and apply', async () => {
    const {SVC_CLOUD_API_URL: url, SVC_CLOUD_API_KEY: key, SVC_CLOUD_SECRET_KEY: secret} = at.env
    const profile = (name: string, more = '') =>
      `[profiles.${name}]\ndeployment_type = "cloud"\napi_url = "${url}"\napi_key = "${key}"\napi_secret = "${secret}"\n${more}`
    mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
    writeFileSync(at.configFile, `${profile('look', 'mode = "read-only"\n')}${profile('write')}`, {mode: 0o600})
    const stack = save(
      jsonStack('held')
        .subscription('held')
        .target({cloud: {profile: 'write'}}),
    )
    at.simulator.clearLog()
    for (const [env, words] of [
      [{SVC_PROFILE: 'look'}, []],
      [{}, ['--profile', 'look']],
    ] as const) {
      const outcome = await at.fast(['apply', ...stack, ...words, '--auto-approve', '-o', 'json'], {env: {...NONE, ...env}})
      expect([outcome.code, JSON.stringify(documentOf(outcome)).includes('the profile \\"look\\" is read-only')]).toEqual([3, true])
    }
    expect(at.writes).toEqual([])
    expect((await at.fast(['apply', ...stack, '--auto-approve'], {env: NONE})).code).toBe(0)
  })
})
