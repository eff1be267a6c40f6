/** What a dead run left behind: looked up together, waited for as its own run would have, and withheld where nobody can tell. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {AppError} from '../../../src/base/errors.ts'
import {OperationTimeoutError} from '../../../src/engine/apply/apply-errors.ts'
import type {Undecided} from '../../../src/engine/apply/recovery.ts'
import {heldOperations} from '../../../src/engine/apply/undecided.ts'
import type {Backend, SeenTask} from '../../../src/engine/model/backend.ts'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import type {BuiltPlan} from '../../../src/engine/plan/build.ts'
import {applyUntilCrash, settle} from '../../support/crash.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

/** Every create of these was sent, and no answer came. */
function sent({plan}: BuiltPlan, kind: string, path: string, at: number, taskIds: readonly string[] = []): JournalEntry[] {
  return plan.operations
    .filter(it => it.kind === kind && it.action !== 'no-op')
    .flatMap((it, i): JournalEntry[] => {
      const key = `shop:${it.address}`
      const name = it.name === undefined ? {} : {name: it.name}
      const taskId = taskIds[i]
      return [
        {type: 'sent', key, step: 'create', kind, method: 'POST', path, ...name, at},
        ...(taskId === undefined ? [] : [{type: 'handle' as const, key, step: 'create' as const, taskId}]),
      ]
    })
}

/** A plan from which everything was made, and a ledger and a journal that do not know it. */
async function madeAndForgotten(lab: Lab, before: StackBuilder, after: StackBuilder): Promise<BuiltPlan> {
  await lab.apply([before])
  const built = await lab.plan([after])
  const {ledger} = lab.store('shop')
  const entries = new Map(ledger.entries)
  await lab.execute(built, [after])
  lab.store('shop').ledger = {...ledger, entries}
  return built
}

const databases = (count: number) => {
  const builder = stackOf().subscription('main')
  for (let i = 0; i < count; i++) builder.database(`db-${i}`, 'main')
  return builder
}
it('what a dead run has deleted just now is not taken for somebody’s that a list shows still', async () => {
  const lab = new Lab({simulator: {cloud: {taskMs: 1000, readyMs: 0, listLagMs: 1800}}})
  const exclusive = () => stackOf().subscription('main', {}, {exclusive: ['databases']})
  await lab.run(async () => {
    await lab.apply([exclusive().database('cache', 'main')])
    await lab.clock.sleep(60_000)
    const built = await lab.plan([exclusive()])
    let at = 0
    // Up to where its end is in the journal, and not in the ledger.
    while (lab.journal.at(-1)?.type !== 'settled')
      expect(await applyUntilCrash(lab, built, [exclusive()], at++, 'after an entry')).toBe(true)
    lab.simulator.clearLog()
    await settle(lab, built, [exclusive()])
    expect((await lab.plan([exclusive()])).plan.operations.map(it => it.action)).toEqual(['no-op'])
  })
})

it('what was made is the run’s own, too, where it came to nothing', async () => {
  const lab = new Lab({simulator: {cloud: {taskMs: 1000, readyMs: 1000}}})
  await lab.run(async () => {
    await lab.apply([SUBSCRIPTION])
    await lab.clock.sleep(60_000)
    const built = await lab.plan([databases(1)])
    lab.simulator.inject({match: {method: 'POST'}, action: {type: 'end-status'}})
    expect(await applyUntilCrash(lab, built, [databases(1)], 0, 'journaled')).toBe(true)
    const {failed, found, unknown} = await settle(lab, built, [databases(1)])
    expect([failed.map(it => it.error.code), found, unknown]).toEqual([['E_OBJECT_FAILED'], [], []])
    expect(lab.entry('shop', 'db-0')?.remoteId).toBe('cloud/subscriptions/1/databases/1')
  })
})

