/** Holds, freezes and broken glass, as whoever types the commands meets them. */
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {hostname} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {processIdentityOf, tryProcessLock} from '../../../src/base/process-lock.ts'
import {controlsSchema} from '../../../src/controls/document.ts'
import {lockFileOf} from '../../../src/ledger/local-store.ts'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {JsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'
import {type StateServer, startStateServer} from '../../support/state-server.ts'

const HOUR = 3_600_000

let here: Inside
const env: Record<string, string> = {}
const on = () => ['--synth-dir', join(here.folder, 'shop')]
const fast = (...words: string[]) => here.fast([...words, ...on()], {env})
const run = (...words: string[]) => here.run([...words, ...on()], {env})
const apply = (...words: string[]) => fast('apply', '--auto-approve', '-o', 'json', ...words)
const shop = (a = 1, b = 1) =>
  new JsonStack('shop').subscription('main').database('a', 'main', {memoryLimitInGb: a}).database('b', 'main', {memoryLimitInGb: b})
const declare = (stack: JsonStack) => saveStack(here.folder, stack)
const controlsFile = () => join(here.folder, 'terraform.shop.tfstate.controls.json')
const states = (document: {operations: {address: string; state: string}[]}) =>
  Object.fromEntries(document.operations.map(it => [it.address.replace('null_resource.', ''), it.state]))
const auditEvents = () =>
  readFileSync(join(here.folder, '.svcctl', 'audit', 'shop.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

beforeEach(async () => {
  here = await inside()
  for (const name of Object.keys(env)) delete env[name]
  declare(shop())
  expect((await apply()).code).toBe(0)
})
afterEach(() => here.close())

const holdA = () => run('hold', 'a', '--until', '4h', '--reason', 'load test', '--by', 'ada')
const freezeShop = (...more: string[]) => run('freeze', '--until', '4h', '--reason', 'incident 4711', '--by', 'ada', '-o', 'json', ...more)

describe('a held object', () => {
  it('refuses a plan that would change it, and says by whom, until when and why', async () => {
    expect((await holdA()).stdout).toMatch(/^shop:null_resource\.a is held until 20/)
    declare(shop(2, 2))
    const plan = documentOf(await fast('plan', '-o', 'json'))
    const held = {by: 'ada', reason: 'load test', until: expect.any(String)}
    expect(plan.operations.filter((it: {held?: unknown}) => it.held !== undefined)).toMatchObject([{address: 'null_resource.a', held}])
    expect(plan.guards).toMatchObject([{code: 'G_HELD', addresses: ['null_resource.a'], allow: '--skip-held'}])
    const refused = await apply()
    expect(refused.code).toBe(3)
    expect(documentOf(refused).error.code).toBe('E_PLAN_REFUSED')
    const text = await fast('plan')
    expect(text.stdout).toContain('held by ada until ')
    const drift = documentOf(await fast('drift', '-o', 'json'))
    expect(drift.holds).toMatchObject([{stack: 'shop', address: 'null_resource.a', ...held}])
    const report = await fast('plan', '--report', 'markdown')
    expect(report.stdout).toMatch(/Blocked, held.*held: .*load test/)
  })

  it('is left out with --skip-held, with what waits for it: exit 6, and the rest is done', async () => {
    await run('hold', 'main', '--until', '4h', '--reason', 'load test')
    declare(new JsonStack('shop').subscription('main', {name: 'renamed'}).database('a', 'main').database('b', 'main', {memoryLimitInGb: 2}))
    const done = await apply('--skip-held')
    expect(done.code).toBe(6)
    const document = documentOf(done)
    expect(states(document)).toEqual({main: 'skipped', a: 'no-op', b: expect.any(String)})
    expect(document.operations.find((it: {address: string}) => it.address === 'null_resource.main').error.code).toBe('E_HELD')
    expect(document.residual).toContain('null_resource.main')
    expect(existsSync(document.residualPlan)).toBe(true)
  })

  it('stays left out when the run of a saved plan is resumed', async () => {
    await holdA()
    declare(shop(2, 2))
    const file = join(here.folder, 'shop.plan')
    await fast('plan', '--out', file)
    const begun = await here.fast(['apply', file, '--auto-approve', '--skip-held', '--no-wait', '-o', 'json'], {env})
    expect(states(documentOf(begun))).toMatchObject({a: 'skipped'})
    const resumed = await here.fast(['apply', '--resume', documentOf(begun).run, '-o', 'json'], {env})
    expect([resumed.code, states(documentOf(resumed))], resumed.stderr).toMatchObject([6, {a: 'skipped'}])
  })

  it('keeps what it lives in from being deleted, with it or alone', async () => {
    await holdA()
    declare(new JsonStack('shop').subscription('other'))
    const plan = documentOf(await fast('plan', '-o', 'json'))
    const held = plan.operations.filter((it: {held?: unknown}) => it.held).map((it: {address: string}) => it.address)
    expect(held.sort()).toEqual(['null_resource.a', 'null_resource.main'])
    const done = await apply('--skip-held', '--allow-destroy', '*')
    expect(states(documentOf(done))).toMatchObject({a: 'skipped', main: 'skipped', b: 'done', other: 'done'})
  })

  it('stays held under the address it is renamed to, and its old address is nobody else’s', async () => {
    await holdA()
    const renamed = () =>
      new JsonStack('shop')
        .subscription('main')
        .database('b', 'main')
        .database('z', 'main', {name: 'a'})
        .block('moved', [{from: 'null_resource.a', to: 'null_resource.z'}])
    declare(renamed())
    expect((await apply()).code).toBe(3)
    const skipped = documentOf(await apply('--skip-held'))
    expect(states(skipped)).toMatchObject({z: 'skipped'})
    expect(documentOf(await run('state', 'list', '-o', 'json')).resources.map((it: {address: string}) => it.address)).toContain(
      'null_resource.a',
    )
    // Somebody breaks the glass: the object has its new address, and is held all the same.
    expect((await apply('--break-glass', 'the rename cannot wait')).code).toBe(0)
    declare(renamed().database('z', 'main', {name: 'a', memoryLimitInGb: 3}))
    expect(documentOf(await apply()).error).toMatchObject({
      problems: [{address: 'null_resource.z'}],
      message: expect.stringContaining('G_HELD'),
    })
    expect((await run('hold', 'lift', 'null_resource.z')).code).toBe(0)
    expect((await apply()).code).toBe(0)
  })

  it('whose address another object would take is not written over', async () => {
    await holdA()
    declare(
      new JsonStack('shop')
        .subscription('main')
        .database('a', 'main', {name: 'b'})
        .database('b', 'main', {name: 'a'})
        .block('moved', [
          {from: 'null_resource.a', to: 'null_resource.x'},
          {from: 'null_resource.b', to: 'null_resource.a'},
          {from: 'null_resource.x', to: 'null_resource.b'},
        ]),
    )
    const before = documentOf(await run('state', 'list', '-o', 'json')).resources
    const done = await apply('--skip-held', '--allow-destroy', '*')
    if (done.code === 6) expect(documentOf(await run('state', 'list', '-o', 'json')).resources).toEqual(before)
    else expect(done.code).not.toBe(0)
  })

  it('is told of by api before it writes to it, or deletes what it lives in', async () => {
    await holdA()
    const ledger = JSON.parse(readFileSync(join(here.folder, 'terraform.shop.tfstate'), 'utf8'))
    const idOf = (name: string): string => ledger.resources.find((it: {name: string}) => it.name === name).instances[0].attributes.id
    const warned = async (method: string, name: string) =>
      (await here.fast(['api', 'cloud', method, idOf(name).replace('cloud', ''), '--data', '{"memoryLimitInGb":1}'], {env})).stderr
    expect(await warned('put', 'a')).toContain('shop:null_resource.a is held by ada until ')
    expect(await warned('put', 'b')).not.toContain('held')
    expect(await warned('put', 'main')).not.toContain('held')
    expect((await here.fast(['api', 'cloud', 'delete', idOf('main').replace('cloud', '')], {env})).stderr).toContain(
      'null_resource.a is held',
    )
  })

  it('stays in its ledger: forget and transfer are refused', async () => {
    await holdA()
    declare(shop().remove('a'))
    const forget = await run('forget', 'a', '--yes', '-o', 'json')
    expect([forget.code, documentOf(forget).error.code]).toEqual([3, 'E_HELD_OBJECTS'])
    await run('hold', 'b', '--until', '4h', '--reason', 'as well', '--by', 'bo')
    const all = documentOf(await run('forget', '*', '--yes', '--anyway', '-o', 'json')).error.suggestions[0]
    expect(all).toMatch(/ask ada and bo, who can lift it: svcctl hold lift shop:null_resource.a shop:null_resource.b --synth-dir \S+$/)
    const both = saveStacks(here.folder, [shop().remove('a'), new JsonStack('other').database('a', '${1}')])
    const transfer = await here.run(['transfer', 'a', '--from', 'shop', '--to', 'other', '--anyway', '-o', 'json', '--synth-dir', both])
    expect([transfer.code, documentOf(transfer).error?.code]).toEqual([3, 'E_HELD_OBJECTS'])
  })

  it('is left alone by --safe-only, and is the rest', async () => {
    await holdA()
    declare(shop(2, 2))
    const file = join(here.folder, 'shop.plan')
    const hash = documentOf(await fast('plan', '--out', file, '-o', 'json')).hash
    const done = await here.fast(['apply', file, '--approve', hash, '--safe-only', '-o', 'json'], {env})
    expect(done.code).toBe(2)
    expect(states(documentOf(done))).toMatchObject({a: 'skipped', b: 'done'})
  })

  it('made after the approval refuses the approved plan, until it is lifted', async () => {
    declare(shop(2, 2))
    const file = join(here.folder, 'shop.plan')
    const hash = documentOf(await fast('plan', '--out', file, '-o', 'json')).hash
    await holdA()
    const applyFile = (...more: string[]) => here.fast(['apply', file, '--approve', hash, '-o', 'json', ...more], {env})
    const refused = await applyFile()
    expect([refused.code, documentOf(refused).error.suggestions]).toEqual([3, ['G_HELD: plan again with --skip-held']])
    await run('hold', 'lift', 'a')
    expect((await applyFile()).code).toBe(0)
  })

  it('of a plan that was approved with --skip-held stays left out when the hold is over', async () => {
    await holdA()
    declare(shop(2, 2))
    const file = join(here.folder, 'shop.plan')
    const hash = documentOf(await fast('plan', '--out', file, '--skip-held', '-o', 'json')).hash
    here.later(5 * HOUR)
    const done = await here.fast(['apply', file, '--approve', hash, '-o', 'json'], {env})
    expect(done.code).toBe(6)
    expect(states(documentOf(done))).toMatchObject({a: 'skipped', b: 'done'})
    expect((await apply()).code).toBe(0)
  })

  it('is held no more when its time is over, and may be held before it is there', async () => {
    declare(shop().database('c', 'main'))
    await run('hold', 'c', '--until', '1h', '--reason', 'not before noon')
    expect((await apply()).code).toBe(3)
    expect(documentOf(await run('hold', 'list', '-o', 'json')).holds).toMatchObject([
      {address: 'null_resource.c', reason: 'not before noon'},
    ])
    here.later(2 * HOUR)
    expect(documentOf(await run('hold', 'list', '-o', 'json')).holds).toEqual([])
    expect((await apply()).code).toBe(0)
  })

  it.each([
    [['hold', 'nothing', '--until', '1h', '--reason', 'x'], 'E_UNKNOWN_ADDRESS', 64],
    [['hold', 'a', '--until', '91d', '--reason', 'x'], 'E_DEADLINE', 64],
    [['hold', 'a', '--until', 'soon', '--reason', 'x'], 'E_DEADLINE', 64],
    [['hold', 'a', '--until', '1h', '--reason', ' '], 'E_USAGE', 64],
    [['hold', 'a', '--until', '1h'], 'E_MISSING_ARGUMENT', 64],
    [['hold', '--until', '1h', '--reason', 'x'], 'E_MISSING_ARGUMENT', 64],
    [['hold', 'lift', 'a'], 'E_NOT_HELD', 64],
    [['freeze', '--until', '1h', '--reason', 'x', '--by', ''], 'E_USAGE', 64],
    [['freeze', '--stack', 'nothing', '--until', '1h', '--reason', 'x'], 'E_STACK_UNKNOWN', 64],
    [['freeze', 'lift', 'f-1'], 'E_NO_FREEZE', 11],
    [['apply', '--auto-approve', '--break-glass', 'too short'], 'E_USAGE', 64],
  ] as const)('%j is %s, and nothing is written', async (words, code, exit) => {
    const refused = await run(...words, '-o', 'json')
    expect([refused.code, documentOf(refused).error.code]).toEqual([exit, code])
    expect(existsSync(controlsFile())).toBe(false)
  })
})

describe('a frozen stack', () => {
  it('refuses whatever would change it or its ledger: exit 3, who, until when and why', async () => {
    const {id} = documentOf(await freezeShop()).freezes[0]
    declare(shop(2, 2).remove('b'))
    const writes = here.writes.length
    const [{run: before}] = documentOf(await here.run(['runs', 'list', '-o', 'json'], {env}))
    const undo = await here.fast(['undo', before, '--out', 'undo.plan', '-o', 'json'], {env})
    expect([undo.code, documentOf(undo).error?.code]).toEqual([3, 'E_FROZEN'])
    for (const words of [
      ['apply', '--auto-approve'],
      ['destroy', '--auto-approve', '--allow-destroy', '*'],
      ['import', '--all'],
      ['forget', 'b', '--yes'],
      ['transfer', '--resume'],
    ] as const) {
      const asks = words[0] === 'forget' || words[0] === 'transfer' ? run : fast
      const refused = await asks(...words, '-o', 'json')
      expect([words[0], refused.code, documentOf(refused).error?.code]).toEqual([words[0], 3, 'E_FROZEN'])
      expect(documentOf(refused).error.message).toMatch(/^stack shop is frozen by ada until 20\S+ \(f-\w+\): incident 4711/)
    }
    expect(here.writes).toHaveLength(writes)
    expect((await run('freeze', 'lift', id)).code).toBe(0)
    expect((await apply('--allow-destroy', '*')).code).toBe(0)
  })

  it('is planned and looked at, and that says so; the plan has the hash it has without', async () => {
    declare(shop(2))
    const before = documentOf(await fast('plan', '-o', 'json'))
    await freezeShop()
    const plan = documentOf(await fast('plan', '-o', 'json'))
    expect(plan.freezes).toMatchObject([{stack: 'shop', by: 'ada', reason: 'incident 4711', strict: false}])
    expect(plan.hash).toBe(before.hash)
    expect((await fast('plan')).stdout).toContain('frozen: stack shop is frozen by ada until ')
    expect((await fast('drift')).stdout).toContain('frozen: stack shop is frozen by ada until ')
    expect(documentOf(await fast('drift', '-o', 'json')).freezes).toMatchObject([{by: 'ada'}])
  })

  it('is frozen no more when the time is over', async () => {
    await freezeShop()
    declare(shop(2))
    here.later(5 * HOUR)
    expect((await apply()).code).toBe(0)
  })

  it('is in the audit, with the lift of it and every hold', async () => {
    const {id} = documentOf(await freezeShop()).freezes[0]
    await run('freeze', 'lift', id)
    await holdA()
    const events = auditEvents().filter(it => ['freeze', 'lift', 'hold'].includes(it.event))
    expect(events).toMatchObject([
      {event: 'freeze', actor: {name: 'ada', source: 'by'}, reason: `${id}: incident 4711`},
      {event: 'lift', reason: `${id}: incident 4711`},
      {event: 'hold', actor: {name: 'ada'}, address: 'null_resource.a', reason: 'load test'},
    ])
  })

  it('is the app’s own where other ledgers lie beside it', async () => {
    declare(new JsonStack('old').subscription('former'))
    await here.fast(['apply', '--auto-approve', '--synth-dir', join(here.folder, 'old')], {env})
    expect(documentOf(await freezeShop()).freezes.map((it: {stack: string}) => it.stack)).toEqual(['shop'])
  })

  it('is told of by api before it writes to what the stack has, and to nothing else', async () => {
    await freezeShop()
    const warned = async (...words: string[]) => (await here.fast(['api', 'cloud', ...words], {env})).stderr
    const frozen = 'stack shop is frozen by ada until '
    expect(await warned('put', '/subscriptions/1/databases/2/?x=1', '--data', '{"memoryLimitInGb":1}')).toContain(frozen)
    expect(await warned('post', '/subscriptions/1/databases', '--data', '{"name":"c","memoryLimitInGb":1}', '--wait')).toContain(frozen)
    expect(await warned('get', '/subscriptions/1')).toBe('')
    expect(await warned('post', '/subscriptions', '--data', '{"name":"else"}', '--wait')).not.toContain('frozen')
    expect(await warned('put', '/subscriptions/2', '--data', '{"name":"other"}')).not.toContain('frozen')
    expect(await warned('delete', '/subscriptions/1')).toContain(frozen)
  })

  it('of several needs a name', async () => {
    const both = ['--synth-dir', saveStacks(here.folder, [shop(), new JsonStack('other').subscription('more')]), '-o', 'json']
    const words = ['freeze', '--until', '1h', '--reason', 'x']
    expect(documentOf(await here.run([...words, ...both])).error.code).toBe('E_USAGE')
    expect(documentOf(await here.run([...words, '--stack', '*', ...both])).freezes.map((it: {stack: string}) => it.stack)).toEqual([
      'shop',
      'other',
    ])
  })

  it('is written as the published schema says', async () => {
    await freezeShop('--strict')
    await holdA()
    const document = JSON.parse(readFileSync(controlsFile(), 'utf8'))
    expect(controlsSchema.parse(document)).toEqual(document)
    expect(document).toMatchObject({format: 'svcctl.controls/1', serial: 2, freezes: [{strict: true}], holds: [{by: 'ada'}]})
  })
})

describe('a freeze that comes while the lock is waited for', () => {
  it.each([
    ['import', '--all'],
    ['forget', 'b', '--anyway', '--yes'],
    ['apply', '--auto-approve'],
  ])('stops %s before it writes the ledger', async (...words) => {
    await run('forget', 'a', '--anyway', '--yes')
    const ledger = join(here.folder, 'terraform.shop.tfstate')
    const somebody = {...processIdentityOf(hostname(), process.pid), id: '1', who: 'somebody', since: ''}
    const taken = tryProcessLock(lockFileOf(ledger), somebody, () => 'alive')
    if (!taken.held) throw new Error('the ledger is locked')
    const before = readFileSync(ledger, 'utf8')
    let frozen: Promise<unknown> | undefined
    const heard = (text: string) => {
      if (!text.includes('somebody')) return
      frozen ??= freezeShop().finally(() => taken.lock.release())
    }
    const done = await here[words[0] === 'forget' ? 'run' : 'fast']([...words, '--lock-timeout', '20s', '-o', 'json', ...on()], {
      env,
      heard,
    })
    await frozen
    expect([done.code, documentOf(done).error?.code], done.stderr).toEqual([3, 'E_FROZEN'])
    expect(readFileSync(ledger, 'utf8')).toBe(before)
  })
})

describe('a frozen account', () => {
  const freezeAccount = () => here.run(['freeze', '--account', '--until', '4h', '--reason', 'quarter end', '-o', 'json'], {env})

  it('refuses every stack that speaks to it, and api warns', async () => {
    const frozen = documentOf(await freezeAccount()).freezes
    const cloud = `cloud account at ${env.SVC_CLOUD_API_URL ?? here.env.SVC_CLOUD_API_URL}`
    expect(frozen.map((it: {account: string}) => it.account)).toContain(cloud)
    declare(shop(2))
    const refused = documentOf(await apply()).error
    expect([refused.code, refused.message]).toEqual(['E_FROZEN', expect.stringContaining(`${cloud} is frozen by `)])
    expect((await run('freeze', 'list', '-o', 'table')).stdout).toContain(cloud)
    expect(documentOf(await run('forget', 'a', '--yes', '--anyway', '-o', 'json')).error.code).toBe('E_FROZEN')
    const posted = await here.fast(['api', 'cloud', 'put', '/subscriptions/1', '--data', '{"name":"main"}'], {env})
    expect(posted.stderr).toContain(`${cloud} is frozen by `)
    expect(posted.code).toBe(0)
    expect((await here.fast(['api', 'cloud', 'get', '/subscriptions'], {env})).stderr).toBe('')
    expect(documentOf(await run('freeze', 'list', '-o', 'json')).freezes).toHaveLength(frozen.length)
    const ids = frozen.map((it: {id: string}) => it.id)
    expect((await here.run(['freeze', 'lift', ...ids, '--account'], {env})).code).toBe(0)
    expect((await apply()).code).toBe(0)
  })

  it('is frozen on every machine whose profile names the same controls', async () => {
    const server = await startStateServer()
    try {
      const address = `${server.address}-controls`
      const config = join(here.folder, 'config.toml')
      const {SVC_CLOUD_API_URL: url, SVC_CLOUD_API_KEY: key, SVC_CLOUD_SECRET_KEY: secret} = here.env
      const profile = (state: string) =>
        `[profiles.prod]\ndeployment_type = "cloud"\napi_url = "${url}"\napi_key = "${key}"\napi_secret = "${secret}"\ncontrols = "${address}"\n${state}`
      writeFileSync(config, profile(''), {mode: 0o600})
      const machine = (name: string) => ({...env, SVC_CONFIG_FILE: config, SVC_STATE_DIR: join(here.folder, name)})
      const frozen = await here.run(['freeze', '--account', '--profile', 'prod', '--until', '1h', '--reason', 'x', '-o', 'json'], {
        env: machine('one'),
      })
      expect(documentOf(frozen).freezes).toMatchObject([{place: address}])
      declare(shop(2))
      const refused = await here.fast(['apply', '--auto-approve', '--profile', 'prod', '-o', 'json', ...on()], {env: machine('two')})
      expect(documentOf(refused).error.code).toBe('E_FROZEN')
    } finally {
      await server.close()
    }
  })
})

describe('the way out of several freezes', () => {
  it('names the commands that lift all of them, of an account with its profile', async () => {
    const config = join(here.folder, 'config.toml')
    const {SVC_CLOUD_API_URL: url, SVC_CLOUD_API_KEY: key, SVC_CLOUD_SECRET_KEY: secret} = here.env
    const prod = `[profiles.prod]\ndeployment_type = "cloud"\napi_url = "${url}"\napi_key = "${key}"\napi_secret = "${secret}"\n`
    const other = '[profiles.other]\ndeployment_type = "cloud"\napi_url = "http://127.0.0.1:9/v1"\napi_key = "k"\napi_secret = "other"\n'
    writeFileSync(config, `default_cloud = "other"\n${prod}${other}`, {mode: 0o600})
    Object.assign(env, {SVC_CONFIG_FILE: config, SVC_CLOUD_API_URL: '', SVC_CLOUD_API_KEY: '', SVC_CLOUD_SECRET_KEY: ''})
    await freezeShop()
    await run('freeze', '--until', '5h', '--reason', 'another one', '--by', 'bo')
    await here.run(['freeze', '--account', '--profile', 'prod', '--until', '1h', '--reason', 'quarter end', '--by', 'ada'], {env})
    const refused = documentOf(await apply('--profile', 'prod'))
    expect(refused.error.code).toBe('E_FROZEN')
    const [ofStack, ofAccount] = refused.error.suggestions.map((it: string) => it.split('svcctl ')[1]?.split(' '))
    expect(refused.error.suggestions[0]).toMatch(/ask (ada and bo|bo and ada), who can lift it/)
    expect(ofAccount.slice(3, 6)).toEqual(['--account', '--profile', 'prod'])
    expect((await here.run(ofStack, {env})).code).toBe(0)
    expect((await here.run(ofAccount, {env})).code).toBe(0)
    expect((await apply('--profile', 'prod')).code).toBe(0)
  })
})

describe('controls that cannot be read', () => {
  it('stop an apply before its first write: exit 1, and a plan says that nobody knows', async () => {
    writeFileSync(controlsFile(), '{')
    declare(shop(2))
    const writes = here.writes.length
    const refused = await apply()
    expect([refused.code, documentOf(refused).error.code]).toEqual([1, 'E_CONTROLS'])
    expect(here.writes).toHaveLength(writes)
    const plan = await fast('plan')
    expect(plan.code).toBe(0)
    expect(plan.stderr).toContain('An apply would be refused.')
  })

  it('behind http stop it, too', async () => {
    const server: StateServer = await startStateServer()
    try {
      mkdirSync(join(here.folder, 'far'))
      saveStack(here.folder, new JsonStack('far').subscription('more').backend({http: {...server.backend.http, retry_max: 0}}))
      server.controls.away = 500
      const refused = await here.fast(['apply', '--auto-approve', '-o', 'json', '--synth-dir', join(here.folder, 'far')], {env})
      expect([refused.code, documentOf(refused).error.code]).toEqual([1, 'E_CONTROLS'])
      expect(server.lock).toBeUndefined()
    } finally {
      await server.close()
    }
  })
})

describe('broken glass', () => {
  const why = 'INC-4711: the cache is down'

  it('passes holds and freezes, and stands in the audit before anything is sent', async () => {
    await holdA()
    await freezeShop()
    declare(shop(2, 2))
    const done = await apply('--break-glass', why)
    expect(done.code).toBe(0)
    expect(states(documentOf(done))).toMatchObject({a: 'done', b: 'done'})
    const events = auditEvents().map(it => it.event)
    const broken = events.lastIndexOf('break-glass')
    expect(auditEvents()[broken]).toMatchObject({reason: why})
    expect(broken).toBeLessThan(events.lastIndexOf('apply-begin'))
  })

  it('lets --safe-only do what is held and safe', async () => {
    await holdA()
    declare(shop(2, 2))
    const done = await apply('--safe-only', '--break-glass', 'the pager says so: 4711')
    expect([done.code, states(documentOf(done))], done.stderr).toMatchObject([0, {a: 'done', b: 'done'}])
  })

  it('takes no held object to another stack, where nobody would see that it is held', async () => {
    await holdA()
    const both = saveStacks(here.folder, [shop(1, 2).remove('a'), new JsonStack('other').database('a', '${1}')])
    const on = ['--synth-dir', both, '--stack', '*', '--auto-approve', '-o', 'json']
    const done = await here.fast(['apply', ...on, '--break-glass', why], {env})
    expect([done.code, documentOf(done).operations.map((it: {address: string; state: string}) => [it.address, it.state])]).toEqual([
      6,
      expect.arrayContaining([
        ['null_resource.a', 'skipped'],
        ['null_resource.b', 'done'],
      ]),
    ])
    const owned = documentOf(await here.run(['state', 'list', '-o', 'json', '--synth-dir', both], {env})).resources
    expect(owned.find((it: {address: string}) => it.address === 'null_resource.a')).toMatchObject({stack: 'shop'})
  })

  it('says of what came from another stack that it came, also where what it hangs on is held there', async () => {
    declare(shop().rule('r', 'a'))
    expect((await apply()).code).toBe(0)
    await holdA()
    const both = saveStacks(here.folder, [shop().remove('a'), new JsonStack('other').database('a', '${1}').rule('r', 'a')])
    const moving = ['--synth-dir', both, '--stack', '*', '--auto-approve', '-o', 'json']
    const done = documentOf(await here.fast(['apply', ...moving, '--break-glass', why], {env}))
    const owned = documentOf(await here.run(['state', 'list', '-o', 'json', '--synth-dir', both], {env})).resources
    const stackOf = (address: string) => owned.find((it: {address: string}) => it.address === address).stack
    expect([states(done), stackOf('null_resource.a'), stackOf('null_resource.r')]).toMatchObject([
      {a: 'skipped', r: 'done'},
      'shop',
      'other',
    ])
  })

  it('passes no strict freeze, and no other guard', async () => {
    await freezeShop('--strict')
    declare(shop(2))
    expect(documentOf(await apply('--break-glass', why)).error.suggestions.join(' ')).toContain('is strict')
    const {id} = documentOf(await run('freeze', 'list', '-o', 'json')).freezes[0]
    await run('freeze', 'lift', id)
    await holdA()
    declare(shop().remove('a'))
    const refused = documentOf(await apply('--break-glass', why)).error
    expect(refused.message).toContain('G_PROTECTED')
    expect(refused.message).not.toContain('G_HELD')
  })

  it('is broken by no pipeline that was not let', async () => {
    await freezeShop()
    declare(shop(2))
    env.CI = 'true'
    const refused = await apply('--break-glass', why)
    expect([refused.code, documentOf(refused).error.code]).toEqual([3, 'E_BREAK_GLASS'])
    env.SVC_BREAK_GLASS = '1'
    expect((await apply('--break-glass', why)).code).toBe(0)
  })

  it('passes nothing where the audit cannot be written', async () => {
    await freezeShop()
    declare(shop(2))
    rmSync(join(here.folder, '.svcctl', 'audit'), {recursive: true})
    writeFileSync(join(here.folder, '.svcctl', 'audit'), 'in the way')
    const writes = here.writes.length
    expect((await apply('--break-glass', why)).code).not.toBe(0)
    expect(here.writes).toHaveLength(writes)
  })
})
