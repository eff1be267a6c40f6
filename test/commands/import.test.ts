/** `svcctl import`: what is declared and live goes into the ledgers as it is, by real processes, and no write is ever sent. */
import {existsSync, readFileSync, writeFileSync} from 'node:fs'
import {hostname} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../src/base/clock.ts'
import {holderState, processIdentityOf} from '../../src/base/process-lock.ts'
import {systemRandom} from '../../src/base/random.ts'
import {LocalLedgerStore} from '../../src/ledger/local-store.ts'
import {importSchema} from '../../src/run/import/import-document.ts'
import {world} from '../../src/simulator/world-builder.ts'
import {documentOf, type Site, site} from '../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../support/stack-json.ts'

let at: Site
beforeEach(async () => {
  at = await site()
  world()
    .subscription('main')
    .database('cache', {memoryLimitInGb: 2, replication: true, alerts: [{name: 'dataset-size', value: 80}]})
    .user('app', {role: 'ro'})
    .database('queue', {memoryLimitInGb: 1})
    .subscription('other')
    .database('cache', {memoryLimitInGb: 4})
    .bdb('sessions')
    .into(at.simulator)
})
afterEach(() => at.close())

const CACHE = 'cloud/subscriptions/1/databases/1'
const shop = () =>
  jsonStack('shop')
    .subscription('main')
    .database('cache', 'main', {memoryLimitInGb: 2, replication: true, alerts: [{name: 'dataset-size', value: 80}]})
    .database('queue', 'main', {memoryLimitInGb: 1})

