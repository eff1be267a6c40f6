import {describe, expect, it} from 'vitest'
import type {AppError} from '../../../src/base/errors.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const GB = {memoryLimitInGb: 1}

async function refusal(lab: Lab, builders: readonly StackBuilder[], more: Planning = {}): Promise<AppError> {
  return lab.run(() =>
    lab.plan(builders, more).then(
      () => {
        throw new Error('it was planned')
      },
      error => error as AppError,
    ),
  )
}

/** `action address` of everything that is not a no-op, in execution order. */
const actions = async (lab: Lab, builders: readonly StackBuilder[], more: Planning = {}): Promise<string[]> => {
  const {plan} = await lab.plan(builders, more)
  return active(plan.operations).map(it => `${it.action} ${it.address.replace('null_resource.', '')}`)
}

describe('identity', () => {
  it('an object of the same name is adopted, and only a field that differs is sent', async () => {
    const lab = new Lab()
    world().subscription('main').database('cache', {memoryLimitInGb: 2, replication: true}).into(lab.simulator)
    const stack = stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb: 4})
    await lab.run(async () => {
      const {plan} = await lab.plan([stack])
      expect(plan.operations).toMatchObject([
        {action: 'adopt', remoteId: 'cloud/subscriptions/1'},
        {
          action: 'update',
          adopts: true,
          remoteId: 'cloud/subscriptions/1/databases/1',
          changes: [{path: '/memoryLimitInGb', before: 2, after: 4}],
        },
      ])
      await lab.apply([stack])
      expect(lab.writes).toEqual(['PUT /subscriptions/1/databases/1'])
      expect(lab.entry('shop', 'cache')?.origin).toBe('adopted')
      expect(await actions(lab, [stack])).toEqual([])
    })
  })

  it('an object that failed is named, though its fields are as declared', async () => {
    const lab = new Lab()
    world().subscription('main').database('cache', {memoryLimitInGb: 1}).into(lab.simulator)
    lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', status: 'error'})
    await lab.run(async () => {
      const {plan} = await lab.plan([stackOf().subscription('main').database('cache', 'main')])
      expect(plan.notes).toContainEqual(expect.stringMatching(/cache: the API says that this database failed \(status "error"\)/))
    })
  })

  it('an object that is being deleted is named too', async () => {
    const lab = new Lab()
    world().subscription('main').database('cache', {memoryLimitInGb: 1}).into(lab.simulator)
    lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', status: 'delete-pending'})
    await lab.run(async () => {
      const {plan} = await lab.plan([stackOf().subscription('main').database('cache', 'main')])
      expect(plan.notes).toContain(
        'null_resource.cache: the API says that this database is being deleted (status "delete-pending"); plan again once it is gone',
      )
    })
  })

  it('a new name at the same address is one PUT with only the name', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('cache', 'main')])
      lab.simulator.clearLog()
      const renamed = stackOf().subscription('main', {name: 'renamed'}).database('cache', 'main', {name: 'fast'})
      await lab.apply([renamed])
      expect(lab.simulator.log.filter(it => it.method !== 'GET').map(it => [it.method, it.path, it.body])).toEqual([
        ['PUT', '/subscriptions/1', {name: 'renamed'}],
        ['PUT', '/subscriptions/1/databases/1', {name: 'fast'}],
      ])
      expect(await actions(lab, [renamed])).toEqual([])
    })
  })

  it('another address for the same object is a move, and no request', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('cache', 'main')])
      lab.simulator.clearLog()
      const moved = stackOf().subscription('main').database('fast', 'main', {name: 'cache'})
      expect(await actions(lab, [moved])).toEqual(['move fast'])
      await lab.apply([moved])
      expect(lab.writes).toEqual([])
      expect(lab.entry('shop', 'cache')).toBeUndefined()
      expect(lab.entry('shop', 'fast')?.remoteId).toBe('cloud/subscriptions/1/databases/1')
    })
  })

  it('a moved block is followed even where the name changes too', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('cache', 'main')])
      lab.simulator.clearLog()
      const moved = stackOf().subscription('main').database('fast', 'main').moved('cache', 'fast')
      await lab.apply([moved])
      expect(lab.writes).toEqual(['PUT /subscriptions/1/databases/1'])
      expect(await actions(lab, [moved])).toEqual([])
    })
  })

  it('an import block decides between two of the same name', async () => {
    const lab = new Lab()
    world().subscription('main').subscription('main').into(lab.simulator)
    const stack = stackOf().add('cloud.subscription', 'main', {name: 'main'}, {importId: 'cloud/subscriptions/2'})
    await lab.run(async () => {
      await lab.apply([stack])
      expect(lab.entry('shop', 'main')).toMatchObject({remoteId: 'cloud/subscriptions/2', origin: 'imported'})
    })
  })

  it('an import block cannot bring another object than the one that the declaration names itself', async () => {
    const lab = new Lab()
    world().bdb('one').bdb('two').into(lab.simulator)
    const other = stackOf('other').bdb('one', {memory_size: 1})
    const node = {uid: 3, rack_id: 'a'}
    const error = await refusal(lab, [
      other,
      stackOf()
        .add('cluster.database', 'db', {uid: 1, name: 'db', memory_size: 1}, {importId: 'cluster/bdbs/2'})
        .add('cluster.node', 'node', node, {importId: 'cluster/nodes/2'}),
    ])
    expect(error).toMatchObject({code: 'E_PLAN_PROBLEMS', exit: 64})
    expect(error.problems?.map(it => it.message)).toEqual([
      'import of cluster/bdbs/2: the declaration names cluster/bdbs/1 itself; take the import block away, or name the same object in both',
      'import of cluster/nodes/2: the declaration names cluster/nodes/3 itself; take the import block away, or name the same object in both',
    ])
    const same = stackOf().add('cluster.node', 'node', node, {importId: 'cluster/nodes/3'})
    expect((await lab.run(() => lab.plan([same]))).plan.operations).toMatchObject([{action: 'update', remoteId: 'cluster/nodes/3'}])
  })

  it('an import block brings nothing from another place than the declared one, whether that is there or still to be made', async () => {
    const lab = new Lab()
    world().subscription('a').database('x').subscription('b').into(lab.simulator)
    const stack = (parent: string) =>
      stackOf()
        .subscription(parent)
        .add(
          'cloud.database',
          'x',
          {name: 'x', memoryLimitInGb: 1},
          {parent: stackOf().in(parent), importId: 'cloud/subscriptions/1/databases/1'},
        )
    const said = async (parent: string) => (await refusal(lab, [stack(parent)])).problems?.map(it => it.message)
    const what = 'import of cloud/subscriptions/1/databases/1: that is in'
    expect(await said('b')).toEqual([`${what} another subscription than the declared one`])
    expect(await said('new')).toEqual([`${what} no subscription that is still to be made, as the declared one is`])
    expect((await lab.run(() => lab.plan([stack('a')]))).plan.operations.map(it => it.action)).toEqual(['adopt', 'adopt'])
  })

  it('two live objects that fit are refused with both ids', async () => {
    const lab = new Lab()
    world().subscription('main').subscription('main').into(lab.simulator)
    const error = await refusal(lab, [stackOf().subscription('main')])
    expect(error).toMatchObject({code: 'E_AMBIGUOUS_IDENTITY', exit: 3})
    expect(error.message).toContain('cloud/subscriptions/1, cloud/subscriptions/2')
  })

  it('a rename to what another object is called is refused with both ids', async () => {
    const lab = new Lab()
    world().subscription('other').bdb('taken').into(lab.simulator)
    await lab.run(() => lab.apply([stackOf().subscription('main').bdb('own')]))
    const error = await refusal(lab, [stackOf().subscription('main', {name: 'other'}).bdb('own', {name: 'taken'})])
    expect(error).toMatchObject({code: 'E_AMBIGUOUS_IDENTITY', exit: 3})
    expect(error.problems?.map(it => it.message)).toEqual([
      'the ledger has it as cloud/subscriptions/2 ("main"), and cloud/subscriptions/1 is "other" already',
      'the ledger has it as cluster/bdbs/2 ("own"), and cluster/bdbs/1 is "taken" already',
    ])
  })

  it('what another stack owns is refused, and whose it is is said', async () => {
    const lab = new Lab()
    const owner = stackOf('owner').subscription('main')
    await lab.run(() => lab.apply([owner]))
    const error = await refusal(lab, [owner, stackOf('other').add('cloud.subscription', 'mine', {name: 'main'})])
    expect(error).toMatchObject({exit: 64})
    expect(error.problems?.[0]?.message).toMatch(/owner/)
  })

  it('a name that another object gives up in the same run is taken after that', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('cache', 'main')])
      lab.simulator.clearLog()
      const next = stackOf().subscription('main').database('newer', 'main', {name: 'cache'}).database('cache', 'main', {name: 'older'})
      const result = await lab.apply([next])
      expect(result.summary).toMatchObject({done: 2, failed: 0})
      expect(lab.writes).toEqual(['PUT /subscriptions/1/databases/1', 'POST /subscriptions/1/databases'])
      expect(await actions(lab, [next])).toEqual([])
    })
  })

  it('a node that is not there, and a parent nobody has heard of, are errors before anything is sent', async () => {
    const lab = new Lab()
    const node = await refusal(lab, [stackOf().add('cluster.node', 'n', {uid: 9, rack_id: 'b'})])
    expect(node).toMatchObject({code: 'E_PLAN_PROBLEMS', exit: 64})
    expect(node.problems?.[0]?.message).toBe('there is no node 9, and a node cannot be created')
    const parent = await refusal(lab, [stackOf().add('cloud.database', 'd', {name: 'd', ...GB}, {parent: {by: 'name', name: 'nowhere'}})])
    expect(parent).toMatchObject({exit: 64, problems: [{path: '/subscription', message: 'there is no subscription "nowhere"'}]})
    const id = await refusal(lab, [
      stackOf().add('cloud.database', 'd', {name: 'd', ...GB}, {parent: {by: 'remoteId', remoteId: 'cloud/subscriptions/77'}}),
    ])
    expect(id).toMatchObject({exit: 64})
  })

  it('a database that its uid alone tells, and that is not there, is an error, and nothing is replaced by it', async () => {
    const lab = new Lab()
    const told = stackOf().add('cluster.database', 'db', {uid: 77})
    const message = 'there is no database 77, and without a name none can be created: declare one, or the id of a database that is there'
    expect(await refusal(lab, [told])).toMatchObject({exit: 64, problems: [{address: 'null_resource.db', message}]})
    await lab.run(() => lab.apply([stackOf().bdb('db')]))
    expect(await refusal(lab, [told])).toMatchObject({exit: 64, problems: [{address: 'null_resource.db', message}]})
    const {plan} = await lab.run(() => lab.plan([stackOf().bdb('db', {uid: 77})]))
    expect(plan.operations.map(it => it.action)).toEqual(['replace'])
  })

  it('a password counts as equal when the ledger is lost, and the plan says so', async () => {
    const lab = new Lab()
    const stack = stackOf()
      .subscription('main')
      .database('cache', 'main')
      .user('app', 'cache', {password: new Secret('x')})
    await lab.run(async () => {
      await lab.apply([stack])
      lab.stores.clear()
      const {plan} = await lab.plan([stack])
      expect(plan.summary.adopt).toBe(3)
      expect(plan.notes).toContain('null_resource.app: /password cannot be read back and is taken for equal, for want of a ledger')
    })
  })
})

