/** What another stack has or declares: never deleted, changed or adopted; moved where the run covers both stacks. */
import {describe, expect, it} from 'vitest'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const both = (...stacks: readonly StackBuilder[]) => stacks
const only = (name: string): Planning => ({selected: new Set([name])})
const shown = (operations: readonly Operation[]) =>
  Object.fromEntries(operations.filter(it => it.action !== 'no-op').map(it => [`${it.stack}:${it.address}`, it.action]))
const of = (operations: readonly Operation[], address: string): Operation | undefined =>
  operations.find(it => it.address === `null_resource.${address}`)

const a = () => stackOf('a').subscription('main', {}, {exclusive: ['databases']})
const kept = () => both(a().database('cache', 'main', {replication: true}), stackOf('b').subscription('other'))
/** The database in the code of b, under another address. */
const handed = (spec = {}) =>
  both(
    a(),
    stackOf('b')
      .subscription('other')
      .add('cloud.database', 'orders', {name: 'cache', memoryLimitInGb: 1, ...spec}, {parent: a().in('main')}),
  )

async function started(stacks: readonly StackBuilder[] = kept()): Promise<Lab> {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply(stacks)
    await lab.clock.sleep(5000)
  })
  lab.simulator.clearLog()
  return lab
}

describe('an object whose declaration moved to another stack', () => {
  it('is one move without a request where the run covers both stacks, and then as declared', async () => {
    const lab = await started()
    await lab.run(async () => {
      const {plan, summary} = await lab.apply(handed())
      expect(shown(plan.operations)).toEqual({'b:null_resource.orders': 'move'})
      expect(of(plan.operations, 'orders')).toMatchObject({
        cause: 'stack-changed',
        from: {stack: 'a', address: 'null_resource.cache'},
        changes: [],
      })
      expect([summary.done, lab.writes]).toEqual([1, []])
      expect([lab.entry('a', 'cache'), lab.entry('b', 'orders')?.origin]).toEqual([undefined, 'created'])
      expect(lab.entry('b', 'orders')?.transfer).toBeUndefined()
      expect(lab.store('a').ledger.gone).toMatchObject([
        {address: 'null_resource.cache', to: {stack: 'b', address: 'null_resource.orders'}},
      ])
      expect(shown((await lab.plan(handed())).plan.operations)).toEqual({})
    })
  })

  it('is blocked in each of them alone, with the command that moves it; nothing is deleted, created or adopted', async () => {
    const lab = await started()
    await lab.run(async () => {
      const source = (await lab.plan(handed(), only('a'))).plan
      expect(of(source.operations, 'cache')).toMatchObject({
        action: 'blocked',
        wants: 'delete',
        cause: 'moved-to-stack',
        elsewhere: {stack: 'b', address: 'null_resource.orders'},
        reason: "moved to stack b: svcctl transfer 'null_resource.cache' --from a --to b --as 'null_resource.orders'",
      })
      const destination = (await lab.plan(handed(), only('b'))).plan
      expect(of(destination.operations, 'orders')).toMatchObject({
        action: 'blocked',
        wants: 'move',
        cause: 'owned-elsewhere',
        elsewhere: {stack: 'a', address: 'null_resource.cache'},
        reason: "stack a has it: svcctl transfer 'null_resource.cache' --from a --to b --as 'null_resource.orders'",
      })
      for (const stack of ['a', 'b']) await lab.apply(handed({memoryLimitInGb: 2}), only(stack))
      expect(lab.writes).toEqual([])
    })
  })

  it('is said to need both stacks, and no transfer, where the other ledger has another object under the address', async () => {
    const other = () => stackOf('b').subscription('other')
    const lab = await started(both(a().database('cache', 'main', {replication: true}), other().bdb('orders')))
    await lab.run(async () => {
      const bdb = lab.entry('b', 'orders')?.remoteId
      const way = `, and null_resource.orders is ${bdb} in the ledger of stack b: plan both stacks together, or declare it under another address`
      const source = (await lab.plan(handed(), only('a'))).plan
      expect(of(source.operations, 'cache')).toMatchObject({cause: 'moved-to-stack', reason: `moved to stack b${way}`})
      const destination = (await lab.plan(handed(), only('b'))).plan
      expect(of(destination.operations, 'orders')?.reason).toBe(`stack a has it${way}`)
      const {plan} = await lab.apply(handed())
      expect(shown(plan.operations)).toMatchObject({'b:null_resource.orders': 'move'})
      await lab.clock.sleep(5000)
      expect(shown((await lab.plan(handed())).plan.operations)).toEqual({})
    })
  })

  it('moves as it is, and what differs is the next plan’s to change', async () => {
    const lab = await started()
    await lab.run(async () => {
      const {plan, residual} = await lab.apply(handed({memoryLimitInGb: 2}))
      expect(of(plan.operations, 'orders')).toMatchObject({action: 'move', changes: [], later: ['/memoryLimitInGb']})
      expect(residual).toMatchObject([
        {key: 'b:null_resource.orders', fields: [{path: '/memoryLimitInGb', diagnosis: 'left for the next apply'}]},
      ])
      expect(lab.writes).toEqual([])
      expect(of((await lab.plan(handed({memoryLimitInGb: 2}))).plan.operations, 'orders')).toMatchObject({
        action: 'update',
        cause: 'changed-in-git',
        changes: [{path: '/memoryLimitInGb', before: 1, after: 2}],
      })
    })
  })

  it('is refused by a guard in one stack alone, and --accept lets the source forget it but the destination not take it', async () => {
    const lab = await started()
    await lab.run(async () => {
      const strict: Planning = {
        lifts: {allowDestroy: ['*'], adopt: [], accept: [], skipBlocked: false, onDrift: 'overwrite', noDestroy: false, refuseRisky: false},
      }
      const {plan} = await lab.plan(handed(), {...only('b'), ...strict})
      expect(plan.guards.map(it => it.code)).toEqual(['G_ELSEWHERE'])
      const accept = {...strict.lifts, accept: ['null_resource.orders', 'null_resource.cache']}
      const taken = await lab.plan(handed(), {...only('b'), lifts: {...PERMIT, accept: accept.accept.slice(0, 1)}})
      expect(shown(taken.plan.operations)).toEqual({'b:null_resource.orders': 'blocked'})
      const left = await lab.plan(handed(), {...only('a'), lifts: {...PERMIT, accept: accept.accept.slice(1)}})
      expect(shown(left.plan.operations)).toEqual({'a:null_resource.cache': 'forget'})
    })
  })
})

