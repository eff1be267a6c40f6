/** `undo RUN --out FILE`: the way back from a run, as a saved plan like any other. */
import {mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {undoSchema} from '../../src/run/undo/undo-document.ts'
import {type Inside, inside} from '../support/inside.ts'
import {documentOf} from '../support/site.ts'
import {type JsonStack, jsonStack, saveStack, saveStacks} from '../support/stack-json.ts'
import {startStateServer} from '../support/state-server.ts'

let at: Inside
beforeEach(async () => {
  at = await inside()
})
afterEach(() => at.close())

const DB = 'cloud/subscriptions/1/databases'
const save = (stack: JsonStack): readonly string[] => ['--synth-dir', saveStack(at.folder, stack)]

async function apply(from: readonly string[], ...more: readonly string[]) {
  const outcome = await at.fast(['apply', ...from, '--auto-approve', '--allow-destroy', '*', '-o', 'json', ...more])
  expect(outcome).toMatchObject({code: 0})
  return documentOf(outcome)
}

async function undo(run: string, ...more: readonly string[]) {
  const outcome = await at.fast(['undo', run, '--out', join(at.folder, 'undo.plan'), '-o', 'json', ...more])
  expect(outcome).toMatchObject({code: 0})
  return undoSchema.parse(documentOf(outcome))
}

const carryOut = (...more: readonly string[]) => at.fast(['apply', join(at.folder, 'undo.plan'), '--auto-approve', '-o', 'json', ...more])
const planOf = async (from: readonly string[]) => documentOf(await at.fast(['plan', ...from, '-o', 'json']))
const open = (plan: {operations: {address: string; action: string}[]}) =>
  Object.fromEntries(plan.operations.filter(it => it.action !== 'no-op').map(it => [it.address.replace('null_resource.', ''), it.action]))
const actions = (those: readonly {address: string; action: string}[]) =>
  Object.fromEntries(those.map(it => [it.address.replace('null_resource.', ''), it.action]))
const owned = (stack = 'shop'): string[] =>
  JSON.parse(readFileSync(join(at.folder, `terraform.${stack}.tfstate`), 'utf8'))
    .resources.map((it: {name: string}) => it.name)
    .sort()

const base = () =>
  jsonStack('shop')
    .subscription('main')
    .database('cache', 'main', {memoryLimitInGb: 1})
    .database('port', 'main', {port: 12_000})
    .database('old', 'main')
    .bdb('local')

describe('undo of a mixed run', () => {
  /** create, update, replace, delete, adopt, move, over both APIs */
  async function mixed() {
    const before = base().database('gone', 'main')
    const from = save(before)
    await apply(from)
    at.simulator.edit({path: DB, create: {name: 'theirs', memoryLimitInGb: 1}})
    save(
      base()
        .remove('old')
        .database('cache', 'main', {memoryLimitInGb: 3})
        .database('port', 'main', {port: 12_001})
        .database('fresh', 'main')
        .database('renamed', 'main', {name: 'old'})
        .database('theirs', 'main')
        .bdb('local', {memory_size: 209_715_200})
        .bdb('more')
        .block('moved', [{from: 'null_resource.old', to: 'null_resource.renamed'}]),
    )
    const {run} = await apply(from)
    return {run, from, before}
  }

  it('brings back all but what it lists as impossible, and leaves the code as it is', async () => {
    const {run, from, before} = await mixed()
    const done = await undo(run, '--allow-destroy', '*')
    expect(actions(done.undoable)).toEqual({
      cache: 'update',
      fresh: 'delete',
      local: 'update',
      more: 'delete',
      old: 'move',
      theirs: 'forget',
    })
    expect(done.conflicts).toEqual([])
    expect(done.impossible).toEqual([
      {stack: 'shop', address: 'null_resource.gone', kind: 'cloud.database', path: '', why: expect.stringContaining('--recreate')},
      {stack: 'shop', address: 'null_resource.port', kind: 'cloud.database', path: '', why: expect.stringContaining('--recreate')},
    ])
    expect(done.notes.join('\n')).toContain('git still declares the new values')
    expect(done.guards).toEqual([])
    // Approved by its hash, it needs no option again.
    const applied = await at.fast(['apply', join(at.folder, 'undo.plan'), '--approve', done.hash.slice(0, 12), '-o', 'json'])
    expect(applied).toMatchObject({code: 0})
    expect(documentOf(applied)).toMatchObject({converged: true, residual: []})
    expect(owned()).toEqual(['cache', 'local', 'main', 'old', 'port'])
    save(before.remove('gone').remove('port').database('port', 'main', {port: 12_001}))
    expect(open(await planOf(from))).toEqual({})
    // Of the code that was applied everything is to be done again.
    expect(at.writes.filter(it => it.startsWith('DELETE')).length).toBeGreaterThan(0)
  })

  it('makes again what was deleted or replaced where that is asked for, and says that it is empty', async () => {
    const {run, from, before} = await mixed()
    const done = await undo(run, '--allow-destroy', '*', '--recreate')
    expect(actions(done.undoable)).toMatchObject({gone: 'create', port: 'replace'})
    expect(done.undoable.filter(it => it.risk !== undefined).map(it => it.address)).toEqual(
      expect.arrayContaining(['null_resource.gone', 'null_resource.port']),
    )
    expect(done.impossible).toEqual([])
    expect(await carryOut()).toMatchObject({code: 0})
    save(before)
    expect(open(await planOf(from))).toEqual({})
  })

  it('can be undone, too', async () => {
    const {run, from} = await mixed()
    await undo(run, '--allow-destroy', '*')
    const back = documentOf(await carryOut()).run
    const again = await undo(back, '--allow-destroy', '*')
    expect(actions(again.undoable)).toEqual({cache: 'update', local: 'update', renamed: 'move', theirs: 'adopt'})
    expect(again.impossible.map(it => it.address).sort()).toEqual(['null_resource.fresh', 'null_resource.more'])
    expect(await carryOut()).toMatchObject({code: 0})
    expect(open(await planOf(from))).toEqual({fresh: 'create', more: 'create'})
  })

  it('deletes nothing that nobody has allowed, and says which option allows it', async () => {
    const {run} = await mixed()
    const done = await undo(run)
    expect(done.guards.map(it => it.code)).toContain('G_PROTECTED')
    const writes = at.writes.length
    expect(await carryOut()).toMatchObject({code: 3})
    expect(at.writes.length).toBe(writes)
    expect(await carryOut('--allow-destroy', 'null_resource.fresh', '--allow-destroy', 'null_resource.more')).toMatchObject({code: 0})
  })

  it('is a plan that show shows, and that is stale when the world has moved', async () => {
    const {run} = await mixed()
    await undo(run, '--allow-destroy', '*')
    const shown = await at.run(['show', join(at.folder, 'undo.plan')])
    expect(shown.stdout).toContain(`run ${run} changed it, and is undone`)
    const asked = await at.fast(['apply', join(at.folder, 'undo.plan')])
    expect([asked.code, asked.stdout.includes('memoryLimitInGb: 3 -> '), asked.stdout.includes('in git)')]).toEqual([3, true, false])
    at.simulator.edit({path: `${DB}/1`, set: {memoryLimitInGb: 9}})
    const writes = at.writes.length
    expect(await carryOut()).toMatchObject({code: 5})
    expect(at.writes.length).toBe(writes)
  })
})

describe('undo', () => {
  it('leaves what somebody changed since, by hand or by a later run, field by field', async () => {
    const from = save(base())
    await apply(from)
    const replicated = {memoryLimitInGb: 2, replication: true}
    save(base().database('cache', 'main', replicated).database('port', 'main', {port: 12_000, memoryLimitInGb: 2}).database('new', 'main'))
    const {run} = await apply(from)
    at.simulator.edit({path: `${DB}/1`, set: {memoryLimitInGb: 7}})
    save(
      base()
        .database('cache', 'main', replicated)
        .database('port', 'main', {port: 12_000, memoryLimitInGb: 4})
        .database('new', 'main', {replication: true}),
    )
    await apply(from, '--target', 'null_resource.port', '--target', 'null_resource.new')
    const done = await undo(run, '--allow-destroy', '*')
    expect(done.conflicts).toEqual(
      expect.arrayContaining([
        {
          stack: 'shop',
          address: 'null_resource.cache',
          kind: 'cloud.database',
          path: '/memoryLimitInGb',
          why: 'somebody has changed it since',
        },
        {stack: 'shop', address: 'null_resource.port', kind: 'cloud.database', path: '/memoryLimitInGb', why: 'a later run has changed it'},
        expect.objectContaining({address: 'null_resource.new', path: '', why: expect.stringContaining('a later run has changed it')}),
      ]),
    )
    expect(done.conflicts).toHaveLength(3)
    expect(done.undoable).toEqual([])
  })

  it('does not delete what holds something by now', async () => {
    const from = save(base())
    await apply(from)
    save(base().subscription('second').database('inner', 'second'))
    const {run} = await apply(from)
    save(base().subscription('second').database('inner', 'second').rule('late', 'inner'))
    await apply(from)
    const done = await undo(run, '--allow-destroy', '*')
    expect(done.undoable).toEqual([])
    expect(done.conflicts.map(it => [it.address, it.why])).toEqual([
      ['null_resource.second', expect.stringContaining('hangs on it by now')],
      ['null_resource.inner', 'shop:null_resource.late hangs on it by now'],
    ])
  })

  it('of a first run asks for every object that goes, and leaves nothing', async () => {
    const from = save(base().rule('all', 'cache'))
    const {run} = await apply(from)
    const asked = await undo(run)
    expect(asked.guards.flatMap(it => it.addresses).sort()).toEqual(
      ['cache', 'local', 'main', 'old', 'port'].map(it => `null_resource.${it}`),
    )
    const done = await undo(run, '--allow-destroy', '*')
    expect(actions(done.undoable)).toMatchObject({all: 'forget', main: 'delete', cache: 'delete'})
    expect(await carryOut()).toMatchObject({code: 0})
    expect(owned()).toEqual([])
  })

  it('has no way back for secrets and for ACL objects, and keeps the digests of what it leaves', async () => {
    const secrets = (password: string) => ({env: {TF_VAR_pw: password}})
    const shop = (memory_size: number) =>
      jsonStack('shop')
        .block('variable', {pw: {type: 'string', sensitive: true}})
        .subscription('main')
        .database('cache', 'main')
        .bdb('local', {memory_size}, {expressions: {'/authentication_redis_pass': '${var.pw}'}})
    const from = save(shop(104_857_600))
    const run = async (stack: JsonStack, password: string) => {
      save(stack)
      const outcome = await at.fast(['apply', ...from, '--auto-approve', '-o', 'json'], secrets(password))
      expect(outcome).toMatchObject({code: 0})
      return documentOf(outcome).run
    }
    await run(shop(104_857_600), 'first-Pw-1')
    const changed = await run(
      shop(209_715_200)
        .rule('all', 'cache')
        .user('app', 'cache', {role: 'all'}, {expressions: {'/password': '${var.pw}'}, dependsOn: ['all']}),
      'second-Pw-2',
    )
    const outcome = await at.fast(['undo', changed, '--out', join(at.folder, 'undo.plan'), '-o', 'json'], secrets('second-Pw-2'))
    const done = undoSchema.parse(documentOf(outcome))
    expect(done.impossible).toEqual(
      expect.arrayContaining([
        expect.objectContaining({address: 'null_resource.local', path: '/authentication_redis_pass'}),
        expect.objectContaining({address: 'null_resource.all', path: '', why: expect.stringContaining('delete')}),
        expect.objectContaining({address: 'null_resource.app', path: ''}),
      ]),
    )
    expect(actions(done.undoable)).toEqual({local: 'update'})
    // No variable is asked for: nothing of it is sent.
    expect(await carryOut()).toMatchObject({code: 0})
    save(shop(104_857_600))
    const {operations} = documentOf(await at.fast(['plan', ...from, '-o', 'json'], secrets('second-Pw-2')))
    expect(operations.find((it: {address: string}) => it.address === 'null_resource.local')).toMatchObject({action: 'no-op'})
    for (const file of [...readdirSync(join(at.folder, '.svcctl', 'runs')).map(it => join('.svcctl', 'runs', it)), 'undo.plan'])
      expect(readFileSync(join(at.folder, file), 'utf8')).not.toMatch(/first-Pw-1|second-Pw-2/)
  })

  it.each([
    ['keeps an object that it made when a later run has sent it another secret', 'second-Pw-2', 104_857_600, false],
    ['lets an object go that it made when later runs have left its secrets as they were', 'first-Pw-1', 104_857_600, true],
  ])('%s', async (_, password, memory_size, goes) => {
    const shop = (size: number) =>
      jsonStack('shop')
        .block('variable', {pw: {type: 'string', sensitive: true}})
        .bdb('other', {memory_size: size})
        .bdb('local', {memory_size}, {expressions: {'/authentication_redis_pass': '${var.pw}'}})
    const run = async (stack: JsonStack, secret: string) => {
      const outcome = await at.fast(['apply', ...save(stack), '--auto-approve', '-o', 'json'], {env: {TF_VAR_pw: secret}})
      expect(outcome).toMatchObject({code: 0})
      return documentOf(outcome).run
    }
    const first = await run(shop(104_857_600), 'first-Pw-1')
    await run(shop(209_715_200), password)
    const {undoable, conflicts} = await undo(first)
    expect(actions(undoable)).toEqual(goes ? {local: 'delete'} : {})
    const why = (address: string, text: string) => ({address: `null_resource.${address}`, why: expect.stringContaining(text)})
    expect(conflicts).toMatchObject([
      ...(goes ? [] : [why('local', 'may have changed its secrets')]),
      why('other', 'a later run has changed it'),
    ])
  })

  it('finds an object where a later run or a transfer has put it', async () => {
    const two = (shop: JsonStack, far: JsonStack) => saveStacks(at.folder, [shop, far])
    const far = () => jsonStack('far').subscription('away')
    const out = two(base(), far())
    const from = ['--synth-dir', out, '--stack', '*']
    await apply(from)
    two(base().database('cache', 'main', {memoryLimitInGb: 2}).bdb('local', {memory_size: 209_715_200}), far())
    const {run} = await apply(from)
    two(
      base()
        .remove('cache')
        .remove('local')
        .database('quick', 'main', {name: 'cache', memoryLimitInGb: 2})
        .block('moved', [{from: 'null_resource.cache', to: 'null_resource.quick'}]),
      far().bdb('local', {memory_size: 209_715_200}),
    )
    await apply(from)
    const done = await undo(run)
    expect(done.undoable.map(it => [it.stack, it.address, it.action])).toEqual(
      expect.arrayContaining([
        ['shop', 'null_resource.quick', 'update'],
        ['far', 'null_resource.local', 'update'],
      ]),
    )
    expect(await carryOut()).toMatchObject({code: 0})
    expect(open(await planOf(from))).toEqual({quick: 'update', local: 'update'})
  })

  it('of a run with failures is of what it did', async () => {
    const from = save(base())
    await apply(from)
    save(base().database('cache', 'main', {memoryLimitInGb: 2}).bdb('local', {memory_size: 209_715_200}))
    at.simulator.inject({
      match: {method: 'PUT', path: '/subscriptions/*/databases/*'},
      action: {type: 'fail-task', code: 'NO', message: 'not now'},
    })
    const failed = await at.fast(['apply', ...from, '--auto-approve', '-o', 'json'])
    expect(failed).toMatchObject({code: 6})
    const done = await undo(documentOf(failed).run)
    expect(actions(done.undoable)).toEqual({local: 'update'})
    expect([done.conflicts, done.impossible]).toEqual([[], []])
  })

  it('gives what was taken over with changes its values back, and takes back what was let go', async () => {
    at.simulator.edit({path: 'cluster/bdbs', create: {name: 'theirs', memory_size: 104_857_600}})
    const from = save(base())
    await apply(from)
    save(
      base()
        .remove('local')
        .bdb('theirs', {memory_size: 209_715_200})
        .block('removed', [{from: 'null_resource.local', lifecycle: {destroy: false}}]),
    )
    const {run} = await apply(from, '--adopt', '*')
    const done = await undo(run)
    expect(actions(done.undoable)).toEqual({local: 'adopt', theirs: 'update'})
    expect(done.impossible).toMatchObject([{address: 'null_resource.theirs', path: '', why: expect.stringContaining('svcctl forget')}])
    expect(await carryOut()).toMatchObject({code: 0})
    save(base())
    expect(open(await planOf(from))).toEqual({theirs: 'delete'})
  })

  it('of another account is refused', async () => {
    const from = save(base())
    const {run} = await apply(from)
    const other = {SVC_CLOUD_API_URL: at.env.SVC_CLOUD_API_URL?.replace('127.0.0.1', 'localhost') ?? ''}
    const outcome = await at.fast(['undo', run, '--out', join(at.folder, 'undo.plan'), '-o', 'json'], {env: other})
    expect(outcome).toMatchObject({code: 3, stdout: expect.stringContaining('E_PLAN_TARGET')})
  })

  it('keeps its files as long as the run is kept, and goes with it', async () => {
    const from = save(base())
    const {run} = await apply(from)
    at.later(40 * 86_400_000)
    expect(await at.run(['runs', 'prune', '--keep', '0'])).toMatchObject({code: 0})
    expect(readdirSync(join(at.folder, '.svcctl', 'runs')).filter(it => it.startsWith(run))).toEqual([])
  })

  it('takes an object back from the stack that the run gave it to', async () => {
    const out = saveStacks(at.folder, [base(), jsonStack('far').subscription('away')])
    const from = ['--synth-dir', out, '--stack', '*']
    await apply(from)
    saveStacks(at.folder, [base().remove('local'), jsonStack('far').subscription('away').bdb('local')])
    const {run} = await apply(from)
    expect(owned('far')).toEqual(['away', 'local'])
    const done = await undo(run)
    expect(done.undoable).toMatchObject([{stack: 'shop', address: 'null_resource.local', action: 'move'}])
    expect(await carryOut()).toMatchObject({code: 0})
    expect([owned('shop').includes('local'), owned('far')]).toEqual([true, ['away']])
  })

  it('knows no run of another machine, none that is unfinished, and says what is lost', async () => {
    const from = save(base())
    await apply(from)
    save(base().database('cache', 'main', {memoryLimitInGb: 2}))
    const {run} = await apply(from)
    const out = ['--out', join(at.folder, 'undo.plan')]
    expect(await at.fast(['undo', '20260101T000000000-ffffff', ...out])).toMatchObject({code: 11})
    const runs = join(at.folder, '.svcctl', 'runs')
    expect(readdirSync(runs).filter(it => it.startsWith(run))).toContain(`${run}.before.json`)
    rmSync(join(runs, `${run}.before.json`))
    const lost = await undo(run)
    expect(lost.undoable).toEqual([])
    expect(lost.impossible).toMatchObject([{address: 'null_resource.cache', why: expect.stringContaining('kept nowhere')}])
    rmSync(join(runs, `${run}.plan.json`))
    expect(await at.fast(['undo', run, ...out, '-o', 'json'])).toMatchObject({code: 11, stdout: expect.stringContaining('E_UNDO_LOST')})
    const journal = join(runs, `${run}.jsonl`)
    const lines = readFileSync(journal, 'utf8').trimEnd().split('\n')
    writeFileSync(journal, `${lines.filter(it => !it.includes('"end"')).join('\n')}\n`)
    expect(await at.fast(['undo', run, ...out, '-o', 'json'])).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('E_UNDO_UNFINISHED'),
    })
  })

  it('leaves to whoever holds an object that it is held', async () => {
    const from = save(base())
    await apply(from)
    save(base().database('cache', 'main', {memoryLimitInGb: 2}))
    const {run} = await apply(from)
    expect(await at.run(['hold', 'null_resource.cache', '--until', '1d', '--reason', 'why', ...from])).toMatchObject({code: 0})
    const done = await undo(run)
    expect(done.guards.map(it => it.code)).toEqual(['G_HELD'])
    expect(await carryOut()).toMatchObject({code: 3})
    expect(await at.run(['hold', 'lift', 'null_resource.cache', ...from])).toMatchObject({code: 0})
    expect((await undo(run)).guards).toEqual([])
    expect(await carryOut()).toMatchObject({code: 0})
  })

  it('goes back in a ledger behind HTTP too, on the machine that has made the run and on no other', async () => {
    const states = await startStateServer()
    try {
      const behind = (memoryLimitInGb: number) =>
        jsonStack('shop')
          .backend(states.backend)
          .subscription('main')
          .database('cache', 'main', {memoryLimitInGb})
          .bdb('local')
          .block('output', {size: {value: String(memoryLimitInGb)}})
      const from = save(behind(1))
      await apply(from)
      save(behind(2))
      const {run} = await apply(from)
      const elsewhere = join(at.folder, 'elsewhere')
      mkdirSync(elsewhere)
      const there = await at.fast(['undo', run, '--out', 'undo.plan'], {cwd: elsewhere})
      expect([there.code, there.stderr]).toEqual([11, expect.stringContaining('.svcctl/runs')])
      const done = await undo(run)
      expect(actions(done.undoable)).toEqual({cache: 'update'})
      // The plan goes where it is wanted: the other machine has the ledger and needs nothing else.
      expect(await at.fast(['apply', join(at.folder, 'undo.plan'), '--auto-approve'], {cwd: elsewhere})).toMatchObject({code: 0})
      expect(JSON.parse(states.state ?? '').outputs.size.value).toBe('1')
      save(behind(1))
      expect(open(await planOf(from))).toEqual({})
    } finally {
      await states.close()
    }
  })

  it('is refused as any plan is when somebody has changed the file', async () => {
    const from = save(base())
    await apply(from)
    save(base().database('cache', 'main', {memoryLimitInGb: 2}).database('new', 'main'))
    const {run} = await apply(from)
    await undo(run, '--allow-destroy', '*')
    const file = join(at.folder, 'undo.plan')
    const plan = JSON.parse(readFileSync(file, 'utf8'))
    const {hashOf} = await import('../../src/engine/plan/document.ts')
    const forged = (change: object) => {
      const other = {...plan, ...change}
      writeFileSync(file, JSON.stringify({...other, hash: hashOf(other)}))
      return carryOut()
    }
    const writes = at.writes.length
    const {undo: _, ...ordinary} = plan
    for (const change of [
      {lifts: {...plan.lifts, onDrift: 'overwrite'}},
      {lifts: {...plan.lifts, allowDestroy: []}},
      {stacks: plan.stacks.map((it: object) => ({...it, declared: 0}))},
      {destroy: true},
      {
        operations: plan.operations.map((it: {changes: {after: number}[]}) => ({
          ...it,
          changes: it.changes.map(change => ({...change, after: 5})),
        })),
      },
    ])
      expect(await forged(change)).toMatchObject({code: 3, stdout: expect.stringContaining('E_PLAN_ALTERED')})
    writeFileSync(file, JSON.stringify({...ordinary, hash: hashOf(ordinary)}))
    expect(await carryOut()).toMatchObject({code: 3, stdout: expect.stringContaining('E_PLAN_ALTERED')})
    expect(at.writes.length).toBe(writes)
  })
})

describe('outputs', () => {
  it('go back to what they were, where the audit alone was written since', async () => {
    const declared = (size: string, memoryLimitInGb: number) =>
      save(
        jsonStack('shop')
          .subscription('main')
          .block('output', {size: {value: size}})
          .database('a', 'main', {memoryLimitInGb}),
      )
    const output = () => JSON.parse(readFileSync(join(at.folder, 'terraform.shop.tfstate'), 'utf8')).outputs.size.value
    const from = declared('1', 1)
    await apply(from)
    declared('2', 2)
    const {run} = await apply(from)
    declared('2', 3)
    await at.run(['hold', 'a', '--until', '4h', '--reason', 'load test', ...from])
    expect((await at.fast(['apply', ...from, '--auto-approve', '--skip-held'])).code).toBe(6)
    await at.run(['hold', 'lift', 'a', ...from])
    const before = output()
    await undo(run)
    expect(await carryOut()).toMatchObject({code: 0})
    expect([before, output()]).toEqual(['2', '1'])
  })
})
