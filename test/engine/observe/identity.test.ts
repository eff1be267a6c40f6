import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {AppError} from '../../../src/base/errors.ts'
import {assertOneEach} from '../../../src/engine/plan/one-operation.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active, objectsOf} from '../../support/promises.ts'

/** `action address` of everything that is not a no-op, in execution order. */
const actions = async (lab: Lab, builders: readonly StackBuilder[], more: Planning = {}): Promise<string[]> => {
  const {plan} = await lab.plan(builders, more)
  return active(plan.operations).map(it => `${it.action} ${it.address.replace('null_resource.', '').replace(/ [0-9a-f]{8}\)/, ')')}`)
}

const refusal = (lab: Lab, builders: readonly StackBuilder[], more: Planning = {}): Promise<AppError> =>
  lab.plan(builders, more).then(
    () => {
      throw new Error('it was planned')
    },
    error => error as AppError,
  )

const owned = (lab: Lab, local: string): string | undefined => lab.entry('shop', local)?.remoteId
const names = (lab: Lab): string[] =>
  objectsOf(lab.simulator)
    .filter(it => it.collection.endsWith('/databases'))
    .map(it => it.name)
    .sort()

describe('an object that another declaration means', () => {
  it('is its alone: what moved away from it is created, and nothing is deleted', async () => {
    const lab = new Lab()
    const before = stackOf().subscription('a').subscription('b').database('x', 'a', {name: 'cache'})
    const after = stackOf().subscription('a').subscription('b').database('x', 'b', {name: 'cache'}).database('y', 'a', {name: 'cache'})
    await lab.run(async () => {
      await lab.apply([before])
      const kept = owned(lab, 'x')
      lab.simulator.clearLog()
      expect(await actions(lab, [after])).toEqual(['create x', 'move y'])
      await lab.apply([after])
      expect(lab.writes).toEqual(['POST /subscriptions/2/databases'])
      expect(owned(lab, 'y')).toBe(kept)
      expect(owned(lab, 'x')).toBe('cloud/subscriptions/2/databases/2')
      expect(await actions(lab, [after])).toEqual([])
    })
  })

  it('is not taken from one that is declared and left out of the run', async () => {
    const lab = new Lab()
    const before = stackOf().subscription('a').subscription('b').database('x', 'a', {name: 'cache'})
    const after = stackOf().subscription('a').subscription('b').database('x', 'b', {name: 'cache'}).database('y', 'a', {name: 'cache'})
    await lab.run(async () => {
      await lab.apply([before])
      const error = await refusal(lab, [after], {selection: {target: ['null_resource.y'], exclude: []}})
      expect(error).toMatchObject({code: 'E_PLAN_PROBLEMS', exit: 64})
      expect(error.problems?.[0]?.message).toMatch(/which (shop:)?null_resource.x has, .* plan both together/)
    })
  })

  it('is not deleted where the ledger has it under a second address', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('a').database('x', 'a')
    await lab.run(async () => {
      await lab.apply([stack])
      const {ledger} = lab.store('shop')
      const entry = ledger.entries.get('null_resource.x')
      if (entry === undefined) throw new Error('not recorded')
      const entries = new Map(ledger.entries).set('null_resource.old', {...entry, address: 'null_resource.old'})
      lab.store('shop').ledger = {...ledger, entries}
      lab.simulator.clearLog()
      expect(await actions(lab, [stack])).toEqual(['forget old'])
      await lab.apply([stack])
      expect(lab.writes).toEqual([])
      expect(owned(lab, 'x')).toBe('cloud/subscriptions/1/databases/1')
      expect(owned(lab, 'old')).toBeUndefined()
    })
  })

  it('is no reason to lose what its new declaration had before', async () => {
    const lab = new Lab()
    const before = stackOf().subscription('a').subscription('b').database('x', 'a', {name: 'one'}).database('y', 'b', {name: 'two'})
    // y takes x's place; x is gone, and so is what y was.
    const after = stackOf().subscription('a').subscription('b').database('y', 'a', {name: 'one'})
    await lab.run(async () => {
      await lab.apply([before])
      expect(await actions(lab, [after])).toEqual(['move y', 'delete y (deposed)'])
      await lab.apply([after])
      expect(names(lab)).toEqual(['one'])
      expect([...lab.store('shop').ledger.entries.keys()].sort()).toEqual(['null_resource.a', 'null_resource.b', 'null_resource.y'])
      expect(await actions(lab, [after])).toEqual([])
    })
  })
})