it.each([
  ['as it was', 600_000],
  ['as on its way for a while', 600_000],
  ['as on its way for longer than may be', 15_000],
] as const)(
  'what a dead run has deleted stays in the ledger where it is there still, whatever its task said: %s',
  async (how, timeoutMs) => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1000, readyMs: 1000}}})
    const none = [SUBSCRIPTION]
    await lab.run(async () => {
      await lab.apply([databases(1)])
      await lab.clock.sleep(60_000)
      const built = await lab.plan(none)
      const answered = (status: number, body: Record<string, string | number>) => ({type: 'status', status, body}) as const
      lab.simulator.inject(
        {match: {method: 'DELETE'}, action: answered(202, {taskId: 'its', status: 'processing'})},
        {match: {path: '/tasks/its'}, action: answered(200, {taskId: 'its', status: 'completed'})},
      )
      const itself = {method: 'GET', path: '/subscriptions/1/databases/1'}
      const going = answered(200, {databaseId: 1, name: 'db-0', status: 'delete-pending'})
      if (how !== 'as it was') lab.simulator.inject({match: itself, times: 2, action: going})
      expect(await applyUntilCrash(lab, built, none, 0, 'journaled')).toBe(true)
      const {void: nothing, unknown} = await settle(lab, built, none, {timeoutMs})
      const isOver = timeoutMs > 60_000
      expect([nothing.length, unknown.map(it => it.error.message)]).toEqual(
        isOver ? [1, []] : [0, [expect.stringContaining('still waiting for cloud/subscriptions/1/databases/1 to be gone')]],
      )
      expect(lab.entry('shop', 'db-0')).toBeDefined()
      expect((await lab.plan(none)).plan.operations.map(it => it.action)).toEqual(['delete', 'no-op'])
    })
  },
)

it.each([
  ['made first', true, 2, 'delete'],
  ['made last', false, 5, 'forget'],
] as const)('a run whose plan is gone loses nothing that it was replacing: %s', async (_, createBeforeDestroy, at, next) => {
  const lab = new Lab({simulator: {cloud: {taskMs: 1000, readyMs: 1000}}})
  const shop = (name: string, port: number) => [
    stackOf().subscription('main').database('cache', 'main', {name, port}, {createBeforeDestroy}),
  ]
  await lab.run(async () => {
    await lab.apply(shop('one', 12_000))
    await lab.clock.sleep(60_000)
    const built = await lab.plan(shop('two', 12_001))
    // Its create has come to its end.
    expect(await applyUntilCrash(lab, built, shop('two', 12_001), at, 'after an entry')).toBe(true)
    await lab.clock.sleep(60_000)
    await settle(lab, {...built, plan: {...built.plan, operations: []}}, shop('two', 12_001))
    const {plan} = await lab.plan(shop('two', 12_001))
    const [one, two] = [1, 2].map(it => `cloud/subscriptions/1/databases/${it}`)
    expect(plan.operations.map(it => [it.action, it.remoteId])).toEqual(
      expect.arrayContaining([
        ['adopt', two],
        [next, one],
      ]),
    )
  })
})

const SUBSCRIPTION = stackOf().subscription('main')
const DATABASES = '/subscriptions/1/databases'

it('somebody who only looks, at lists that are answered by tasks, keeps no change undecided', async () => {
  const lab = new Lab({simulator: {cloud: {taskMs: 5000}}})
  await lab.run(async () => {
    await lab.apply([databases(1)])
    await lab.clock.sleep(60_000)
    const built = await lab.plan([SUBSCRIPTION])
    const remoteId = lab.entry('shop', 'db-0')?.remoteId ?? ''
    const sending = {type: 'sent', key: 'shop:null_resource.db-0', step: 'delete', kind: 'cloud.database', method: 'DELETE'} as const
    lab.journal = [{...sending, path: '/subscriptions/1/databases/1', remoteId, at: lab.clock.now()}]
    const looking: SeenTask = {id: 'look', state: 'running', status: 'processing', commandType: 'databasesGetRequest'}
    const backend = lab.backends('full')('', 'cloud')
    const busy: Backend = {
      ...backend,
      spending: backend.spending,
      tasks: async options => ({complete: true, tasks: [...((await backend.tasks(options))?.tasks ?? []), looking]}),
    }
    const recovered = await settle(lab, built, [SUBSCRIPTION], {backendOf: () => busy})
    expect(recovered).toMatchObject({unknown: [], void: ['shop:null_resource.db-0']})
  })
})