describe('removal', () => {
  const family = () =>
    stackOf()
      .subscription('main')
      .database('cache', 'main')
      .rule('ro', 'cache')
      .user('app', 'cache', {role: 'ro'})
      .peering('link', 'main')
      .bdb('local')

  it('deletes children before their parents, and forgets what goes along', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([family()])
      lab.simulator.clearLog()
      const gone = await lab.apply([family().without('main', 'cache', 'ro', 'app', 'link', 'local')])
      expect(gone.residual).toEqual([])
      const cloud = lab.writes.filter(it => !it.includes('/v1/'))
      expect(cloud.at(-1)).toBe('DELETE /subscriptions/1')
      expect([...cloud].sort()).toEqual([
        'DELETE /subscriptions/1',
        'DELETE /subscriptions/1/databases/1',
        'DELETE /subscriptions/1/peerings/pcx-1',
      ])
      expect(gone.plan.summary).toMatchObject({delete: 4, forget: 2, blocked: 0})
      expect(lab.store('shop').ledger.entries.size).toBe(0)
    })
  })

  it('of what is to be retained forgets it and leaves it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('cache', 'main', {}, {removal: 'retain'})])
      lab.simulator.clearLog()
      await lab.apply([stackOf().subscription('main')])
      expect(lab.writes).toEqual([])
      expect(lab.entry('shop', 'cache')).toBeUndefined()
    })
  })

  it('of what stays forgets what lives in it too, where nothing can delete that: the stack does not hang on it', async () => {
    const lab = new Lab()
    const kept = (policy: object) => stackOf().subscription('main').database('cache', 'main', {}, policy).rule('ro', 'cache')
    await lab.run(async () => {
      await lab.apply([kept({removal: 'retain'})])
      const forgotten = ['forget ro', 'forget cache']
      const removed = stackOf().subscription('main')
      for (const [next, planning] of [
        [removed, {}],
        [kept({removal: 'retain'}), {destroy: true, selection: {target: ['cache'], exclude: []}}],
      ] as const) {
        const {plan} = await lab.plan([next], planning)
        expect(
          active(plan.operations)
            .map(it => `${it.action} ${it.address.replace('null_resource.', '')}`)
            .sort(),
        ).toEqual([...forgotten].sort())
        expect(plan.guards).toEqual([])
      }
      lab.simulator.clearLog()
      await lab.apply([removed])
      expect([lab.writes, lab.entry('shop', 'ro'), lab.entry('shop', 'cache')]).toEqual([[], undefined, undefined])
    })
  })

  it('by a removed block forgets too', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').bdb('local')])
      expect(await actions(lab, [stackOf().subscription('main').removed('local', {destroy: false})])).toEqual(['forget local'])
    })
  })

  it('of something retained in an exclusive collection says that the next plan removes it', async () => {
    const lab = new Lab()
    const exclusive = {exclusive: ['databases']}
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main', {}, exclusive).database('cache', 'main', {}, {removal: 'retain'})])
      const {plan} = await lab.plan([stackOf().subscription('main', {}, exclusive)])
      expect(plan.notes).toContain(
        'null_resource.cache is forgotten and stays, but null_resource.main is exclusive for its databases: the next plan removes it',
      )
    })
  })

  it('of a subscription that still holds a database of somebody else is blocked, and names it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').bdb('local')])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'theirs', memoryLimitInGb: 1}})
      const {plan} = await lab.plan([stackOf().bdb('local')])
      expect(active(plan.operations)).toMatchObject([
        {
          action: 'blocked',
          wants: 'delete',
          reason: 'it still holds what this run does not remove: theirs (cloud/subscriptions/1/databases/1)',
        },
      ])
    })
  })

  it('of an object that is gone already sends nothing', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('cache', 'main')])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', delete: true})
      lab.simulator.clearLog()
      expect(await actions(lab, [stackOf().subscription('main')])).toEqual(['forget cache'])
    })
  })
})