const PERMIT = {
  allowDestroy: ['*'],
  adopt: [],
  accept: [],
  skipBlocked: true,
  onDrift: 'overwrite',
  noDestroy: false,
  refuseRisky: false,
} as const

describe('whole stacks', () => {
  const stack = (name: string) => stackOf(name).subscription('main').database('cache', 'main').rule('ro', 'cache').bdb('local')

  it('that are renamed go over as they are, where the run covers the old one, and are blocked where only its ledger is left', async () => {
    const lab = await started([stack('old')])
    await lab.run(async () => {
      const {plan} = await lab.plan([stack('new')])
      expect(plan.summary).toMatchObject({blocked: 4, create: 0, adopt: 0, delete: 0})
      expect(of(plan.operations, 'main')?.reason).toBe("stack old has it: svcctl transfer 'null_resource.main' --from old --to new")
      const covered = await lab.apply([stack('new'), stackOf('old')])
      expect(covered.plan.summary).toMatchObject({move: 4, delete: 0, adopt: 0, create: 0})
      expect(lab.writes).toEqual([])
      expect([lab.store('old').ledger.entries.size, lab.store('new').ledger.entries.size]).toEqual([0, 4])
    })
  })

  it('that are split and merged move object by object', async () => {
    const lab = await started([stack('one')])
    await lab.run(async () => {
      const one = stackOf('one').subscription('main').bdb('local')
      const two = stackOf('two')
        .add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1}, {parent: one.in('main')})
        .rule('ro', 'cache')
      expect((await lab.apply([one, two])).plan.summary).toMatchObject({move: 2, 'no-op': 2})
      expect((await lab.apply([stack('one'), stackOf('two')])).plan.summary).toMatchObject({move: 2, 'no-op': 2})
      expect(lab.writes).toEqual([])
      expect(lab.store('one').ledger.gone ?? []).toEqual([])
    })
  })
})