describe('forty creates that nobody heard of again', () => {
  const quick = {simulator: {cloud: {taskMs: 100, readyMs: 0, listLagMs: 0}}}

  it('are found with one look at their collection, however many they are', async () => {
    const requests = async (count: number) => {
      const lab = new Lab(quick)
      return lab.run(async () => {
        const at = lab.clock.now()
        const built = await madeAndForgotten(lab, SUBSCRIPTION, databases(count))
        lab.journal = sent(built, 'cloud.database', DATABASES, at)
        lab.simulator.clearLog()
        const {found, unknown} = await settle(lab, built, [databases(count)])
        expect([found.length, unknown]).toEqual([count, []])
        return lab.requests
      })
    }
    expect(await requests(40)).toEqual([expect.stringMatching(/^GET \/subscriptions\/1\/databases/)])
    expect(await requests(4)).toHaveLength(1)
  })

  it('and never arrived are looked for twice, all together', async () => {
    const requests = async (count: number) => {
      const lab = new Lab(quick)
      return lab.run(async () => {
        await lab.apply([SUBSCRIPTION])
        const built = await lab.plan([databases(count)])
        lab.journal = sent(built, 'cloud.database', DATABASES, lab.clock.now())
        lab.simulator.clearLog()
        expect((await settle(lab, built, [databases(count)])).void).toHaveLength(count)
        return lab.requests
      })
    }
    const forty = await requests(40)
    // Each look at the tasks comes with the proof that it shows all of them.
    expect([forty.filter(it => it.startsWith('GET /tasks')).length, forty.length]).toEqual([4, 6])
    expect(await requests(4)).toEqual(forty)
  })

  it('whose tasks are known and over cost one look at the tasks and one at the collection', async () => {
    const lab = new Lab(quick)
    await lab.run(async () => {
      const at = lab.clock.now()
      const built = await madeAndForgotten(lab, SUBSCRIPTION, databases(40))
      const taskIds = lab.journal.flatMap(it => (it.type === 'handle' ? [it.taskId] : []))
      lab.journal = sent(built, 'cloud.database', DATABASES, at, taskIds)
      lab.simulator.clearLog()
      expect((await settle(lab, built, [databases(40)])).found).toHaveLength(40)
    })
    expect(lab.requests.map(it => it.replace(/\?.*/, '').replace(/^GET /, ''))).toEqual(['/tasks', DATABASES])
  })
})

describe('a create in doubt', () => {
  const peered = stackOf().subscription('main').database('a', 'main').database('b', 'main').peering('net', 'main')

  /** A task list that does not say what its tasks do. */
  function mute(backend: Backend): Backend {
    const bare = ({commandType: _, ...task}: SeenTask): SeenTask => task
    return {
      name: backend.name,
      spending: backend.spending,
      now: backend.now,
      reader: backend.reader,
      write: (...given) => backend.write(...given),
      task: (...given) => backend.task(...given),
      tasks: async options => {
        const list = await backend.tasks(options)
        return list && {...list, tasks: list.tasks.map(bare)}
      },
    }
  }

  it('is told from the tasks of others that the same recovery has found', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1000, readyMs: 0, listLagMs: 0}}})
    await lab.run(async () => {
      await lab.apply([SUBSCRIPTION])
      await lab.clock.sleep(120_000)
      const at = lab.clock.now()
      const built = await lab.plan([peered])
      const {ledger} = lab.store('shop')
      const entries = new Map(ledger.entries)
      // The databases arrived, the peering did not, and their tasks are over.
      await lab.execute(built, [peered], {stop: new AbortController().signal, limits: {}})
      const made = lab.simulator.world.cloud.subscriptions['1']?.children.peerings ?? {}
      for (const id of Object.keys(made)) delete made[id]
      for (const [id, task] of Object.entries(lab.simulator.world.cloud.tasks))
        if (/peering/i.test(task.command)) delete lab.simulator.world.cloud.tasks[id]
      lab.store('shop').ledger = {...ledger, entries}
      lab.journal = [...sent(built, 'cloud.peering', '/subscriptions/1/peerings', at), ...sent(built, 'cloud.database', DATABASES, at)]
      const real = lab.backends('full')
      const cloud = mute(real('', 'cloud'))
      const {
        found,
        void: never,
        unknown,
      } = await settle(lab, built, [peered], {backendOf: (_, api) => (api === 'cloud' ? cloud : real('', api))})
      expect(found.map(it => it.key).sort()).toEqual(['shop:null_resource.a', 'shop:null_resource.b'])
      expect([never, unknown]).toEqual([['shop:null_resource.net'], []])
    })
  })
})

