/** A name that is not free in the run that would give it away: nothing is deleted for a successor that cannot be made. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {Policy} from '../../../src/engine/model/declaration.ts'
import {safePart} from '../../../src/engine/plan/safe.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const actions = async (lab: Lab, stack: StackBuilder, more: Planning = {}): Promise<string[]> =>
  active((await lab.plan([stack], more)).plan.operations).map(it => `${it.action} ${it.address.replace('null_resource.', '')}`)

describe('a replacement by an object whose name another one keeps', () => {
  const then = (policy: Partial<Policy> = {}) =>
    stackOf().subscription('main').database('x', 'main', {name: 'orders'}, policy).database('y', 'main', {name: 'cache'})
  const renamed = (x?: string) => {
    const stack = stackOf().subscription('main').database('y', 'main', {name: 'orders', port: 12_001})
    return x === undefined ? stack : stack.database('x', 'main', {name: x})
  }

  it.each([
    ['is forgotten and stays', {removal: 'retain' as const}, undefined, {}],
    ['gives it up in another run', {}, 'former', {selection: {target: ['null_resource.y'], exclude: []}}],
  ])('is blocked where that %s, and what it would have deleted is there still', async (_, policy, x, more: Planning) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([then(policy)])
      const kept = lab.entry('shop', 'y')?.remoteId
      lab.simulator.clearLog()
      const {plan, summary} = await lab.apply([renamed(x)], more)
      expect(plan.operations.find(it => it.address === 'null_resource.y')).toMatchObject({
        action: 'blocked',
        wants: 'replace',
        cause: 'name-taken',
        reason: expect.stringMatching(/databases\/\d+ has the name "orders", and keeps it in this run/),
      })
      expect([summary.failed, lab.writes, lab.entry('shop', 'y')?.remoteId]).toEqual([0, [], kept])
    })
  })

  it('waits for the other one where that goes or takes another name, and does not care for one that keeps its name', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([then()])
      expect(await actions(lab, renamed('former'))).toEqual(['update x', 'replace y'])
      expect(await actions(lab, renamed())).toEqual(['delete x', 'replace y'])
    })
  })

  it('is judged with what it waits for: one that is blocked frees nothing, and what lives in it is not made again', async () => {
    const lab = new Lab()
    const with3 = (x: string, y: string, z: string, port: number, more: Partial<Policy> = {}) =>
      stackOf()
        .subscription('main')
        .database('x', 'main', {name: x, port}, more)
        .database('y', 'main', {name: y, port})
        .rule('r', 'y')
        .database('z', 'main', {name: z, port})
    await lab.run(async () => {
      await lab.apply([with3('one', 'two', 'three', 12_000).database('last', 'main', {name: 'four'}, {removal: 'retain'})])
      lab.simulator.clearLog()
      expect(await actions(lab, with3('four', 'one', 'two', 12_001))).toEqual(['forget last', 'blocked x', 'blocked y', 'blocked z'])
      await lab.apply([with3('four', 'one', 'two', 12_001)])
      expect(lab.writes).toEqual([])
    })
  })
})

describe('a subscription, of which an account takes several of a name', () => {
  const subs = (a: string, b: string, policy: Partial<Policy> = {}) =>
    stackOf().subscription('a', {name: a}).subscription('b', {name: b}, policy)

  async function started(): Promise<Lab> {
    const lab = new Lab()
    await lab.run(async () => void (await lab.apply([subs('x', 'y')])))
    lab.simulator.clearLog()
    return lab
  }

  it('is not called what an owned one is called that stays so: without a ledger nobody could tell them apart', async () => {
    const lab = await started()
    await lab.run(async () => {
      for (const [stack, more] of [
        [subs('y', 'y'), {}],
        [subs('y', 'z', {ignoreChanges: ['/name']}), {}],
        [subs('y', 'z'), {selection: {target: ['null_resource.a'], exclude: []}}],
      ] as const) {
        const {plan} = await lab.plan([stack], more)
        expect(plan.operations.find(it => it.address === 'null_resource.a')).toMatchObject({
          action: 'blocked',
          wants: 'update',
          cause: 'name-taken',
          reason: 'cloud/subscriptions/2 has the name "y", and keeps it in this run',
        })
      }
    })
  })

  it('waits for a name that gets free in the same run, renamed or made', async () => {
    const lab = await started()
    await lab.run(async () => {
      expect(await actions(lab, subs('y', 'z'))).toEqual(['update b', 'update a'])
      expect(await actions(lab, subs('z', 'y').subscription('c', {name: 'x'}))).toEqual(['update a', 'create c'])
      const {plan} = await lab.plan([subs('z', 'y').subscription('c', {name: 'x'})])
      expect(plan.operations.at(-1)?.edges).toEqual([{key: 'shop:null_resource.a', reason: 'frees the name'}])
    })
  })

  it('changes names with another one at once: each has its id', async () => {
    const lab = await started()
    await lab.run(async () => {
      expect(await lab.apply([subs('y', 'x')])).toMatchObject({summary: {failed: 0, done: 2}, residual: []})
    })
  })
})

describe('a name that is not compared', () => {
  it('is not taken from whoever has it', async () => {
    const lab = new Lab()
    const stack = (memoryLimitInGb: number) =>
      stackOf()
        .subscription('main')
        .database('x', 'main', {name: 'orders', memoryLimitInGb}, {ignoreChanges: ['/name']})
    await lab.run(async () => {
      await lab.apply([stack(1)])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {name: 'renamed'}})
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'orders', memoryLimitInGb: 1}})
      expect(await actions(lab, stack(2))).toEqual(['update x'])
    })
  })
})

describe('--no-destroy', () => {
  it('makes nothing in the place of what it does not replace, and leaves what lives in that as it is', async () => {
    const lab = new Lab()
    const stack = (parent: string, port: number) =>
      stackOf().subscription('a').subscription('b').database('x', parent, {port}).rule('ro', 'x')
    await lab.run(async () => {
      await lab.apply([stack('a', 12_000)])
      expect(await actions(lab, stack('a', 12_001), {lifts: {noDestroy: true}})).toEqual([])
      expect(await actions(lab, stack('b', 12_000).rule('rw', 'x', {rule: '+@all ~*'}), {lifts: {noDestroy: true}})).toEqual([])
      expect(await actions(lab, stack('a', 12_001).rule('rw', 'x', {rule: '+@all ~*'}), {lifts: {noDestroy: true}})).toEqual(['create rw'])
    })
  })
})

describe('--no-destroy, carried out', () => {
  it('makes what is new in an object that it does not replace', async () => {
    const lab = new Lab()
    const stack = (port: number) => stackOf().subscription('a').database('x', 'a', {port})
    await lab.run(async () => {
      await lab.apply([stack(12_000)])
      lab.simulator.clearLog()
      const {summary} = await lab.apply([stack(12_001).rule('rw', 'x')], {lifts: {noDestroy: true}})
      expect([summary.failed, lab.writes]).toEqual([0, ['POST /subscriptions/1/databases/1/acl/rules']])
    })
  })
})

describe('an object that is left out', () => {
  it('is not replaced by a declaration that has come to mean it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const both = () => stackOf().subscription('a').subscription('b')
      await lab.apply([both().database('x', 'b', {name: 'cache'}).database('y', 'a', {name: 'orders'})])
      lab.simulator.clearLog()
      const now = both().database('y', 'b', {name: 'cache', port: 12_001})
      const inText = both().add('cloud.database', 'y', {name: 'cache', memoryLimitInGb: 1, port: 12_001}, {parent: {by: 'name', name: 'b'}})
      for (const it of [now, inText]) expect(await actions(lab, it, {selection: {target: [], exclude: ['null_resource.x']}})).toEqual([])
      expect(await actions(lab, now)).toEqual(['replace y', expect.stringMatching(/^delete y \(deposed/)])
    })
  })
})

describe('a place where names are taken', () => {
  it('is the one where the parent stays, though it was to move: what is kept in it keeps its name', async () => {
    const lab = new Lab()
    const stack = (parent: string) => stackOf().subscription('a').subscription('b').database('db', parent)
    await lab.run(async () => {
      await lab.apply([stack('a').rule('old', 'db', {name: 'x'})])
      lab.simulator.clearLog()
      const {plan} = await lab.apply([stack('b').rule('new', 'db', {name: 'x'}).removed('old', {destroy: false})])
      expect(active(plan.operations).map(it => [it.action, it.address, it.cause])).toEqual([
        ['blocked', 'null_resource.db', 'not-empty'],
        ['blocked', 'null_resource.new', 'name-taken'],
      ])
      expect(lab.writes).toEqual([])
    })
  })

  it('is free again where the parent is replaced with all that is in it', async () => {
    const lab = new Lab()
    const stack = (protocol: string) => stackOf().subscription('a').database('db', 'a', {protocol})
    await lab.run(async () => {
      await lab.apply([stack('redis').rule('p', 'db', {name: 'x'}).rule('q', 'db', {name: 'y'})])
      const next = stack('memcached').rule('q', 'db', {name: 'x'})
      expect(await actions(lab, next)).toEqual(['replace db', 'forget p', 'replace q'])
      expect(await lab.apply([next])).toMatchObject({summary: {failed: 0, blocked: 0}, residual: []})
    })
  })
})

describe('a peering, of which a service takes several to one network', () => {
  const base = () => stackOf().subscription('a')

  it('is made when the one that leaves that network is gone, and not at all where that stays', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([base().peering('p', 'a', {vpcId: 'vpc-1'})])
      const next = base().peering('p', 'a', {vpcId: 'vpc-2'}).peering('q', 'a', {vpcId: 'vpc-1'})
      const {plan} = await lab.plan([next])
      expect(active(plan.operations).map(it => [it.action, it.because])).toEqual([
        ['replace', []],
        ['create', ['null_resource.p']],
      ])
      expect(active(safePart(plan, kinds).plan.operations)).toEqual([])
    })
  })
  const theirs = () =>
    stackOf('other').add('cloud.peering', 'theirs', {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1'}, {parent: base().in('a')})

  it.each([
    ['its stack only forgets', () => [base().peering('p', 'a', {vpcId: 'vpc-1'}, {removal: 'retain'})], () => []],
    ['another stack has', () => [base(), theirs()], () => [theirs()]],
  ])('is not made beside one that %s', async (_, first, others) => {
    const lab = new Lab()
    await lab.run(async () => {
      const [shop = base(), ...rest] = first()
      await lab.apply([shop.peering('q', 'a', {vpcId: 'vpc-2'}), ...rest])
      const kept = lab.entry('shop', 'q')?.remoteId
      lab.simulator.clearLog()
      const {plan} = await lab.apply([base().peering('q', 'a', {vpcId: 'vpc-1'}), ...others()])
      expect(plan.operations.find(it => it.address === 'null_resource.q')).toMatchObject({
        action: 'blocked',
        wants: 'replace',
        cause: 'name-taken',
        reason: expect.stringMatching(/peerings\/\S+ has the name "us-east-1 vpc-1", and keeps it in this run/),
      })
      expect([lab.writes, lab.entry('shop', 'q')?.remoteId]).toEqual([[], kept])
    })
  })

  it('is replaced where the other one goes in the same run, or changes too', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([base().peering('p', 'a', {vpcId: 'vpc-1'}).peering('q', 'a', {vpcId: 'vpc-2'})])
      expect(await actions(lab, base().peering('q', 'a', {vpcId: 'vpc-1'}))).toEqual(['delete p', 'replace q'])
      const swapped = base().peering('p', 'a', {vpcId: 'vpc-2'}).peering('q', 'a', {vpcId: 'vpc-1'})
      expect(await actions(lab, swapped)).toEqual(['replace p', 'replace q'])
    })
  })
})

describe('a name of which a server takes several', () => {
  it('is not waited for by what its holder waits for', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('old', {name: 'orders'}).subscription('main', {name: 'rest'}).database('db', 'old')])
      await lab.clock.sleep(5000)
      const merged = stackOf().subscription('main', {name: 'orders'}).database('db', 'main')
      expect(await actions(lab, merged)).toEqual(['update main', 'replace db', 'delete old'])
      const after = stackOf().subscription('next', {name: 'orders'}).database('db', 'old')
      const depends = after.subscription('main', {name: 'rest'}).add('cloud.subscription', 'old', {name: 'former'}, {after: ['next']})
      expect(await actions(lab, depends)).toEqual(['create next', 'update old'])
    })
  })

  it('is waited for where nothing else is', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('old', {name: 'orders'}).subscription('main', {name: 'rest'})])
      expect(await actions(lab, stackOf().subscription('main', {name: 'orders'}))).toEqual(['delete old', 'update main'])
    })
  })
})