describe('what another stack declares', () => {
  it('and nobody has yet is not adopted by one that declares it too', async () => {
    const lab = await started([a()])
    await lab.run(async () => {
      const declared = (name: string) => stackOf(name).add('cloud.subscription', 'it', {name: 'main'})
      lab.stores.clear()
      const {plan} = await lab.plan([declared('x'), declared('y')], only('x'))
      expect(of(plan.operations, 'it')).toMatchObject({action: 'blocked', cause: 'declared-elsewhere', elsewhere: {stack: 'y'}})
    })
  })

  it('is spared in an exclusive collection, and of the same name in another subscription it is not meant', async () => {
    const lab = await started(both(a().database('cache', 'main'), stackOf('b').subscription('other')))
    await lab.run(async () => {
      lab.stores.delete('a')
      const there = stackOf('b').subscription('other').database('cache', 'other')
      const {plan} = await lab.plan([a(), there], only('a'))
      expect(shown(plan.operations)).toMatchObject({'a:cloud/subscriptions/1/databases/1': 'delete'})
      const here = stackOf('b').add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1}, {parent: a().in('main')})
      expect(Object.values(shown((await lab.plan([a(), here], only('a'))).plan.operations))).not.toContain('delete')
    })
  })

  it('stays another stack’s where that has it and declares it: one object has one declaration', async () => {
    const lab = await started()
    await lab.run(async () => {
      const copied = stackOf('b').add('cloud.database', 'orders', {name: 'cache', memoryLimitInGb: 2}, {parent: a().in('main')})
      const stacks = [a().database('cache', 'main', {memoryLimitInGb: 3}), copied]
      expect(of((await lab.plan(stacks, only('b'))).plan.operations, 'orders')).toMatchObject({action: 'blocked', cause: 'owned-elsewhere'})
      expect(of((await lab.plan(stacks, only('a'))).plan.operations, 'cache')).toMatchObject({action: 'update'})
    })
  })

  it('is said to be declared otherwise by that stack where that gives it another name or place, and both together give it to the other one', async () => {
    const second = () => a().subscription('second')
    const lab = await started([second().database('cache', 'main', {replication: true}), stackOf('b').subscription('other')])
    await lab.run(async () => {
      const taken = stackOf('b')
        .subscription('other')
        .add('cloud.database', 'orders', {name: 'cache', memoryLimitInGb: 1}, {parent: a().in('main')})
      const renamed = second().database('cache', 'main', {name: 'another', replication: true})
      const elsewhere = second().database('cache', 'second', {replication: true})
      for (const [its, both] of [
        [renamed, {'a:null_resource.cache': 'update', 'b:null_resource.orders': 'create'}],
        [elsewhere, {'a:null_resource.cache': 'create', 'b:null_resource.orders': 'move'}],
      ] as const) {
        const {reason} = of((await lab.plan([its, taken], only('b'))).plan.operations, 'orders') ?? {}
        expect(reason).toBe('stack a has it, and declares null_resource.cache otherwise by now: plan both stacks together')
        expect(shown((await lab.plan([its, taken])).plan.operations)).toEqual(both)
      }
    })
  })
})

describe('what two ledgers have, since one of them is from before a transfer', () => {
  it('is let go of by the stack that does not declare it, and brought to the one that does', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf('a').bdb('x'), stackOf('b').bdb('other')])
      const before = lab.store('a').ledger
      const now = [stackOf('a'), stackOf('b').bdb('other').bdb('y', {name: 'x'})]
      await lab.apply(now)
      lab.store('a').ledger = before
      const reason = async (stacks: readonly StackBuilder[], more: Planning = {}) =>
        active((await lab.plan(stacks, {selected: new Set(['a']), ...more})).plan.operations).map(it => it.reason)
      const way = (command: string) => [`stack b has it too: ${command} settles whose it is`]
      expect(await reason(now)).toEqual(way("svcctl forget 'a:null_resource.x'"))
      const declared = [stackOf('a').bdb('x', {max_connections: 9}), stackOf('b').bdb('other')]
      expect(await reason(declared, {destroy: true})).toEqual(way("svcctl forget 'a:null_resource.x' --anyway"))
      expect(await reason(declared)).toEqual(way("svcctl transfer 'null_resource.y' --from b --to a --as 'null_resource.x'"))
    })
  })

  it('stays as it is where the stack that declares it has nothing to do to it, and is let go of where both are planned together', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf('a').bdb('x'), stackOf('b').bdb('other')])
      const before = lab.store('a').ledger
      const now = [stackOf('a'), stackOf('b').bdb('other').bdb('y', {name: 'x'})]
      await lab.apply(now)
      lab.store('a').ledger = before
      lab.simulator.clearLog()
      expect(shown((await lab.plan([stackOf('a').bdb('x'), stackOf('b').bdb('other')], only('a'))).plan.operations)).toEqual({})
      const {plan} = await lab.apply(now)
      expect(active(plan.operations)).toMatchObject([{stack: 'a', action: 'forget', cause: 'held-elsewhere'}])
      expect([lab.writes, lab.entry('a', 'x'), lab.entry('b', 'y')?.remoteId]).toEqual([
        [],
        undefined,
        before.entries.get('null_resource.x')?.remoteId,
      ])
    })
  })
})