describe('an object that a dead run is still making', () => {
  const story = stackOf().subscription('main').database('cache', 'main').rule('ro', 'cache')

  it('is there once its task is done, whatever a list that lags shows: it is looked for, and never made twice', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 0}}})
    await lab.run(async () => {
      const built = await lab.plan([SUBSCRIPTION])
      lab.simulator.configure({cloud: {taskResourceId: false, listLagMs: 60_000}})
      const first = await lab.execute(built, [SUBSCRIPTION], {timeoutMs: 2_000})
      expect(first.ended.map(it => it.error?.code)).toEqual(['E_OPERATION_TIMEOUT'])
      const {unknown, void: none} = await settle(lab, built, [SUBSCRIPTION], {timeoutMs: 2_000})
      expect(none).toEqual([])
      expect(unknown).toMatchObject([{key: 'shop:null_resource.main', error: {code: 'E_OUTCOME_UNKNOWN', exit: 6}}])
      await lab.clock.sleep(20_000)
      expect((await settle(lab, built, [SUBSCRIPTION], {timeoutMs: 2_000})).found).toHaveLength(1)
      expect((await lab.apply([SUBSCRIPTION])).summary).toMatchObject({done: 0, failed: 0})
    })
    expect(lab.writes).toEqual(['POST /subscriptions'])
  })

  it.each(['empty', 'no-content'] as const)('is there once it was taken on without a task (%s)', async synchronousAnswer => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 0, asynchronous: false, synchronousAnswer}}})
    await lab.run(async () => {
      const built = await lab.plan([SUBSCRIPTION])
      lab.simulator.configure({cloud: {listLagMs: 60_000}})
      const first = await lab.execute(built, [SUBSCRIPTION], {timeoutMs: 2_000})
      expect(first.ended.map(it => it.error?.code)).toEqual(['E_OPERATION_TIMEOUT'])
      const {unknown, void: none} = await settle(lab, built, [SUBSCRIPTION], {timeoutMs: 2_000})
      expect(none).toEqual([])
      expect(unknown).toMatchObject([{key: 'shop:null_resource.main', error: {code: 'E_OUTCOME_UNKNOWN', exit: 6}}])
      await lab.clock.sleep(20_000)
      await settle(lab, built, [SUBSCRIPTION], {timeoutMs: 2_000})
      expect((await lab.apply([SUBSCRIPTION])).summary).toMatchObject({done: 0, failed: 0})
    })
    expect(lab.writes).toEqual(['POST /subscriptions'])
  })

  it('is the one that the answer named, where no task was needed', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 60_000, asynchronous: false, synchronousAnswer: 'object'}}})
    await lab.run(async () => {
      const built = await lab.plan([SUBSCRIPTION])
      const {ledger} = lab.store('shop')
      await lab.execute(built, [SUBSCRIPTION])
      lab.store('shop').ledger = ledger
      lab.journal = lab.journal.filter(it => it.type === 'sent' || it.type === 'accepted')
      const {found} = await settle(lab, built, [SUBSCRIPTION], {timeoutMs: 2_000})
      expect(found).toEqual([{key: 'shop:null_resource.main', remoteId: 'cloud/subscriptions/1'}])
    })
    expect(lab.writes).toEqual(['POST /subscriptions'])
  })

  it('counts as gone again when it is still not shown a quarter of an hour after it was sent', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 0}}})
    await lab.run(async () => {
      const built = await lab.plan([SUBSCRIPTION])
      lab.simulator.configure({cloud: {taskResourceId: false, listLagMs: 60_000}})
      await lab.execute(built, [SUBSCRIPTION], {timeoutMs: 2_000})
      lab.simulator.edit({path: 'cloud/subscriptions/1', delete: true})
      await lab.clock.sleep(16 * 60_000)
      expect((await settle(lab, built, [SUBSCRIPTION])).void).toEqual(['shop:null_resource.main'])
    })
  })

  it.each([
    ['its task was over', undefined],
    ['its answer was lost', {match: {method: 'POST'}, times: 1, action: {type: 'drop-after-effect'}}],
  ] as const)('never was, for whoever comes later, where what it is in is gone (%s)', async (_, fault) => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, taskResourceId: false, taskList: {served: false}}}})
    const peered = () => stackOf().subscription('main').peering('link', 'main')
    await lab.run(async () => {
      await lab.apply([SUBSCRIPTION])
      const built = await lab.plan([peered()])
      lab.simulator.configure({cloud: {listLagMs: 600_000}})
      if (fault) lab.simulator.inject(fault)
      await lab.execute(built, [peered()], {timeoutMs: 2_000})
      expect((await settle(lab, built, [peered()], {timeoutMs: 2_000})).unknown).toHaveLength(1)
      lab.simulator.edit({path: 'cloud/subscriptions/1', delete: true})
      expect(await settle(lab, built, [peered()], {timeoutMs: 2_000})).toMatchObject({unknown: [], void: ['shop:null_resource.link']})
    })
  })

  it.each([
    ['its task runs', {taskMs: 600_000, readyMs: 0}],
    ['it is not ready', {taskMs: 1, readyMs: 600_000}],
  ])('is waited for; when that takes longer than it may, nothing is done to it nor to what hangs on it (%s)', async (_, cloud) => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 0}}})
    await lab.run(async () => {
      await lab.apply([SUBSCRIPTION])
      const built = await lab.plan([story])
      lab.simulator.configure({cloud})
      const first = await lab.execute(built, [story], {timeoutMs: 2_000})
      expect(first.ended.map(it => [it.operation.kind, it.state])).toContainEqual(['cloud.database', 'failed'])
      lab.simulator.clearLog()
      const {unknown} = await settle(lab, built, [story], {timeoutMs: 1_000})
      expect(unknown).toMatchObject([{key: 'shop:null_resource.cache', error: {code: 'E_OPERATION_TIMEOUT', exit: 12}}])
      const {journal} = lab
      const next = await lab.apply([story], {undecided: unknown})
      lab.journal = journal
      const ends = next.ended.map(it => [it.operation.kind, it.state, it.error?.code ?? it.because])
      expect(ends.sort()).toEqual([
        ['cloud.acl_rule', 'skipped', 'shop:null_resource.cache'],
        ['cloud.database', 'failed', 'E_OPERATION_TIMEOUT'],
        ['cloud.subscription', 'no-op', undefined],
      ])
      expect(lab.writes).toEqual([])
      await lab.clock.sleep(700_000)
      const {found} = await settle(lab, built, [story])
      expect(found).toHaveLength(1)
      expect((await lab.apply([story])).summary).toMatchObject({failed: 0, skipped: 0})
    })
    expect(lab.writes.filter(it => it.startsWith('POST'))).toHaveLength(1)
  })
})