describe('collections', () => {
  it('that are exclusive lose what nobody declares, and others do not', async () => {
    const lab = new Lab()
    world().subscription('mine').database('theirs').subscription('open').database('alone').into(lab.simulator)
    const stack = stackOf()
      .subscription('mine', {}, {exclusive: ['databases']})
      .subscription('open')
    await lab.run(async () => {
      const {plan} = await lab.plan([stack])
      expect(active(plan.operations).map(it => `${it.action} ${it.address}`)).toEqual([
        'adopt null_resource.mine',
        'adopt null_resource.open',
        'delete cloud/subscriptions/1/databases/1',
      ])
      await lab.apply([stack])
      expect(lab.writes).toEqual(['DELETE /subscriptions/1/databases/1'])
    })
  })

  it('count what another stack of the app declares as declared', async () => {
    const lab = new Lab()
    world().subscription('mine').database('theirs').into(lab.simulator)
    const stack = stackOf().subscription('mine', {}, {exclusive: ['databases']})
    const other = stackOf('other').add('cloud.database', 'd', {name: 'theirs', ...GB}, {parent: {by: 'name', name: 'mine'}})
    await lab.run(async () => {
      expect(await actions(lab, [stack, other], {selected: new Set(['shop'])})).toEqual(['adopt mine'])
    })
  })

  it('made inline with a subscription are adopted by name, and the rest goes with it and is named', async () => {
    const lab = new Lab({simulator: {cloud: {requireInlineDatabases: true}}})
    const inline = [
      {name: 'cache', memoryLimitInGb: 1},
      {name: 'spare', memoryLimitInGb: 1},
    ]
    const stack = stackOf().subscription('main', {databases: inline}).database('cache', 'main', {memoryLimitInGb: 2})
    await lab.run(async () => {
      const first = await lab.apply([stack])
      expect(first.residual).toEqual([])
      const {plan} = await lab.plan([stack])
      expect(first.summary.failed).toBe(0)
      expect(active(plan.operations)).toEqual([])
      expect(lab.writes).toEqual(['POST /subscriptions', 'PUT /subscriptions/1/databases/1'])
      expect(await actions(lab, [stack.without('main', 'cache')], {destroy: true})).toEqual([
        'delete cache',
        'delete cloud/subscriptions/1/databases/2',
        'delete main',
      ])
    })
  })
})