describe('what holds an object of another stack', () => {
  it('is not deleted or replaced: it would take that along', async () => {
    const lab = await started(
      both(
        stackOf('a').subscription('main').database('cache', 'main'),
        stackOf('b').add('cloud.acl_rule', 'ro', {name: 'ro', rule: '+@read ~*'}, {parent: stackOf('a').in('cache')}),
      ),
    )
    await lab.run(async () => {
      const rules = stackOf('b').add(
        'cloud.acl_rule',
        'ro',
        {name: 'ro', rule: '+@read ~*'},
        {parent: {by: 'remoteId', remoteId: 'cloud/subscriptions/1/databases/1'}},
      )
      const {plan} = await lab.plan([stackOf('a').subscription('main'), rules], only('a'))
      expect(of(plan.operations, 'cache')).toMatchObject({action: 'blocked', cause: 'holds-elsewhere', elsewhere: {stack: 'b'}})
    })
  })
})

describe('an exclusive collection of what another stack has', () => {
  it("is that stack's to empty: what nobody declares in it stays until the subscription has moved here", async () => {
    const stranger = stackOf('c').add('cloud.database', 'stranger', {name: 'stranger', memoryLimitInGb: 1}, {parent: a().in('main')})
    const lab = await started([stackOf('a').subscription('main'), stackOf('b').subscription('other'), stranger])
    lab.stores.delete('c')
    const taking = both(
      stackOf('a'),
      stackOf('b')
        .subscription('other')
        .subscription('mine', {name: 'main'}, {exclusive: ['databases']}),
    )
    await lab.run(async () => {
      expect(shown((await lab.plan(taking, only('b'))).plan.operations)).toEqual({'b:null_resource.mine': 'blocked'})
      expect(shown((await lab.plan(taking)).plan.operations)).toEqual({
        'b:null_resource.mine': 'move',
        'b:cloud/subscriptions/1/databases/1': 'delete',
      })
    })
  })
})

describe('a stack whose ledger cannot be read', () => {
  it('may have whatever is not ours: nothing is adopted or removed from an exclusive collection, and our own goes on', async () => {
    const lab = await started()
    await lab.run(async () => {
      const unread: Planning = {...only('a'), otherLedgers: [], unreadLedgers: new Map([['b', 'no credentials']])}
      expect(shown((await lab.plan([a().database('cache', 'main', {memoryLimitInGb: 2}), stackOf('b')], unread)).plan.operations)).toEqual({
        'a:null_resource.cache': 'update',
      })
      lab.stores.delete('a')
      const {plan} = await lab.plan([a(), stackOf('b')], unread)
      expect(plan.operations.map(it => [it.action, it.kind, it.cause])).toEqual([['blocked', 'cloud.subscription', 'maybe-elsewhere']])
      // Who names an object by its id says whose it is.
      const imported = stackOf('a').add('cloud.subscription', 'main', {name: 'main'}, {importId: 'cloud/subscriptions/1'})
      expect(shown((await lab.plan([imported, stackOf('b')], unread)).plan.operations)).toEqual({'a:null_resource.main': 'adopt'})
    })
  })
})