describe('what nobody can tell the end of', () => {
  const one: Undecided = {
    key: 'shop:null_resource.cache',
    step: 'create',
    kind: 'cloud.database',
    name: 'cache',
    parent: ['1'],
    error: Object.assign(new Error('still running'), {code: 'E_X', exit: 6}) as unknown as Undecided['error'],
  }
  const operation = (more: Partial<Operation>): Operation =>
    ({
      stack: 'shop',
      address: 'null_resource.other',
      kind: 'cloud.database',
      action: 'create',
      cause: 'not there yet',
      reason: '',
      changes: [],
      because: [],
      edges: [],
      ...more,
    }) as unknown as Operation
  const declared = (parent: unknown, dependsOn: readonly {key: string}[] = []): {declared: NonNullable<Operation['declared']>} => ({
    declared: {spec: {}, parent, dependsOn} as unknown as NonNullable<Operation['declared']>,
  })
  const held = (it: Operation, open: Undecided = one) => heldOperations([it], [open], {kinds}).size === 1
  const inside = {by: 'remoteId', remoteId: 'cloud/subscriptions/1'}

  it.each([
    ['the object by its key, whatever is planned for it', operation({address: 'null_resource.cache', action: 'replace'}), true],
    [
      'the object under another address, found by its name',
      operation({name: 'cache', action: 'adopt', remoteId: 'cloud/subscriptions/1/databases/7'}),
      true,
    ],
    ['the object under another address, not seen yet', operation({name: 'cache', ...declared(inside)}), true],
    [
      'one of the same name somewhere else',
      operation({name: 'cache', action: 'update', remoteId: 'cloud/subscriptions/2/databases/7'}),
      false,
    ],
    [
      'one of the same name in a parent that is not there yet',
      operation({name: 'cache', ...declared({by: 'key', key: 'shop:null_resource.new'})}),
      false,
    ],
    ['one of another name', operation({name: 'queue', ...declared(inside)}), false],
    ['one that moves from it', operation({action: 'move', movedFrom: 'null_resource.cache'}), true],
    ['its child', operation({kind: 'cloud.acl_rule', name: 'ro', ...declared({by: 'key', key: 'shop:null_resource.cache'})}), true],
    ['one that reads it', operation({name: 'queue', ...declared(inside, [{key: 'shop:null_resource.cache'}])}), true],
  ])('keeps %s: %#', (_, it, expected) => {
    expect(held(it)).toBe(expected)
  })

  it('keeps nothing of another account, where the same path and the same name are other objects', () => {
    const going = {...one, step: 'delete' as const, remoteId: 'cloud/subscriptions/1/databases/7'}
    const there = [
      operation({stack: 'till', action: 'update', remoteId: 'cloud/subscriptions/1/databases/7'}),
      operation({stack: 'till', address: 'null_resource.cache', name: 'cache', ...declared(inside)}),
      operation({stack: 'till', kind: 'cloud.acl_rule', name: 'ro', ...declared({by: 'remoteId', remoteId: going.remoteId})}),
    ]
    const kept = (accountOf: (stack: string) => string) => heldOperations(there, [one, going], {kinds, accountOf}).size
    // Two of them have one key.
    expect([kept(() => 'one'), kept(it => it)]).toEqual([2, 0])
  })

  it('keeps what is below an object that is being changed or deleted', () => {
    const going = {...one, step: 'delete' as const, remoteId: 'cloud/subscriptions/1/databases/7'}
    expect(
      held(operation({kind: 'cloud.acl_rule', action: 'delete', remoteId: 'cloud/subscriptions/1/databases/7/acl/rules/1'}), going),
    ).toBe(true)
    expect(held(operation({action: 'delete', remoteId: 'cloud/subscriptions/1/databases/71'}), going)).toBe(false)
    const named = declared({by: 'remoteId', remoteId: 'cloud/subscriptions/1/databases/7'})
    expect(held(operation({kind: 'cloud.acl_rule', name: 'ro', ...named}), going)).toBe(true)
    expect(
      held(operation({kind: 'cloud.acl_rule', name: 'ro', ...named}), {...going, remoteId: 'cloud/subscriptions/1/databases/71'}),
    ).toBe(false)
  })
})