describe('replacement', () => {
  it('of a database takes its ACL objects along: they are created again', async () => {
    const lab = new Lab()
    const stack = (port: number) => stackOf().subscription('main').database('cache', 'main', {port}).rule('ro', 'cache')
    await lab.run(async () => {
      await lab.apply([stack(12_000)])
      lab.simulator.clearLog()
      const result = await lab.apply([stack(12_001)])
      expect(result.residual).toEqual([])
      expect(lab.writes).toEqual([
        'DELETE /subscriptions/1/databases/1',
        'POST /subscriptions/1/databases',
        'POST /subscriptions/1/databases/2/acl/rules',
      ])
      expect(await actions(lab, [stack(12_001)])).toEqual([])
    })
  })

  it('creates first where that is asked for and the name is another one', async () => {
    const lab = new Lab()
    const stack = (name: string, port: number) =>
      stackOf().subscription('main').database('cache', 'main', {name, port}, {createBeforeDestroy: true})
    await lab.run(async () => {
      await lab.apply([stack('one', 12_000)])
      lab.simulator.clearLog()
      await lab.apply([stack('two', 12_001)])
      expect(lab.writes).toEqual(['POST /subscriptions/1/databases', 'DELETE /subscriptions/1/databases/1'])
      expect(await actions(lab, [stack('two', 12_001)])).toEqual([])
      const {plan} = await lab.plan([stack('two', 12_002)])
      expect(active(plan.operations)).toMatchObject([
        {action: 'blocked', reason: expect.stringContaining('create_before_destroy needs another name')},
      ])
    })
  })

  it('is what a move to another parent is', async () => {
    const lab = new Lab()
    const stack = (parent: string) => stackOf().subscription('a').subscription('b').database('cache', parent)
    await lab.run(async () => {
      await lab.apply([stack('a')])
      lab.simulator.clearLog()
      const {plan} = await lab.plan([stack('b')])
      expect(active(plan.operations)).toMatchObject([
        {
          action: 'replace',
          remoteId: 'cloud/subscriptions/1/databases/1',
          reason: 'it moves to another subscription',
          changes: [
            {
              path: '/subscription',
              before: 'cloud/subscriptions/1',
              after: 'cloud/subscriptions/2',
              risk: 'the database is replaced and its data is lost',
              moved: 'in git',
            },
          ],
        },
      ])
      await lab.apply([stack('b')])
      expect(lab.writes).toEqual(['DELETE /subscriptions/1/databases/1', 'POST /subscriptions/2/databases'])
      expect(await actions(lab, [stack('b')])).toEqual([])
    })
  })

  it('does not come from a field that is to be ignored', async () => {
    const lab = new Lab()
    const stack = (port: number, memoryLimitInGb: number) =>
      stackOf()
        .subscription('main')
        .database('cache', 'main', {port, memoryLimitInGb}, {ignoreChanges: ['/port', '/memoryLimitInGb']})
    await lab.run(async () => {
      await lab.apply([stack(12_000, 1)])
      const {plan} = await lab.plan([stack(12_001, 2)])
      expect(active(plan.operations).filter(it => it.action !== 'adopt')).toEqual([])
    })
  })
})