describe('what another stack may have, though no ledger says so', () => {
  it('loses nothing that nobody declares in it, though it is exclusive here', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf('a').subscription('main')])
      world().subscription('theirs').peering({provider: 'AWS', region: 'r', vpcId: 'vpc-9'}).into(lab.simulator)
      const mine = stackOf('a')
        .subscription('main')
        .subscription('theirs', {}, {exclusive: ['peerings']})
      const beingMade = [{stack: 'b', run: 'r1', kind: 'cloud.subscription', name: 'theirs', parent: []}]
      const {plan} = await lab.plan([mine, stackOf('b')], {...only('a'), beingMade})
      expect(shown(plan.operations)).toEqual({'a:null_resource.theirs': 'blocked'})
    })
  })

  const made = (more: object) => ({stack: 'b', run: 'r1', kind: 'cloud.database', ...more})
  const left = async (beingMade: NonNullable<Planning['beingMade']>, more: Planning = {}): Promise<unknown[]> => {
    const lab = await started(both(a(), stackOf('b')))
    return lab.run(async () => {
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'theirs', memoryLimitInGb: 1}})
      const {plan} = await lab.plan(both(a(), stackOf('b')), {...only('a'), beingMade, ...more})
      return plan.operations.flatMap(it => (it.action === 'no-op' ? [] : [[it.action, it.elsewhere?.stack]]))
    })
  }

  it('since a run there began to make it and has not ended, is not removed from an exclusive collection', async () => {
    expect(await left([])).toEqual([['delete', undefined]])
    expect(await left([made({name: 'theirs'})])).toEqual([['blocked', 'b']])
    expect(await left([made({})])).toEqual([['blocked', 'b']])
    expect(await left([made({remoteId: 'cloud/subscriptions/1/databases/1'})])).toEqual([['blocked', 'b']])
    expect(await left([made({name: 'other'}), made({kind: 'cloud.peering'})])).toEqual([['delete', undefined]])
    expect(await left([made({remoteId: 'cloud/subscriptions/1/databases/2', name: 'theirs'})])).toEqual([['delete', undefined]])
    expect(await left([made({name: 'theirs', parent: ['1']})])).toEqual([['blocked', 'b']])
    expect(await left([made({name: 'theirs', parent: ['2']})])).toEqual([['delete', undefined]])
    // In another account it is another object.
    expect(await left([made({name: 'theirs'})], {accountOf: stack => stack})).toEqual([['delete', undefined]])
  })

  it('for the same reason is not made a second time, in the same place', async () => {
    const lab = await started(both(a(), stackOf('b')))
    const planned = (parent: string, more = {}) => {
      const beingMade = [made({name: 'late', parent: [parent], ...more})]
      return lab.run(() => lab.plan(both(a().database('late', 'main'), stackOf('b')), {...only('a'), beingMade}))
    }
    expect(shown((await planned('2')).plan.operations)).toEqual({'a:null_resource.late': 'create'})
    const blocked = {action: 'blocked', wants: 'create', cause: 'maybe-elsewhere', elsewhere: {stack: 'b'}}
    expect(of((await planned('1')).plan.operations, 'late')).toMatchObject(blocked)
    // Made already, and neither in a list nor in a ledger yet.
    const settled = {remoteId: 'cloud/subscriptions/1/databases/9'}
    expect(of((await planned('1', settled)).plan.operations, 'late')).toMatchObject(blocked)
    expect(shown((await planned('1', {...settled, name: 'other'})).plan.operations)).toEqual({'a:null_resource.late': 'create'})
  })

  it('since it went there from here, is neither adopted nor removed by an app that does not have that stack any more', async () => {
    const lab = await started()
    await lab.run(async () => {
      await lab.apply(handed())
      // Its ledger is behind an address that nobody names here.
      lab.stores.delete('b')
      const removed = await lab.plan([a()])
      expect(removed.plan.operations.filter(it => it.action !== 'no-op')).toMatchObject([
        {action: 'blocked', wants: 'delete', cause: 'maybe-elsewhere', elsewhere: {stack: 'b', address: 'null_resource.orders'}},
      ])
      const again = a().database('cache', 'main', {replication: true})
      expect(shown((await lab.plan([again])).plan.operations)).toEqual({'a:null_resource.cache': 'blocked'})
      const importId = 'cloud/subscriptions/1/databases/1'
      const imported = a().add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1}, {parent: a().in('main'), importId})
      expect(shown((await lab.plan([imported])).plan.operations)).toEqual({'a:null_resource.cache': 'adopt'})
    })
  })

  it('since it went there from here, is free again once that stack, which is known here, has let go of it', async () => {
    const lab = await started()
    await lab.run(async () => {
      await lab.apply(handed())
      const without = stackOf('b').subscription('other')
      await lab.apply([a(), without.removed('orders', {destroy: false})], only('b'))
      const again = a().database('cache', 'main', {replication: true})
      expect(shown((await lab.plan([again, without], only('a'))).plan.operations)).toEqual({'a:null_resource.cache': 'adopt'})
    })
  })
})