describe('a move to another stack', () => {
  it('waits where nobody can tell yet what a dead run does to the object', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const main = () => stackOf('base').subscription('main')
      const of = (stack: string) =>
        stackOf(stack).add('cloud.database', 'x', {name: 'x', memoryLimitInGb: 1}, {parent: {by: 'key', key: 'base:null_resource.main'}})
      await lab.apply([main(), of('old')])
      const error = new OperationTimeoutError('update database x', 'task 1', 1000)
      const remoteId = 'cloud/subscriptions/1/databases/1'
      const undecided: Undecided[] = [{key: 'old:null_resource.x', step: 'update', kind: 'cloud.database', error, remoteId}]
      const {ended} = await lab.apply([main(), stackOf('old'), of('next')], {undecided})
      expect(ended.filter(it => it.state !== 'no-op')).toMatchObject([{operation: {action: 'move'}, state: 'failed', error}])
      expect([lab.entry('old', 'x')?.remoteId, lab.entry('next', 'x')]).toEqual([remoteId, undefined])
      const again = await lab.apply([main(), stackOf('old'), of('next')])
      expect(again.summary).toMatchObject({done: 1})
      expect(lab.entry('next', 'x')?.remoteId).toBe(remoteId)
    })
  })
})

describe('a recovery that breaks off', () => {
  it('leaves to the next one what it has found broken, and whose it is', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1000, readyMs: 0, listLagMs: 0}}})
    await lab.run(async () => {
      const parents = () => stackOf().subscription('one').subscription('two')
      const made = parents().database('a', 'one').database('b', 'two')
      const built = await madeAndForgotten(lab, parents(), made)
      lab.journal = lab.journal.filter(it => it.type === 'sent' || it.type === 'handle')
      const cloud = lab.backends('full')('', 'cloud')
      const {reader} = cloud
      // One database is broken, and of the other one nothing can be seen.
      const list: typeof reader.list = async (request, options) => {
        if (request.path === '/subscriptions/2/databases') {
          await lab.clock.sleep(5000)
          throw new AppError('the server fails', {code: 'E_SERVER', suggestions: []})
        }
        const listing = await reader.list(request, options)
        return listing && {...listing, rows: listing.rows.map(it => ({...it, status: 'error'}))}
      }
      const half: Backend = {
        name: 'cloud',
        spending: cloud.spending,
        now: cloud.now,
        write: (...given) => cloud.write(...given),
        task: (...given) => cloud.task(...given),
        tasks: (...given) => cloud.tasks(...given),
        reader: {
          list,
          read: (...given) => reader.read(...given),
          prove: (...given) => reader.prove(...given),
          forget: it => reader.forget(it),
        },
      }
      await expect(settle(lab, built, [made], {backendOf: () => half})).rejects.toThrow('the server fails')
      await settle(lab, built, [made])
      expect([lab.entry('shop', 'a'), lab.entry('shop', 'b')]).toMatchObject([{origin: 'created'}, {origin: 'created'}])
    })
  })
})