describe('databases that change places', () => {
  for (const size of [2, 3]) {
    it(`in a ring of ${size} subscriptions move without a request, and the ledger has all of them`, async () => {
      const lab = new Lab()
      const stack = (shift: number): StackBuilder => {
        const built = stackOf()
        for (let i = 0; i < size; i++) built.subscription(`s${i}`)
        for (let i = 0; i < size; i++) built.database(`d${i}`, `s${(i + shift) % size}`, {name: 'cache'})
        return built
      }
      await lab.run(async () => {
        await lab.apply([stack(0)])
        const before = Array.from({length: size}, (_, i) => owned(lab, `d${i}`))
        lab.simulator.clearLog()
        const {plan} = await lab.plan([stack(1)])
        expect(new Set(active(plan.operations).map(it => it.action))).toEqual(new Set(['move']))
        await lab.apply([stack(1)])
        expect(lab.writes).toEqual([])
        expect(Array.from({length: size}, (_, i) => owned(lab, `d${i}`))).toEqual(before.map((_, i) => before[(i + 1) % size]))
        expect(await actions(lab, [stack(1)])).toEqual([])
      })
    })
  }

  it('are all in the ledger before anything is sent', async () => {
    const lab = new Lab()
    const stack = (one: string, two: string, gb: number) =>
      stackOf()
        .subscription('a')
        .subscription('b')
        .database('x', one, {name: 'cache', memoryLimitInGb: gb})
        .database('y', two, {name: 'cache', memoryLimitInGb: gb})
    await lab.run(async () => {
      await lab.apply([stack('a', 'b', 1)])
      const before = [owned(lab, 'x'), owned(lab, 'y')]
      let atFirstWrite: unknown
      lab.simulator.clearLog()
      const {save} = lab.store('shop')
      lab.store('shop').save = ledger => {
        atFirstWrite ??= [lab.writes.length, ...['x', 'y'].map(it => ledger.entries.get(`null_resource.${it}`)?.remoteId)]
        return save.call(lab.store('shop'), ledger)
      }
      await lab.apply([stack('b', 'a', 2)])
      expect(atFirstWrite).toEqual([0, before[1], before[0]])
      expect(lab.writes).toHaveLength(2)
    })
  })

  it('under new addresses each keep their object', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('a').database('x', 'a', {name: 'one'}).database('y', 'a', {name: 'two'})])
      const renamed = stackOf().subscription('a').database('x2', 'a', {name: 'two'}).database('y2', 'a', {name: 'one'})
      lab.simulator.clearLog()
      expect(await actions(lab, [renamed])).toEqual(['move x2', 'move y2'])
      await lab.apply([renamed])
      expect(lab.writes).toEqual([])
      expect(await actions(lab, [renamed])).toEqual([])
    })
  })
})

describe('an ACL object that moves to another database', () => {
  const stack = (parent: string) =>
    stackOf()
      .subscription('a')
      .database('d1', 'a')
      .database('d2', 'a')
      .rule('reader', parent)
      .user('app', parent, {role: 'reader'}, ['reader'])

  it('is blocked, since the old one cannot be deleted; everything else goes on', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stack('d1')])
      lab.simulator.clearLog()
      const next = stack('d2').database('d3', 'a')
      const {plan} = await lab.plan([next], {lifts: {skipBlocked: false}})
      expect(active(plan.operations).map(it => `${it.action} ${it.address}`)).toEqual([
        'blocked null_resource.reader',
        'blocked null_resource.app',
        'create null_resource.d3',
      ])
      expect(plan.operations.find(it => it.action === 'blocked')?.reason).toMatch(/moves to another database, and .* not delete them/)
      expect(plan.guards.map(it => it.code)).toEqual(['G_BLOCKED'])
      const {summary} = await lab.apply([next])
      expect(summary).toMatchObject({done: 1, failed: 0})
      expect(lab.writes).toEqual(['POST /subscriptions/1/databases'])
    })
  })

  it('is made anew where that is accepted, and the old one stays and is forgotten', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stack('d1')])
      lab.simulator.clearLog()
      const accept = ['null_resource.reader', 'null_resource.app']
      await lab.apply([stack('d2')], {lifts: {accept}})
      expect(lab.writes).toEqual(['POST /subscriptions/1/databases/2/acl/rules', 'POST /subscriptions/1/databases/2/acl/users'])
      expect(await actions(lab, [stack('d2')])).toEqual([])
    })
  })

  it('is created where it belongs when the database it leaves goes too', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stack('d1')])
      lab.simulator.clearLog()
      const next = stack('d2').without('d1')
      const {summary} = await lab.apply([next])
      expect(summary).toMatchObject({failed: 0, skipped: 0})
      expect([...lab.writes].sort()).toEqual([
        'DELETE /subscriptions/1/databases/1',
        'POST /subscriptions/1/databases/2/acl/rules',
        'POST /subscriptions/1/databases/2/acl/users',
      ])
      expect(await actions(lab, [next])).toEqual([])
    })
  })

  it('holds up what hangs on it, which is not there yet', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('a').database('d1', 'a').database('d2', 'a').rule('reader', 'd1')])
      lab.simulator.clearLog()
      const {ended} = await lab.apply([stack('d2')])
      expect(ended.find(it => it.operation.address === 'null_resource.app')).toMatchObject({
        state: 'skipped',
        because: 'shop:null_resource.reader',
      })
      expect(lab.writes).toEqual([])
    })
  })
})

