/** What a saved plan is checked again with: only what it touches is looked at, and the rest is owned all the same. */
import {describe, expect, it} from 'vitest'
import type {Hold} from '../../../src/engine/model/controls.ts'
import {carryOver} from '../../../src/run/ledgers/carry-over.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {objectsOf, ownedBy} from '../../support/promises.ts'

const rechecked = async (
  lab: Lab,
  now: readonly StackBuilder[],
  meanwhile = async () => {},
  planning: Planning = {},
): Promise<string[]> => {
  const {plan} = await lab.plan(now, planning)
  await meanwhile()
  const again = await lab.recheck(plan, now)
  await lab.execute(again, now)
  return again.plan.operations.filter(it => it.action !== 'no-op').map(it => `${it.action} ${it.address.replace('null_resource.', '')}`)
}

const HOLD: Hold = {
  stack: 'shop',
  address: 'null_resource.d',
  kind: 'cloud.database',
  remoteId: 'cloud/subscriptions/1/databases/1',
  by: 'ada',
  at: '2026-01-01T00:00:00Z',
  until: '2027-01-01T00:00:00Z',
  reason: 'load test',
}

describe('a saved plan', () => {
  it('deletes what stood at an address that is another object now, and does not only forget it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('a').database('x', 'a')])
      const did = await rechecked(lab, [stackOf().subscription('a').bdb('x')])
      expect(did.sort()).toEqual(['create x', expect.stringMatching(/^delete x \(deposed/)])
      expect(objectsOf(lab.simulator).map(it => it.remoteId)).toEqual(['cloud/subscriptions/1', 'cluster/bdbs/1'])
    })
  })

  it.each([
    ['has gone to another stack', stackOf('other').subscription('a')],
    ['was let go of', stackOf('other')],
  ])('is stale where it would clear a collection of what %s since', async (_, other) => {
    const lab = new Lab()
    const planned = () => stackOf().subscription('a', {}, {exclusive: ['peerings']})
    await lab.run(async () => {
      await lab.apply([planned()])
      lab.simulator.edit({path: 'cloud/subscriptions/1/peerings', create: {provider: 'AWS', region: 'r', vpcId: 'vpc-9'}})
      const {plan} = await lab.plan([planned()])
      expect(plan.operations.map(it => it.action)).toEqual(['no-op', 'delete'])
      await lab.apply([stackOf().removed('a', {destroy: false}), other])
      await expect(lab.recheck(plan, [planned()])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('planned was cloud/subscriptions/1, and the ledger has nothing'),
      })
    })
  })

  it.each([
    ['shop', 'k'],
    ['other', 'k'],
    ['other', 'another key of the account'],
  ])('is stale where what it deletes has got the name of what stack %s is to make, with %s', async (maker, keyHash) => {
    const cloud = {address: 'cloud', account: '7'}
    const planning = {accounts: {cloud: {...cloud, keyHash: 'k'}, 'other:cloud': {...cloud, keyHash}, cluster: {...cloud, keyHash: 'k'}}}
    const lab = new Lab()
    const parent = {by: 'key', key: stackOf().key('a')} as const
    const made = {name: 'y', memoryLimitInGb: 1}
    const stacks = (y: boolean) =>
      [stackOf().subscription('a', {}, {exclusive: ['databases']}), stackOf('other').bdb('b')].map(it =>
        y && it.name === maker ? it.add('cloud.database', 'y', made, {parent}) : it,
      )
    await lab.run(async () => {
      await lab.apply(stacks(false))
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'x', memoryLimitInGb: 1}})
      await lab.clock.sleep(5000)
      const meanwhile = async () => {
        lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {name: 'y'}})
        await lab.clock.sleep(5000)
        lab.simulator.clearLog()
      }
      const did = rechecked(lab, stacks(true), meanwhile, planning)
      await expect(did).rejects.toMatchObject({code: 'E_PLAN_STALE', message: expect.stringContaining('means by now')})
      expect(lab.writes).toEqual([])
    })
  })

  it('loses nothing of what it leaves as it is where a collection has become exclusive', async () => {
    const lab = new Lab()
    const stack = (exclusive: readonly string[]) => stackOf().subscription('a', {}, {exclusive}).database('x', 'a')
    await lab.run(async () => {
      await lab.apply([stack([]).rule('r', 'x')])
      const did = await rechecked(lab, [stack(['databases'])])
      expect(did.sort()).toEqual(['adopt a', 'blocked r'])
      expect(lab.entry('shop', 'r')?.remoteId).toBe('cloud/subscriptions/1/databases/1/acl/rules/1')
    })
  })

  it('of two stacks does not take what the other one has made since', async () => {
    const lab = new Lab()
    const other = () => stackOf('other').subscription('b')
    const peering = (stack: StackBuilder, local: string) =>
      stack.add('cloud.peering', local, {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1'}, {parent: stackOf().in('a')})
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('a'), other()])
      const now = [peering(stackOf().subscription('a'), 'mine'), other()]
      const meanwhile = async () => {
        await lab.apply([stackOf().subscription('a'), peering(other(), 'theirs')], {selected: new Set(['other'])})
      }
      await expect(rechecked(lab, now, meanwhile)).rejects.toMatchObject({code: 'E_PLAN_STALE'})
      expect([lab.entry('shop', 'mine'), lab.entry('other', 'theirs')?.kind]).toEqual([undefined, 'cloud.peering'])
    })
  })

  it('is stale where what it leaves as it is has come to be called as what it makes', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('a').database('x', 'a')])
      const meanwhile = async () => void lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {name: 'y'}})
      const now = [stackOf().subscription('a').database('x', 'a').database('y', 'a')]
      await expect(rechecked(lab, now, meanwhile)).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })

  it('that was carried out, and is once more, leaves what it made under the address that it has', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('a').database('x', 'a')])
      const now = [stackOf().subscription('a').bdb('x')]
      const {plan} = await lab.plan(now)
      await lab.execute(await lab.recheck(plan, now), now)
      await lab.execute(await lab.recheck(plan, now), now)
      expect([...lab.store('shop').ledger.entries].map(([address, it]) => [address, it.remoteId])).toEqual([
        ['null_resource.a', 'cloud/subscriptions/1'],
        ['null_resource.x', 'cluster/bdbs/1'],
      ])
    })
  })

  it('whose object has come from the other stack already does the rest, and what differs is left to the next plan', async () => {
    const lab = new Lab()
    const a = () => stackOf('a').subscription('main')
    const b = () => stackOf('b').add('cloud.database', 'x', {name: 'x', memoryLimitInGb: 3}, {parent: stackOf('a').in('main')})
    await lab.run(async () => {
      await lab.apply([a().database('x', 'main'), stackOf('b')])
      const now = [a(), b().bdb('late')]
      const {plan} = await lab.plan(now)
      expect(plan.operations.find(it => it.action === 'move')?.later).toEqual(['/memoryLimitInGb'])
      // The run dies before it sends anything: the ledgers are written first.
      await carryOver('t1', plan.operations, lab.stores, new Map())
      lab.simulator.clearLog()
      await lab.execute(await lab.recheck(plan, now), now)
      expect(lab.writes).toEqual(['POST /v1/bdbs'])
      expect([lab.entry('b', 'x')?.remoteId, lab.entry('a', 'x')]).toEqual(['cloud/subscriptions/1/databases/1', undefined])
      expect((await lab.plan(now)).plan.operations.flatMap(it => (it.action === 'no-op' ? [] : `${it.action} ${it.address}`))).toEqual([
        'update null_resource.x',
      ])
    })
  })

  it.each([
    ['moved', 'cloud.database', {name: 'd', memoryLimitInGb: 1}, 'cloud/subscriptions/1', 'moved-to-stack'],
    ['that holds what is', 'cloud.acl_rule', {name: 'r', rule: '+@read ~*'}, 'cloud/subscriptions/1/databases/1', 'not-empty'],
  ])('leaves alone what it was approved to: an object %s declared by another stack', async (_, kind, spec, remoteId, cause) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('s').database('d', 's').rule('r', 'd')])
      await lab.clock.sleep(5000)
      const now = stackOf().subscription('s').database('new', 's')
      const other = stackOf('team').add(kind, 'mine', spec, {parent: {by: 'remoteId', remoteId}})
      const {plan} = await lab.plan([now, other], {selected: new Set(['shop'])})
      lab.simulator.clearLog()
      const again = await lab.recheck(plan, [now])
      expect(again.plan.operations.find(it => it.address === 'null_resource.d')).toMatchObject({action: 'blocked', wants: 'delete', cause})
      expect(again.plan.guards).toEqual(plan.guards)
      await lab.execute(again, [now])
      expect(lab.writes).toEqual(['POST /subscriptions/1/databases'])
    })
  })

  it.each([
    ['forgets what it was approved to take as moved', {lifts: {accept: ['null_resource.d']}}, {action: 'forget', cause: 'accepted'}],
    ['holds nothing that is held no more', {holds: new Map([['shop', [HOLD]]])}, {action: 'blocked', cause: 'moved-to-stack'}],
  ])('%s', async (_, more: Planning, now) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('s').database('d', 's')])
      await lab.clock.sleep(5000)
      const parent = {by: 'remoteId', remoteId: 'cloud/subscriptions/1'} as const
      const other = stackOf('team').add('cloud.database', 'd', {name: 'd', memoryLimitInGb: 1}, {parent})
      const {plan} = await lab.plan([stackOf().subscription('s'), other], {selected: new Set(['shop']), ...more})
      const again = (await lab.recheck(plan, [])).plan.operations.find(it => it.address === 'null_resource.d')
      expect(again).toMatchObject(now)
      expect(again?.held).toBeUndefined()
    })
  })
})