const run = (args: readonly string[], stacks: readonly JsonStack[] = [shop()], env: Record<string, string> = {}) =>
  at.fast([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'], {env})
/** Of commands that speak to no API. */
const local = (args: readonly string[], stacks: readonly JsonStack[] = [shop()]) =>
  at.run([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'])
const ledger = (stack = 'shop') => join(at.folder, `terraform.${stack}.tfstate`)
/** As another command would hold it that is still running: this process. */
const holdLock = (path: string) =>
  new LocalLedgerStore({
    path,
    stack: 'shop',
    process: processIdentityOf(hostname(), process.pid),
    stateOf: holder => holderState(holder, hostname()),
    who: 'holder',
    clock: systemClock,
    random: systemRandom,
    notice: () => {},
  }).lock(0)
const entryOf = (address: string, stack = 'shop') =>
  JSON.parse(readFileSync(ledger(stack), 'utf8')).resources.find((it: {name: string}) => `null_resource.${it.name}` === address)
    .instances[0]

describe('svcctl import', () => {
  it('takes one object by its remote path, its ids or its name in the stack, and then it is as declared', async () => {
    const outcome = await run(['import', 'null_resource.cache', CACHE])
    expect(outcome.code, outcome.stderr).toBe(0)
    expect(importSchema.safeParse(documentOf(outcome)).error).toBeUndefined()
    expect(documentOf(outcome)).toEqual({
      imported: [{stack: 'shop', address: 'null_resource.cache', kind: 'cloud.database', remoteId: CACHE, differs: []}],
      skipped: [],
      requests: {used: expect.any(Number)},
    })
    expect(documentOf(await run(['import', 'shop:null_resource.main', '1'])).imported).toMatchObject([{remoteId: 'cloud/subscriptions/1'}])
    expect(documentOf(await run(['import', 'queue', '1/2'])).imported).toMatchObject([{remoteId: 'cloud/subscriptions/1/databases/2'}])
    expect(documentOf(await run(['plan'])).summary).toMatchObject({'no-op': 3, adopt: 0, update: 0})
    const {resources} = documentOf(await local(['state', 'list']))
    expect(resources.map((it: {origin: string}) => it.origin)).toEqual(['imported', 'imported', 'imported'])
    expect(at.writes).toEqual([])
  })

  it("records live values, so that a difference is the code's and is planned as one", async () => {
    const stack = () =>
      shop().database('cache', 'main', {memoryLimitInGb: 3, replication: true, alerts: [{name: 'dataset-size', value: 90}]})
    const outcome = await run(['import', 'cache', '1/1'], [stack()])
    expect(importSchema.safeParse(documentOf(outcome)).error).toBeUndefined()
    expect(documentOf(outcome).imported[0].differs).toEqual([
      {path: '/alerts/0/value', before: 80, after: 90},
      {path: '/memoryLimitInGb', before: 2, after: 3},
    ])
    expect(JSON.parse(entryOf('null_resource.cache').attributes.triggers.spec)).toMatchObject({
      memoryLimitInGb: 2,
      replication: true,
      alerts: [{name: 'dataset-size', value: 80}],
    })
    const plan = documentOf(await run(['plan', '--target', 'cache'], [stack()]))
    expect(plan.operations.find((it: {address: string}) => it.address === 'null_resource.cache')).toMatchObject({
      action: 'update',
      cause: 'changed-in-git',
      origin: 'imported',
    })
    expect(at.writes).toEqual([])
  })

  it('takes a secret nobody can see for equal, and writes down no word of it', async () => {
    const stack = shop()
      .user('app', 'cache', {name: 'app', role: 'ro'}, {expressions: {'/password': '${var.pw}'}})
      .block('variable', {pw: {type: 'string', sensitive: true}})
    const env = {TF_VAR_pw: 'hunter2-hunter2'}
    const outcome = await run(['import', '--all'], [stack], env)
    expect([outcome.code, documentOf(outcome).imported.length], outcome.stderr).toEqual([0, 4])
    expect(outcome.stdout + outcome.stderr + readFileSync(ledger(), 'utf8')).not.toContain('hunter2')
    const plan = await run(['plan', '--detailed-exitcode'], [stack], env)
    expect([plan.code, documentOf(plan).summary['no-op']], plan.stdout).toEqual([0, 4])
    expect(at.writes).toEqual([])
  })

  it('takes pairs from a file, all or none', async () => {
    const file = join(at.folder, 'pairs.json')
    writeFileSync(file, JSON.stringify({main: '1', cache: '1/1', queue: '1/77'}))
    const refused = await run(['import', '--file', 'pairs.json'])
    expect([refused.code, documentOf(refused).error.code]).toEqual([11, 'E_IMPORT_ABSENT'])
    expect(documentOf(refused).error.problems).toEqual([
      {address: 'null_resource.queue', message: 'there is no cloud/subscriptions/1/databases/77'},
    ])
    expect(existsSync(ledger())).toBe(false)
    writeFileSync(file, JSON.stringify({main: '1', cache: '1/1', queue: '1/2'}))
    expect(documentOf(await run(['import', '--file', file])).imported.length).toBe(3)
    const again = documentOf(await run(['import', '--file', file]))
    expect([again.imported, again.skipped.map((it: {reason: string}) => it.reason)]).toEqual([
      [],
      ['cloud/subscriptions/1', CACHE, 'cloud/subscriptions/1/databases/2'].map(it => `the ledger has it: ${it}`),
    ])
  })

  it('--all takes whatever a plan would adopt, records outputs too, and says what it left', async () => {
    const stacks = () => [
      shop()
        .database('new', 'main')
        .block('output', {main: {value: '${null_resource.main.id}'}}),
      jsonStack('cluster').bdb('sessions', {name: 'sessions', memory_size: 104_857_600}),
    ]
    const outcome = await run(['import', '--all'], stacks())
    expect(outcome.code, outcome.stderr).toBe(0)
    const {imported, skipped} = documentOf(outcome)
    expect(imported.map((it: {address: string}) => it.address).sort()).toEqual([
      'null_resource.cache',
      'null_resource.main',
      'null_resource.queue',
      'null_resource.sessions',
    ])
    expect(skipped).toEqual([{address: 'shop:null_resource.new', reason: 'not there yet'}])
    const plan = documentOf(await run(['plan'], stacks()))
    expect(plan.summary).toMatchObject({'no-op': 4, create: 1, adopt: 0})
    expect(documentOf(await local(['output', '--stack', 'shop'], stacks())).main.value).toBe('cloud/subscriptions/1')
    expect(documentOf(await run(['import', '--all'], stacks())).imported).toEqual([])
    expect(at.writes).toEqual([])
  })

  it('says what is wrong: 64 undeclared, of another kind or elsewhere, 11 absent, 3 owned; and writes no ledger', async () => {
    const stacks = () => [
      shop(),
      jsonStack('b')
        .database('mine', '${data.terraform_remote_state.shop.outputs.main}')
        .block('data', {
          terraform_remote_state: {shop: {backend: 'local', config: {path: 'terraform.shop.tfstate'}}},
        }),
    ]
    const first = () => [shop().block('output', {main: {value: '${null_resource.main.id}'}}), ...stacks().slice(1)]
    expect((await run(['import', '--all', '--stack', 'shop'], first())).code).toBe(0)
    const before = readFileSync(ledger(), 'utf8')
    const more = () => [first()[0]?.database('fresh', 'main') ?? shop(), ...stacks().slice(1)]
    const cases: [number, string, readonly string[]][] = [
      [64, 'E_UNKNOWN_ADDRESS', ['fresch', '1/1']],
      [64, 'E_UNKNOWN_ADDRESS', ['cloud.database', '1/1']],
      [64, 'E_IMPORT_PAIRS', ['fresh', 'cloud/subscriptions/1']],
      [64, 'E_IMPORT_PAIRS', ['fresh', '1']],
      [64, 'E_IMPORT_PAIRS', ['fresh', '1/2/3']],
      [64, 'E_IMPORT_PAIRS', ['null_resource.*', '1/2']],
      [64, 'E_IMPORT_PAIRS', ['fresh', '2/3']],
      [11, 'E_IMPORT_ABSENT', ['fresh', '1/999']],
      [3, 'E_IMPORT_OWNED', ['fresh', '1/1']],
      [3, 'E_IMPORT_OWNED', ['mine', '1/1']],
      [3, 'E_IMPORT_OWNED', ['cache', '1/2']],
      [3, 'E_IMPORT_OWNED', ['cache', '1/999']],
      [64, 'E_MISSING_ARGUMENT', ['fresh']],
      [64, 'E_MISSING_ARGUMENT', []],
      [64, 'E_USAGE', ['fresh', '1/1', '--all']],
      [64, 'E_USAGE', ['--all', '--file', 'x.json']],
      [64, 'E_USAGE', ['--file', 'x.json']],
    ]
    for (const [code, word, args] of cases) {
      const outcome = await run(['import', ...args], more())
      expect([args, outcome.code, documentOf(outcome).error.code], outcome.stdout).toEqual([args, code, word])
    }
    expect(documentOf(await run(['import', 'fresch', '1/1'], more())).error.suggestions).toEqual(['Did you mean null_resource.fresh?'])
    for (const text of ['[]', '{"fresh": {}}', '{', '{}']) {
      writeFileSync(join(at.folder, 'bad.json'), text)
      const outcome = await run(['import', '--file', 'bad.json'], more())
      expect([text, outcome.code, documentOf(outcome).error.code]).toEqual([text, 64, 'E_IMPORT_PAIRS'])
    }
    expect(readFileSync(ledger(), 'utf8')).toBe(before)
    expect(existsSync(ledger('b'))).toBe(false)
    expect(at.writes).toEqual([])
  })

  it('says who else would mean an object that two stacks are to have, and not that it is gone', async () => {
    const one = (stack: string, name: string) => jsonStack(stack).add('cloud.database', name, {name, memoryLimitInGb: 1, subscription: 1})
    writeFileSync(join(at.folder, 'pairs.json'), JSON.stringify({'a:null_resource.x': '1/1', 'b:null_resource.y': '1/1'}))
    const {code, stdout} = await run(['import', '--file', 'pairs.json'], [one('a', 'x'), one('b', 'y')])
    expect([code, stdout]).toEqual([
      64,
      expect.stringMatching(/would mean cloud\/subscriptions\/1\/databases\/1, as [ab]:null_resource\.[xy] does/),
    ])
    expect([existsSync(ledger('a')), existsSync(ledger('b'))]).toEqual([false, false])
  })

  it('takes what the API cannot change, and nodes and settings, as they are', async () => {
    at.simulator.edit({path: `${CACHE}/acl/rules`, create: {name: 'ro', rule: '+@read ~*'}})
    at.simulator.edit({path: 'cluster/nodes/1', set: {rack_id: 'r1'}})
    const stack = () =>
      shop()
        .rule('ro', 'cache', {rule: '+@all ~*'})
        .add('cluster.node', 'first', {uid: 1, rack_id: 'r2'})
        .add('cluster.settings', 'settings', {name: 'mine'})
    const pairs = {main: '1', cache: '1/1', ro: '1/1/1', first: '1', settings: 'cluster/settings'}
    writeFileSync(join(at.folder, 'pairs.json'), JSON.stringify(pairs))
    const {imported} = documentOf(await run(['import', '--file', 'pairs.json'], [stack()]))
    expect(imported.flatMap((it: {differs: {path: string}[]}) => it.differs.map(({path}) => path)).sort()).toEqual([
      '/name',
      '/rack_id',
      '/rule',
    ])
    const plan = documentOf(await run(['plan', '--target', 'ro', '--target', 'first', '--target', 'settings'], [stack()]))
    expect(plan.operations.map((it: {cause: string}) => it.cause).sort()).toEqual([
      'as-declared',
      'as-declared',
      'changed-in-git',
      'changed-in-git',
      'no-update',
    ])
    expect(at.writes).toEqual([])
  })

  it('refuses an object that another declaration of the app means', async () => {
    const twin = shop().database('twin', 'main', {name: 'twin'})
    const outcome = await run(['import', 'twin', '1/1'], [twin])
    expect([outcome.code, documentOf(outcome).error.code], outcome.stdout).toEqual([3, 'E_IMPORT_OWNED'])
    expect(documentOf(outcome).error.message).toContain('null_resource.cache')
  })

  it('stops at two live objects of one name, naming both, and a pair settles which is meant', async () => {
    at.simulator.edit({path: 'cloud/subscriptions', create: {name: 'main'}})
    const outcome = await run(['import', '--all'])
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([3, 'E_AMBIGUOUS_IDENTITY'])
    expect(documentOf(outcome).error.message).toContain('cloud/subscriptions/1, cloud/subscriptions/3')
    expect((await run(['import', 'main', '1'])).code).toBe(0)
    expect((await run(['import', '--all'])).code).toBe(0)
    expect(documentOf(await run(['plan'])).summary).toMatchObject({'no-op': 3})
  })

  it('waits for the lock of a ledger, and leaves those of other stacks alone', async () => {
    const stacks = () => [shop(), jsonStack('b').bdb('sessions')]
    const holder = await holdLock(ledger())
    const held = await run(['import', 'cache', '1/1'], stacks())
    expect([held.code, documentOf(held).error.code]).toEqual([10, 'E_LOCKED'])
    expect(existsSync(ledger())).toBe(false)
    expect((await run(['import', 'sessions', '1'], stacks())).code).toBe(0)
    await holder()
    expect((await run(['import', 'cache', '1/1'], stacks())).code).toBe(0)
  })
})

describe('svcctl forget', () => {
  it('lets go of what was imported, sends nothing, and asks first', async () => {
    expect((await run(['import', '--all'])).code).toBe(0)
    at.simulator.clearLog()
    const asked = await local(['forget', 'cache', '--anyway'])
    expect([asked.code, documentOf(asked).error.code]).toEqual([3, 'E_NOT_CONFIRMED'])
    const declared = await local(['forget', 'cache', '--yes'])
    expect([declared.code, documentOf(declared).error.code]).toEqual([3, 'E_STILL_DECLARED'])
    const done = await local(['forget', 'cache', 'queue', '--yes', '--anyway'])
    expect(documentOf(done)).toEqual({
      forgotten: [
        {stack: 'shop', address: 'null_resource.cache', kind: 'cloud.database', remoteId: CACHE, origin: 'imported'},
        {
          stack: 'shop',
          address: 'null_resource.queue',
          kind: 'cloud.database',
          remoteId: 'cloud/subscriptions/1/databases/2',
          origin: 'imported',
        },
      ],
      requests: {used: 0},
    })
    expect(at.simulator.log).toEqual([])
  })
})