describe('a database that leaves a subscription which goes', () => {
  it('is gone from it before the subscription is deleted', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('a').subscription('b').database('x', 'a')])
      lab.simulator.clearLog()
      const {summary} = await lab.apply([stackOf().subscription('b').database('x', 'b')])
      expect(summary).toMatchObject({failed: 0, skipped: 0})
      expect(lab.writes).toEqual(['DELETE /subscriptions/1/databases/1', 'POST /subscriptions/2/databases', 'DELETE /subscriptions/1'])
    })
  })
})

describe('an address that changes its kind', () => {
  it('deletes what it was and creates what it is', async () => {
    const lab = new Lab()
    const before = stackOf().subscription('a').database('thing', 'a', {name: 'old'}).rule('r', 'thing')
    const after = stackOf().subscription('a').bdb('thing', {name: 'new'})
    await lab.run(async () => {
      await lab.apply([before])
      lab.simulator.clearLog()
      expect(await actions(lab, [after])).toEqual(expect.arrayContaining(['create thing', 'delete thing (deposed)', 'forget r']))
      const {summary} = await lab.apply([after])
      expect(summary).toMatchObject({done: 3, failed: 0, skipped: 0})
      expect(lab.writes.sort()).toEqual(['DELETE /subscriptions/1/databases/1', 'POST /v1/bdbs'])
      expect(owned(lab, 'thing')).toBe('cluster/bdbs/1')
      expect(await actions(lab, [after])).toEqual([])
      expect(lab.store('shop').ledger.entries.size).toBe(2)
    })
  })

  it('is looked into as any other before it is deleted: a subscription that still holds something stays', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('thing', {name: 'full'})])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'theirs', memoryLimitInGb: 1}})
      const {plan} = await lab.plan([stackOf().bdb('thing')])
      expect(plan.operations.find(it => it.kind === 'cloud.subscription')).toMatchObject({
        action: 'blocked',
        reason: expect.stringContaining('theirs'),
      })
    })
  })

  it('keeps what it was in the ledger while that cannot be deleted', async () => {
    const lab = new Lab()
    const before = stackOf().subscription('a').database('d', 'a').rule('thing', 'd')
    const after = stackOf().subscription('a').database('d', 'a').bdb('thing')
    await lab.run(async () => {
      await lab.apply([before])
      await lab.apply([after])
      expect(owned(lab, 'thing')).toBe('cluster/bdbs/1')
      expect(await actions(lab, [after])).toEqual(['blocked thing (deposed)'])
      expect(await actions(lab, [after], {lifts: {accept: ['null_resource.thing (deposed']}}).catch(error => error.code)).toBe(
        'E_UNKNOWN_ADDRESS',
      )
      expect(await actions(lab, [after], {lifts: {accept: ['null_resource.thing']}})).toEqual(['forget thing (deposed)'])
    })
  })
})