describe('a saved plan of an address that a colleague has given to another object since', () => {
  const main = () => stackOf().subscription('a')

  it('is stale where it would make its own there: that one would be nobody’s', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main()])
      const meanwhile = async () => void (await lab.apply([main().database('x', 'a')]))
      await expect(rechecked(lab, [main().bdb('x')], meanwhile)).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('the ledger has cloud/subscriptions/1/databases/1 there by now'),
      })
      expect(lab.entry('shop', 'x')?.remoteId).toBe('cloud/subscriptions/1/databases/1')
    })
  })

  it('is stale where what it deletes has moved to the address of what it makes', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main().database('x', 'a')])
      const meanwhile = async () => void (await lab.apply([main().database('y', 'a', {name: 'x'})]))
      await expect(rechecked(lab, [main().bdb('x').bdb('y')], meanwhile)).rejects.toMatchObject({code: 'E_PLAN_STALE'})
      expect([lab.entry('shop', 'x'), lab.entry('shop', 'y')?.remoteId]).toEqual([undefined, 'cloud/subscriptions/1/databases/1'])
    })
  })

  it('holds where the ledger has one object under two addresses, and the plan forgets one of them', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main().database('x', 'a')])
      const store = lab.store('shop')
      const [entry] = [...store.ledger.entries.values()].filter(it => it.kind === 'cloud.database')
      const twice = new Map(store.ledger.entries)
      if (entry) twice.set('null_resource.old', {...entry, address: 'null_resource.old'})
      store.ledger = {...store.ledger, entries: twice}
      expect(await rechecked(lab, [main().database('x', 'a')])).toEqual(['forget old'])
      expect([lab.entry('shop', 'old'), lab.entry('shop', 'x')?.remoteId]).toEqual([undefined, 'cloud/subscriptions/1/databases/1'])
    })
  })

  it('leaves beside what comes what it had left to another stack', async () => {
    const lab = new Lab()
    const other = stackOf('other').add('cloud.database', 'y', {name: 'x', memoryLimitInGb: 1}, {parent: main().in('a')})
    await lab.run(async () => {
      await lab.apply([main().database('x', 'a')])
      const now = [main().bdb('x'), other]
      const {plan} = await lab.plan(now, {selected: new Set(['shop'])})
      const again = await lab.recheck(plan, now)
      expect(again.plan.operations.map(it => it.action)).toEqual(plan.operations.map(it => it.action))
      await lab.execute(again, now)
      expect(ownedBy(lab, 'shop')).toContain('cloud/subscriptions/1/databases/1')
    })
  })

  it('leaves out what it had left out since an object that it does not touch has the name', async () => {
    const lab = new Lab()
    const stack = () => main().database('x', 'a')
    const y = {name: 'y', memoryLimitInGb: 1}
    await lab.run(async () => {
      await lab.apply([stack()])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {name: 'y'}})
      await lab.clock.sleep(60_000)
      const inOne = [stack().add('cloud.database', 'z', y, {parent: main().in('a')})]
      const inTwo = [stack(), stackOf('other').add('cloud.database', 'z', y, {parent: main().in('a')})]
      for (const now of [inOne, inTwo]) {
        const {plan} = await lab.plan(now, {lifts: {onDrift: 'keep'}})
        const again = await lab.recheck(plan, now)
        await lab.execute(again, now)
        expect(again.plan.operations.flatMap(it => (it.action === 'no-op' ? [] : [[it.action, it.cause]]))).toEqual([
          ['blocked', 'name-taken'],
        ])
        expect(lab.entry('shop', 'x')?.remoteId).toBe('cloud/subscriptions/1/databases/1')
      }
    })
  })
  it('leaves out a move into a place whose name an object keeps that it does not touch', async () => {
    const lab = new Lab()
    const stack = (parent: string) => main().subscription('b').database('x', 'a').database('z', parent, {name: 'y'})
    await lab.run(async () => {
      await lab.apply([stack('b')])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {name: 'y'}})
      await lab.clock.sleep(60_000)
      const {plan} = await lab.plan([stack('a')], {lifts: {onDrift: 'keep'}})
      const again = await lab.recheck(plan, [stack('a')])
      const active = again.plan.operations.filter(it => it.action !== 'no-op')
      expect(active.map(it => [it.address, it.action, it.cause])).toEqual([['null_resource.z', 'blocked', 'name-taken']])
    })
  })
})
