/** `svcctl transfer` and `svcctl state`: real processes, ledgers as files and behind HTTP, and not one request to an API. */
import {existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import type {JsonObject} from '../../src/base/json.ts'
import {killedAtItsRequests} from '../support/killed-at.ts'
import {documentOf, type Site, site} from '../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../support/stack-json.ts'
import {type StateServer, startStateServer} from '../support/state-server.ts'

let at: Site
let servers: StateServer[] = []
beforeEach(async () => {
  at = await site()
})
afterEach(async () => {
  await Promise.all(servers.map(it => it.close()))
  servers = []
  await at.close()
})

const MAIN = '${data.terraform_remote_state.a.outputs.main}'
const source = () =>
  jsonStack('a')
    .subscription('main')
    .block('output', {main: {value: '${null_resource.main.id}'}})
const destination = (name = 'b') =>
  jsonStack(name)
    .subscription('other')
    .block('data', {
      terraform_remote_state: {a: {backend: 'local', config: {path: 'terraform.a.tfstate'}}},
    })
const kept = () => [source().database('cache', 'main').rule('ro', 'cache'), destination()]
const handed = () => [source(), destination().database('cache', MAIN).rule('ro', 'cache')]

const run = (args: readonly string[], stacks: readonly JsonStack[], env: Record<string, string> = {}) =>
  at.run([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'], {env})
const fast = (args: readonly string[], stacks: readonly JsonStack[], env: Record<string, string> = {}) =>
  at.fast([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'], {env})
const owned = async (stacks: readonly JsonStack[], env = {}) =>
  documentOf(await run(['state', 'list'], stacks, env)).resources.map((it: {stack: string; address: string}) => `${it.stack}:${it.address}`)

async function started(stacks: readonly JsonStack[] = kept()): Promise<void> {
  const outcome = await fast(['apply', '--stack', '*', '--auto-approve'], stacks)
  expect(outcome.code, outcome.stderr).toBe(0)
  at.simulator.clearLog()
}

describe('svcctl transfer', () => {
  it('moves objects to the stack that declares them now: no request, and both plans are empty', async () => {
    await started()
    const outcome = await run(['transfer', 'null_resource.cache', 'ro', '--from', 'a', '--to', 'b'], handed())
    expect(outcome.code, outcome.stderr).toBe(0)
    expect(documentOf(outcome)).toEqual({
      transfer: expect.any(String),
      moved: [
        {
          from: {stack: 'a', address: 'null_resource.cache'},
          to: {stack: 'b', address: 'null_resource.cache'},
          remoteId: 'cloud/subscriptions/1/databases/1',
        },
        expect.objectContaining({to: {stack: 'b', address: 'null_resource.ro'}}),
      ],
      requests: {used: 0},
    })
    expect(at.simulator.log).toEqual([])
    expect(await owned(handed())).toEqual(['a:null_resource.main', 'b:null_resource.cache', 'b:null_resource.other', 'b:null_resource.ro'])
    const plan = documentOf(await fast(['plan'], handed()))
    expect(plan.summary).toMatchObject({'no-op': 4, adopt: 0, delete: 0, blocked: 0})
  })

  it('moves the ledger of a stack that was renamed, whose new name has none yet', async () => {
    await started([source().database('cache', 'main')])
    const renamed = () => [jsonStack('new').subscription('main').database('cache', 'main')]
    const plan = documentOf(await fast(['plan'], renamed()))
    expect(plan.operations.map((it: {reason: string}) => it.reason)[0]).toBe(
      "stack a has it: svcctl transfer 'null_resource.main' --from a --to new",
    )
    expect((await fast(['apply', '--auto-approve'], renamed())).code).toBe(3)
    const moved = await run(['transfer', '*', '--from', 'a', '--to', 'new'], renamed())
    expect([moved.code, documentOf(moved).moved.length], moved.stderr).toEqual([0, 2])
    expect(at.writes).toEqual([])
    expect(documentOf(await fast(['plan'], renamed())).summary).toMatchObject({'no-op': 2})
  })

  it('says what is in the way: 64 for a taken address or an unknown word or stack, 3 for what nobody declares there', async () => {
    await started([source().database('cache', 'main'), destination().database('cache', MAIN, {name: 'mine'})])
    const errors: [number, string, readonly string[]][] = [
      [64, 'E_ADDRESS_TAKEN', ['cache', '--from', 'a', '--to', 'b']],
      [64, 'E_UNKNOWN_ADDRESS', ['cachee', '--from', 'a', '--to', 'b']],
      [64, 'E_STACK_UNKNOWN', ['cache', '--from', 'a', '--to', 'c']],
      [64, 'E_STACK_UNKNOWN', ['cache', '--from', 'c', '--to', 'b']],
      [3, 'E_NOT_DECLARED', ['main', '--from', 'a', '--to', 'b']],
      [64, 'E_USAGE', ['*', '--from', 'a', '--to', 'b', '--as', 'null_resource.x']],
      // No address that a ledger can hold, or that a stack can declare.
      ...['bad name', '', 'x', 'a:null_resource.x', 'module.m.null_resource.x', 'null_resource.x (deposed 0123abcd)'].map(
        (as): [number, string, readonly string[]] => [64, 'E_USAGE', ['cache', '--from', 'a', '--to', 'b', '--anyway', '--as', as]],
      ),
      [64, 'E_USAGE', ['*', '--from', 'a', '--to', 'a']],
      [64, 'E_USAGE', ['cache', '--from', 'a', '--to', 'b', '--stack', 'a']],
      [64, 'E_MISSING_ARGUMENT', ['cache', '--from', 'a']],
      [64, 'E_MISSING_ARGUMENT', ['--from', 'a', '--to', 'b']],
      [64, 'E_UNKNOWN_OPTION', ['cache', '--form', 'a']],
    ]
    const stacks = [source().database('cache', 'main'), destination().database('cache', MAIN, {name: 'mine'})]
    for (const [code, word, args] of errors) {
      const outcome = await run(['transfer', ...args], stacks)
      expect([args, outcome.code, documentOf(outcome).error.code]).toEqual([args, code, word])
    }
    expect((await owned(stacks)).length).toBe(4)
    const near = await run(['transfer', 'cache', '--from', 'a', '--to', 'b', '--as', 'x'], stacks)
    expect(documentOf(near).error.suggestions).toEqual(['Did you mean --as null_resource.x?'])
    const anyway = await run(['transfer', 'main', '--from', 'a', '--to', 'b', '--anyway', '--as', 'b:null_resource.moved'], stacks)
    expect(documentOf(anyway).moved).toMatchObject([{to: {stack: 'b', address: 'null_resource.moved'}}])
    expect([anyway.code, anyway.stderr], anyway.stderr).toEqual([0, expect.stringContaining('declares null_resource.main still')])
  })

  it('that is run again has nothing to do, and says which stack has what is not where it was said to be', async () => {
    const c = jsonStack('c').subscription('third')
    const all = (stacks: readonly JsonStack[]) => [...stacks, c]
    await started(all(kept()))
    expect((await run(['transfer', 'cache', 'ro', '--from', 'a', '--to', 'b'], all(handed()))).code).toBe(0)
    const again = await run(['transfer', 'cache', 'ro', '--from', 'a', '--to', 'b'], all(handed()))
    expect([again.code, documentOf(again).moved], again.stderr).toEqual([0, []])
    expect(again.stderr).toContain('stack b has cache, ro already')
    const elsewhere = documentOf(await run(['transfer', 'cache', '--from', 'a', '--to', 'c'], all(handed()))).error
    expect([elsewhere.code, elsewhere.suggestions]).toEqual([
      'E_OWNED_ELSEWHERE',
      [expect.stringMatching(/^From there: svcctl transfer cache --from b --to c --synth-dir \S+$/)],
    ])
    const typos: [string, readonly string[]][] = [
      ['--to bb', ['--from', 'a', '--to', 'bb']],
      ['--from aa', ['--from', 'aa', '--to', 'b']],
    ]
    for (const [typo, args] of typos) {
      const {suggestions} = documentOf(await run(['transfer', 'cache', ...args], all(handed()))).error
      expect([typo, suggestions.join()]).toEqual([typo, expect.stringContaining(`Did you mean ${typo.slice(0, -1)}?`)])
    }
  })

  it('takes globs, and the file of --state where one stack has its ledger in another place', async () => {
    await started()
    const moved = await run(['transfer', '*:null_resource.c*', 'r?', '--from', 'a', '--to', 'b'], handed())
    expect([moved.code, documentOf(moved).moved.length], moved.stderr).toEqual([0, 2])
    renameSync(join(at.folder, 'terraform.b.tfstate'), join(at.folder, 'b.state'))
    const list = await run(['state', 'list', '--stack', 'b', '--state', 'b.state'], handed())
    expect(documentOf(list).resources.map((it: {address: string}) => it.address)).toEqual([
      'null_resource.cache',
      'null_resource.other',
      'null_resource.ro',
    ])
    const two = await run(['state', 'list', '--state', 'b.state'], handed())
    expect([two.code, documentOf(two).error.code]).toEqual([64, 'E_LEDGER_SHARED'])
    const back = await run(['transfer', 'ro', '--from', 'b', '--to', 'a', '--anyway', '--stack', 'b', '--state', 'b.state'], handed())
    expect(back.code, back.stderr).toBe(0)
    const forgotten = await run(['forget', 'cache', '--stack', 'b', '--state', 'b.state', '--anyway', '--yes'], handed())
    expect([forgotten.code, documentOf(forgotten).forgotten.length], forgotten.stderr).toEqual([0, 1])
    const shown = await at.run([
      'state',
      'show',
      'other',
      '--stack',
      'b',
      '--state',
      'b.state',
      '--synth-dir',
      saveStacks(at.folder, handed()),
    ])
    expect(shown.stdout).toBe(`# b:null_resource.other
kind: cloud.subscription
remoteId: cloud/subscriptions/2
origin: created
lastApplied:
    name: "other"
outputs: {}
dependsOn: []
`)
  })

  it('is refused between accounts', async () => {
    await started()
    const file = join(at.folder, 'terraform.b.tfstate')
    const ledger = JSON.parse(readFileSync(file, 'utf8'))
    ledger.svcctl.accounts.cloud.account = '4711'
    writeFileSync(file, JSON.stringify(ledger))
    const outcome = await run(['transfer', 'cache', '--from', 'a', '--to', 'b'], handed())
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([3, 'E_OTHER_ACCOUNT'])
  })

  it('is refused to a ledger of other credentials at the same address, of which nobody knows whose they are', async () => {
    await started()
    const file = join(at.folder, 'terraform.b.tfstate')
    const ledger = JSON.parse(readFileSync(file, 'utf8'))
    const {account, ...cloud} = ledger.svcctl.accounts.cloud
    ledger.svcctl.accounts.cloud = {...cloud, keyHash: 'f'.repeat(cloud.keyHash.length)}
    writeFileSync(file, JSON.stringify(ledger))
    const outcome = await run(['transfer', 'cache', '--from', 'a', '--to', 'b'], handed())
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([3, 'E_ACCOUNT_NOT_KNOWN'])
    const named = handed().map((it, i) => (i === 1 ? it.target({cloud: {account}}) : it))
    expect((await run(['transfer', 'cache', '--from', 'a', '--to', 'b'], named)).code).toBe(0)
  })

  it('to a stack that has nothing yet is refused where its credentials are not known to be of that account', async () => {
    const {SVC_CLOUD_API_URL: url, SVC_CLOUD_API_KEY: key, SVC_CLOUD_SECRET_KEY: secret} = at.env
    const profile = (name: string, address = url, id = key) =>
      `[profiles.${name}]\ndeployment_type = "cloud"\napi_url = "${address}"\napi_key = "${id}"\napi_secret = "${secret}"\n`
    mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
    const profiles = profile('east') + profile('same') + profile('west', url, 'another-key') + profile('far', 'http://127.0.0.1:9/v1')
    writeFileSync(at.configFile, profiles, {mode: 0o600})
    const env = {SVC_CLOUD_API_URL: '', SVC_CLOUD_API_KEY: '', SVC_CLOUD_SECRET_KEY: ''}
    const a = () => jsonStack('a').target({cloud: {profile: 'east'}})
    const b = (target: JsonObject) => jsonStack('b').target({cloud: target}).subscription('main')
    expect((await fast(['apply', '--stack', 'a', '--auto-approve'], [a().subscription('main'), jsonStack('b')], env)).code).toBe(0)
    const {account} = JSON.parse(readFileSync(join(at.folder, 'terraform.a.tfstate'), 'utf8')).svcctl.accounts.cloud
    const tried = async (target: JsonObject) => {
      const outcome = await run(['transfer', 'main', '--from', 'a', '--to', 'b'], [a(), b(target)], env)
      return [outcome.code, outcome.code === 0 ? '' : documentOf(outcome).error.code]
    }
    expect(await tried({profile: 'west'})).toEqual([3, 'E_ACCOUNT_NOT_KNOWN'])
    expect(await tried({profile: 'far'})).toEqual([3, 'E_OTHER_ACCOUNT'])
    expect(existsSync(join(at.folder, 'terraform.b.tfstate'))).toBe(false)
    expect(await tried({profile: 'same'})).toEqual([0, ''])
    expect((await run(['transfer', 'main', '--from', 'b', '--to', 'a'], [a().subscription('main'), jsonStack('b')], env)).code).toBe(0)
    rmSync(join(at.folder, 'terraform.b.tfstate'))
    // A rotated key, of the account that the target names.
    expect(await tried({profile: 'west', account})).toEqual([0, ''])
  })

  it('takes the account of the objects along, whoever both stacks speak to by now: the next plan says whose they are', async () => {
    const file = (stack: string) => join(at.folder, `terraform.${stack}.tfstate`)
    expect((await fast(['apply', '--stack', 'a', '--auto-approve'], [jsonStack('a').subscription('main'), jsonStack('b')])).code).toBe(0)
    const ledger = JSON.parse(readFileSync(file('a'), 'utf8'))
    Object.assign(ledger.svcctl.accounts.cloud, {account: '4711', keyHash: '0'.repeat(16)})
    writeFileSync(file('a'), JSON.stringify(ledger))
    const stacks = [jsonStack('a'), jsonStack('b').subscription('main')]
    expect((await run(['transfer', 'main', '--from', 'a', '--to', 'b'], stacks)).code).toBe(0)
    expect(JSON.parse(readFileSync(file('b'), 'utf8')).svcctl.accounts.cloud.account).toBe('4711')
    const planned = await fast(['plan', '--stack', 'b'], stacks)
    expect([planned.code, documentOf(planned).error.code]).toEqual([3, 'E_OTHER_ACCOUNT'])
  })

  for (const [from, to] of [
    ['local', 'http'],
    ['http', 'local'],
    ['http', 'http'],
  ] as const)
    it(`that is killed at any request of a transfer from ${from} to ${to} is finished by the next command that locks`, {
      timeout: 300_000,
    }, async () => {
      const placed = async (stack: JsonStack, where: 'local' | 'http') => {
        if (where === 'local') return {stack, server: undefined}
        const server = await startStateServer()
        servers.push(server)
        return {
          stack: stack.backend(server.backend),
          server,
        }
      }
      const a = await placed(jsonStack('a').subscription('main').database('cache', 'main'), from)
      const b = await placed(jsonStack('b').subscription('other'), to)
      await started([a.stack, b.stack])
      const states = [a.server?.state, b.server?.state]
      const files = ['a', 'b'].map(it => join(at.folder, `terraform.${it}.tfstate`))
      const texts = files.map(it => (existsSync(it) ? readFileSync(it) : undefined))
      a.stack.remove('cache')
      b.stack.add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1, subscription: '1'})
      const both = [a.stack, b.stack]
      const all = [a.server, b.server].filter(it => it !== undefined)

      const {requests, versions} = await killedAtItsRequests(
        {
          servers: all,
          begin: () => {
            for (const [i, server] of [a.server, b.server].entries()) {
              if (server === undefined) continue
              server.state = states[i]
              server.lock = undefined
            }
            for (const [i, file] of files.entries()) if (texts[i] !== undefined) writeFileSync(file, texts[i])
          },
          start: () =>
            at.start(['transfer', 'cache', '--from', 'a', '--to', 'b', '--synth-dir', saveStacks(at.folder, both)], {asItIs: true}),
          version: () => {
            const left = [...all.map(it => it.state ?? ''), ...files.map(it => (existsSync(it) ? readFileSync(it, 'utf8') : ''))]
            return left.map(it => [it.includes('"cache"'), it.includes('"transfer"'), it.includes('"gone"')].join()).join(' ')
          },
        },
        async where => {
          for (const stack of ['a', 'b']) {
            const plan = documentOf(await fast(['plan', '--stack', stack], both))
            expect(plan.summary, where).toMatchObject({delete: 0, create: 0, replace: 0, update: 0, adopt: 0})
          }
          const resumed = await run(['transfer', '--resume'], both)
          expect(resumed.code, resumed.stderr).toBe(0)
          const names = await owned(both)
          expect(
            names.filter((it: string) => it.endsWith('null_resource.cache')),
            where,
          ).toHaveLength(1)
        },
      )
      expect(requests).toBeGreaterThan(5)
      expect(versions).toBeGreaterThanOrEqual(3)
      expect(at.writes).toEqual([])
    })
})

describe('what a killed transfer left', () => {
  it('is brought to its end by an apply of either stack, and marked entries are never deleted', async () => {
    await started()
    const file = join(at.folder, 'terraform.b.tfstate')
    const ledger = JSON.parse(readFileSync(file, 'utf8'))
    const cache = JSON.parse(readFileSync(join(at.folder, 'terraform.a.tfstate'), 'utf8')).resources.find(
      (it: {name: string}) => it.name === 'cache',
    )
    cache.instances[0].attributes.triggers.transfer = 't1 a:null_resource.cache'
    ledger.resources.push(cache)
    writeFileSync(file, JSON.stringify(ledger))
    const plan = documentOf(await fast(['plan', '--stack', 'b', '--allow-destroy', '*'], kept()))
    expect(plan.operations.find((it: {address: string}) => it.address === 'null_resource.cache')).toMatchObject({
      action: 'blocked',
      wants: 'delete',
    })
    const outcome = await fast(['apply', '--stack', 'a', '--auto-approve', '--skip-blocked'], handed())
    expect(outcome.stderr).toContain('transfer t1 had not come to its end')
    expect(await owned(handed())).toEqual(['a:null_resource.main', 'a:null_resource.ro', 'b:null_resource.cache', 'b:null_resource.other'])
    expect(at.writes).toEqual([])
  })
})

describe('svcctl state', () => {
  it('lists, shows and forgets what ledgers have; secrets are marks', async () => {
    const stacks = (declared = true) => {
      const it = jsonStack('a')
        .block('variable', {pw: {type: 'string', sensitive: true}})
        .subscription('main')
        .database('cache', 'main', {}, {outputs: ['publicEndpoint']})
      return [declared ? it.user('u', 'cache', {role: 'x'}, {expressions: {'/password': '${var.pw}'}}) : it, destination()]
    }
    const secret = {TF_VAR_pw: 'geheim-12345'}
    expect((await fast(['apply', '--stack', '*', '--auto-approve'], stacks(), secret)).code).toBe(0)
    at.simulator.clearLog()
    expect(await owned(stacks())).toEqual(['a:null_resource.cache', 'a:null_resource.main', 'a:null_resource.u', 'b:null_resource.other'])
    const list = documentOf(await run(['state', 'list', 'null_resource.*a*', '--stack', 'a'], stacks()))
    expect(list.resources[0]).toEqual({
      stack: 'a',
      address: 'null_resource.cache',
      kind: 'cloud.database',
      remoteId: 'cloud/subscriptions/1/databases/1',
      origin: 'created',
    })
    const shown = await run(['state', 'show', 'a:null_resource.u'], stacks())
    expect(documentOf(shown).resource).toMatchObject({remoteId: expect.any(String), lastApplied: {name: 'u', password: {secret: true}}})
    expect(shown.stdout).not.toMatch(/geheim|scrypt/)
    expect(documentOf(await run(['state', 'show', 'cache'], stacks())).resource.outputs.publicEndpoint).toContain(':')
    const text = await at.run(['state', 'show', 'a:null_resource.u', '--synth-dir', saveStacks(at.folder, stacks())])
    expect(text.stdout.split('\n').slice(0, 8)).toEqual([
      '# a:null_resource.u',
      'kind: cloud.acl_user',
      expect.stringMatching(/^remoteId: cloud\/subscriptions\/1\/databases\/1\/acl\/users\/\d+$/),
      'origin: created',
      'lastApplied:',
      '    name: "u"',
      '    role: "x"',
      '    password: (secret)',
    ])

    const declared = await run(['state', 'rm', 'null_resource.u', '--yes'], stacks())
    expect([declared.code, documentOf(declared).error.code]).toEqual([3, 'E_STILL_DECLARED'])
    expect((await run(['forget', 'null_resource.u'], stacks(false))).code).toBe(3)
    const forgotten = await run(['forget', 'null_resource.u', '--yes'], stacks(false))
    expect([forgotten.code, documentOf(forgotten).forgotten]).toEqual([
      0,
      [expect.objectContaining({stack: 'a', address: 'null_resource.u'})],
    ])
    const anyway = await run(['state', 'rm', 'b:other', '--yes', '--anyway'], stacks(false))
    expect([anyway.code, await owned(stacks(false))]).toEqual([0, ['a:null_resource.cache', 'a:null_resource.main']])
    const moved = await run(['state', 'mv', 'cache', '--from', 'a', '--to', 'b', '--anyway'], stacks(false))
    expect([moved.code, await owned(stacks(false))]).toEqual([0, ['a:null_resource.main', 'b:null_resource.cache']])
    expect(at.simulator.log).toEqual([])
  })

  it('shows a ledger that a renamed stack left behind', async () => {
    await started([source()])
    renameSync(join(at.folder, 'terraform.a.tfstate'), join(at.folder, 'kept.tfstate'))
    expect(await owned([destination()])).toEqual(['a:null_resource.main'])
  })

  it('shows one that Terraform has rewritten since, and leaves what it has alone', async () => {
    await started([source()])
    const file = join(at.folder, 'terraform.a.tfstate')
    const {svcctl: _, ...state} = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({...state, terraform_version: '1.11.4'}))
    writeFileSync(join(at.folder, 'terraform.real.tfstate'), JSON.stringify({...state, resources: []}))
    const renamed = () => [jsonStack('new').subscription('main')]
    expect(await owned(renamed())).toEqual(['a:null_resource.main'])
    expect(documentOf(await fast(['plan'], renamed())).summary).toMatchObject({blocked: 1, adopt: 0})
  })
})