describe('a name that is freed by a replacement', () => {
  it('is taken after that', async () => {
    const lab = new Lab()
    const stack = (one: string, two: string, port: number) =>
      stackOf().subscription('a').database('two', 'a', {name: two}).database('one', 'a', {name: one, port})
    await lab.run(async () => {
      await lab.apply([stack('red', 'blue', 12_000)])
      lab.simulator.clearLog()
      const next = stack('green', 'red', 12_001)
      await lab.apply([next])
      expect(lab.writes).toEqual([
        'DELETE /subscriptions/1/databases/1',
        'POST /subscriptions/1/databases',
        'PUT /subscriptions/1/databases/2',
      ])
      expect(await actions(lab, [next])).toEqual([])
    })
  })

  it('of a ring is refused, with a way out that is one', async () => {
    const lab = new Lab()
    const stack = (...called: readonly string[]) =>
      called.reduce((built, name, at) => built.database(`d${at}`, 'a', {name}), stackOf().subscription('a'))
    await lab.run(async () => {
      await lab.apply([stack('red', 'blue', 'green')])
      const error = await refusal(lab, [stack('blue', 'green', 'red')])
      expect(error).toMatchObject({code: 'E_OPERATION_CYCLE', exit: 64})
      expect(error.suggestions[0]).toMatch(/^Give shop:null_resource.d0 a name that nothing has and apply; then/)
      await lab.apply([stack('third', 'green', 'red')])
      await lab.apply([stack('blue', 'green', 'red')])
      expect(await actions(lab, [stack('blue', 'green', 'red')])).toEqual([])
    })
  })

  it('of subscriptions needs no order: two may have one name', async () => {
    const lab = new Lab()
    const stack = (one: string, two: string) => stackOf().subscription('x', {name: one}).subscription('y', {name: two})
    await lab.run(async () => {
      await lab.apply([stack('red', 'blue')])
      await lab.apply([stack('blue', 'red')])
      expect(await actions(lab, [stack('blue', 'red')])).toEqual([])
    })
  })
})

describe('an exclusive collection', () => {
  it('loses an undeclared database whose name is declared in another subscription only', async () => {
    const lab = new Lab()
    world().subscription('a').database('cache').database('mine').subscription('b').into(lab.simulator)
    const stack = stackOf()
      .subscription('a', {}, {exclusive: ['databases']})
      .subscription('b')
      .database('mine', 'a')
      .database('cache', 'b')
    await lab.run(async () => {
      expect(await actions(lab, [stack])).toEqual(
        expect.arrayContaining(['delete cloud/subscriptions/1/databases/1', 'adopt mine', 'create cache']),
      )
    })
  })

  it('keeps what a stack that is not selected declares in it, however its parent is named', async () => {
    const lab = new Lab()
    world().subscription('a').database('k').database('i').database('n').database('r').peering({vpcId: 'vpc-9'}).into(lab.simulator)
    const own = stackOf().subscription('a', {}, {exclusive: ['databases', 'peerings']})
    const database = (name: string) => ['cloud.database', name, {name, memoryLimitInGb: 1}] as const
    const other = stackOf('other')
      .subscription('theirs', {name: 'a'})
      .database('k', 'theirs')
      .peering('p', 'theirs', {vpcId: 'vpc-9'})
      .add(...database('i'), {parent: {by: 'id', id: '1'}})
      .add(...database('n'), {parent: {by: 'name', name: 'a'}})
      .add(...database('r'), {parent: {by: 'remoteId', remoteId: 'cloud/subscriptions/1'}})
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('a')])
      expect(await actions(lab, [own, other], {selected: new Set(['shop'])})).toEqual(['adopt a'])
    })
  })
})

describe('a plan with two operations for one object', () => {
  it('is a defect that ends the command before anything is sent', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('a').database('x', 'a')
    await lab.run(async () => {
      await lab.apply([stack])
      const built = await lab.plan([stack.database('y', 'a', {name: 'y'})])
      const twice = built.plan.operations.map(it => (it.action === 'create' ? {...it, remoteId: owned(lab, 'x') ?? ''} : it))
      lab.simulator.clearLog()
      await expect(lab.execute({...built, plan: {...built.plan, operations: twice}}, [stack])).rejects.toMatchObject({
        code: 'E_PLAN_DEFECT',
        exit: 1,
        message: expect.stringContaining('cloud/subscriptions/1/databases/1: no-op shop:null_resource.x, create shop:null_resource.y'),
      })
      expect(lab.requests).toEqual([])
      const same = built.plan.operations.flatMap(it => [it, it])
      expect(() => assertOneEach(same, kinds)).toThrow(/shop:null_resource.a/)
    })
  })
})