describe('selection', () => {
  const stack = () => stackOf().subscription('main').database('cache', 'main').rule('ro', 'cache').database('queue', 'main').bdb('local')

  it('of a target takes what it depends on along, and nothing else', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      expect(await actions(lab, [stack()], {selection: {target: ['null_resource.cache'], exclude: []}})).toEqual([
        'create main',
        'create cache',
      ])
    })
  })

  it('by exclusion drops what depends on it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const left = await actions(lab, [stack()], {selection: {target: [], exclude: ['shop:null_resource.cache']}})
      expect(left.sort()).toEqual(['create local', 'create main', 'create queue'])
    })
  })

  it('deletes nothing for what it leaves out', async () => {
    const lab = new Lab()
    world().subscription('main').database('theirs').into(lab.simulator)
    const exclusive = () =>
      stackOf()
        .subscription('main', {}, {exclusive: ['databases']})
        .database('cache', 'main')
    await lab.run(async () => {
      expect(await actions(lab, [exclusive()], {selection: {target: ['null_resource.cache'], exclude: []}})).toEqual([
        'adopt main',
        'create cache',
      ])
    })
  })

  it('of an address nobody knows is refused, with the nearest one', async () => {
    const error = await refusal(new Lab(), [stack()], {selection: {target: ['null_resource.cashe'], exclude: []}})
    expect(error).toMatchObject({code: 'E_UNKNOWN_ADDRESS', exit: 64, suggestions: ['Did you mean null_resource.cache?']})
  })
})

describe('names that two objects exchange', () => {
  it('are a circle that is refused, and said as one', async () => {
    const lab = new Lab()
    await lab.run(() => lab.apply([stackOf().subscription('main').database('a', 'main').database('b', 'main')]))
    const error = await refusal(lab, [stackOf().subscription('main').database('a', 'main', {name: 'b'}).database('b', 'main', {name: 'a'})])
    expect(error).toMatchObject({code: 'E_OPERATION_CYCLE', exit: 64})
    expect(error.message).toContain('shop:null_resource.a -> shop:null_resource.b -> shop:null_resource.a')
  })
})