describe('a create that nobody heard of again, where no task list proves anything', () => {
  const keep = () => stackOf().subscription('main').database('keep', 'main')
  const MADE_LATE = {simulator: {cloud: {taskMs: 300_000, readyMs: 0, taskList: {served: false}}}}

  async function lost(lab: Lab): Promise<BuiltPlan> {
    lab.simulator.configure({cloud: {taskMs: 100}})
    await lab.apply([keep()])
    lab.simulator.configure(MADE_LATE.simulator)
    const now = keep().database('late', 'main')
    const built = await lab.plan([now])
    expect(await applyUntilCrash(lab, built, [now], 0, 'sent and no answer')).toBe(true)
    lab.store('shop').held()
    return built
  }

  it('is undecided where it is not sent again, with what to do, and deleted once it is there', async () => {
    const lab = new Lab(MADE_LATE)
    await lab.run(async () => {
      const built = await lost(lab)
      const isWanted = () => false
      const first = await settle(lab, built, [keep()], {isWanted})
      expect(first.void).toEqual([])
      expect(first.unknown).toMatchObject([{key: 'shop:null_resource.late', error: {code: 'E_OUTCOME_UNKNOWN', exit: 6}}])
      await lab.clock.sleep(300_000)
      const second = await settle(lab, built, [keep()], {isWanted})
      expect(second).toMatchObject({unknown: [], found: [{key: 'shop:null_resource.late'}]})
      const {plan} = await lab.plan([keep()])
      expect(plan.operations.filter(it => it.action !== 'no-op')).toMatchObject([{action: 'delete', address: 'null_resource.late'}])
    })
  })

  it('never happened where it is sent again at once: had it been made, its name would be taken', async () => {
    const lab = new Lab(MADE_LATE)
    await lab.run(async () => {
      const built = await lost(lab)
      expect(await settle(lab, built, [keep()])).toMatchObject({void: ['shop:null_resource.late'], unknown: []})
    })
  })
})
