/** A plan made on Monday and applied on Wednesday, with a colleague's apply on Tuesday. */
import {describe, expect, it} from 'vitest'
import {EXIT} from '../../../src/base/errors.ts'
import {beforeImage} from '../../../src/engine/model/before-image.ts'
import type {Operation, Plan} from '../../../src/engine/model/plan.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import type {Begun} from '../../../src/engine/plan/begun.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const main = (exclusive: readonly string[] = []) => stackOf('shop').subscription('main', {}, {exclusive})

/** A database that is there and that nobody has. */
async function forgotten(lab: Lab): Promise<void> {
  await lab.apply([main().database('cache', 'main')])
  const {ledger} = lab.store('shop')
  lab.store('shop').ledger = {...ledger, entries: new Map([...ledger.entries].filter(([address]) => !address.endsWith('cache')))}
}

const monday = async (lab: Lab, planned: StackBuilder) => (await lab.plan([planned])).plan

describe('an undeclared object of an exclusive collection', () => {
  it('goes for the reason that its plan says, and is refused for what that is refused for', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main()])
      world().subscription('theirs').peering({provider: 'AWS', region: 'r', vpcId: 'vpc-9'}).into(lab.simulator)
      const planned = main().subscription('theirs', {}, {exclusive: ['peerings']})
      const {plan} = await lab.plan([planned], {lifts: {adopt: []}})
      const again = await lab.recheck(plan, [planned])
      const removal = ({operations}: Plan) => operations.flatMap(it => (it.action === 'delete' ? [[it.address, it.cause, it.reason]] : []))
      expect(removal(again.plan)).toEqual([
        [expect.stringContaining('/peerings/'), 'exclusive', 'null_resource.theirs is exclusive for its peerings'],
      ])
      expect(again.plan.guards).toEqual(plan.guards)
      expect(again.plan.guards.map(it => it.code)).toEqual(['G_FIRST_CONTACT'])
    })
  })
})

describe('an object that a colleague has taken into the ledger since', () => {
  it('is not deleted as undeclared in an exclusive collection', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await forgotten(lab)
      const plan = await monday(lab, main(['databases']))
      expect(plan.operations.filter(it => it.action === 'delete')).toHaveLength(1)
      await lab.apply([main().database('cache', 'main')])
      await expect(lab.recheck(plan, [main(['databases'])])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('the ledger has it as null_resource.cache by now'),
      })
    })
  })

  it.each([
    ['changed', 3],
    ['adopted', 1],
  ])('is not %s under another address', async (_, memoryLimitInGb) => {
    const lab = new Lab()
    await lab.run(async () => {
      await forgotten(lab)
      const planned = main().database('mine', 'main', {name: 'cache', memoryLimitInGb})
      const plan = await monday(lab, planned)
      await lab.apply([main().database('theirs', 'main', {name: 'cache'})])
      await expect(lab.recheck(plan, [planned])).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })

  it('is not recorded a second time where a creation was planned', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main()])
      const planned = main().database('mine', 'main', {name: 'cache'})
      const plan = await monday(lab, planned)
      await lab.apply([main().database('theirs', 'main', {name: 'cache'})])
      await expect(lab.recheck(plan, [planned])).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })
})

describe('an object that somebody else has made since, under the name of one that the plan creates', () => {
  const planned = () => stackOf('shop').subscription('theirs', {}, {exclusive: ['peerings']})
  const theirs = ({operations}: Plan) => operations.find(it => it.address.endsWith('theirs'))
  const stranger = (lab: Lab) => world().subscription('theirs').peering({provider: 'AWS', region: 'r', vpcId: 'vpc-9'}).into(lab.simulator)

  it('is not taken over where the plan after this one would remove what is in it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf('shop').bdb('local')])
      const stack = planned().bdb('local')
      const plan = await monday(lab, stack)
      expect(theirs(plan)).toMatchObject({action: 'create'})
      stranger(lab)
      await expect(lab.recheck(plan, [stack])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringMatching(/peerings\/\S+ is in cloud\/subscriptions\/1 now, and would be removed as undeclared/),
      })
    })
  })

  it('is not taken over either where the plan adopts it, and something has come into it since', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf('shop').bdb('local')])
      world().subscription('theirs').into(lab.simulator)
      const stack = planned().bdb('local')
      const plan = await monday(lab, stack)
      expect(theirs(plan)).toMatchObject({action: 'adopt'})
      await lab.recheck(plan, [stack])
      await lab.apply([stackOf('other').subscription('theirs').peering('link', 'theirs')])
      lab.store('other').ledger = {...lab.store('other').ledger, entries: new Map()}
      await expect(lab.recheck(plan, [stack])).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })

  it('is not taken over either where the plan changes it, and something has come into it since', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf('shop').bdb('local')])
      world().subscription('theirs').into(lab.simulator)
      lab.simulator.edit({path: 'cloud/subscriptions/1', set: {paymentMethod: 'credit-card'}})
      const stack = stackOf('shop')
        .subscription('theirs', {paymentMethod: 'marketplace'}, {exclusive: ['peerings']})
        .bdb('local')
      const {plan} = await lab.plan([stack], {lifts: {adopt: ['*']}})
      expect(theirs(plan)).toMatchObject({action: 'update', adopts: true})
      await lab.recheck(plan, [stack])
      lab.simulator.edit({path: 'cloud/subscriptions/1/peerings', create: {provider: 'AWS', region: 'r', vpcId: 'vpc-9'}})
      await expect(lab.recheck(plan, [stack])).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })

  it.each([
    [
      'left out of the plan',
      (own: StackBuilder) => [own.database('cache', 'theirs')],
      {selection: {target: ['null_resource.theirs'], exclude: []}},
    ],
    [
      'another stack',
      (own: StackBuilder) => [
        own,
        stackOf('data').add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1}, {parent: {by: 'name', name: 'theirs'}}),
      ],
      {selected: new Set(['shop'])},
    ],
  ] as const)('is taken over with what is declared in it by what is %s, and only with that', async (_, stacksOf, more) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf('shop').bdb('local')])
      world().subscription('theirs').database('cache').into(lab.simulator)
      const stacks = stacksOf(
        stackOf('shop')
          .subscription('theirs', {}, {exclusive: ['databases']})
          .bdb('local'),
      )
      const {plan} = await lab.plan(stacks, more)
      expect(theirs(plan)).toMatchObject({action: 'adopt', spares: ['cloud/subscriptions/1/databases/1']})
      await lab.recheck(plan, stacks)
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'new', memoryLimitInGb: 1}})
      await expect(lab.recheck(plan, stacks)).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })

  it('is recorded as the plan would have made it where it holds nothing', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf('shop').bdb('local')])
      const stack = planned().bdb('local')
      const plan = await monday(lab, stack)
      world().subscription('theirs').into(lab.simulator)
      expect(theirs((await lab.recheck(plan, [stack])).plan)).toMatchObject({action: 'adopt', cause: 'found-by-name'})
    })
  })

  it('is not taken over in the place of one that gets a secret', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf('shop').bdb('local')])
      const stack = stackOf('shop')
        .bdb('local')
        .bdb('q', {authentication_redis_pass: new Secret('s3cret-word')})
      const plan = await monday(lab, stack)
      await lab.apply([stackOf('other').bdb('q')])
      lab.store('other').ledger = {...lab.store('other').ledger, entries: new Map()}
      await expect(lab.recheck(plan, [stack])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('is there by now: its secrets would not be set'),
      })
    })
  })
})

describe('an object that was deleted and made again since', () => {
  it.each([
    ['an update', 2],
    ['an adoption', 1],
  ])('is another one than %s was approved for', async (_, memoryLimitInGb) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main().database('cache', 'main')])
      const {ledger} = lab.store('shop')
      if (memoryLimitInGb === 1)
        lab.store('shop').ledger = {...ledger, entries: new Map([...ledger.entries].filter(([address]) => !address.endsWith('cache')))}
      const stack = main().database('cache', 'main', {memoryLimitInGb})
      const plan = await monday(lab, stack)
      expect(plan.operations.find(it => it.address.endsWith('cache'))).toMatchObject({remoteId: 'cloud/subscriptions/1/databases/1'})
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', delete: true})
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'cache', memoryLimitInGb}})
      await expect(lab.recheck(plan, [stack])).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })
})

describe('an object whose name is kept by one that --no-destroy leaves in place', () => {
  it('stays left out when the plan is applied, and the rest is done', async () => {
    const lab = new Lab()
    const then = stackOf('shop').subscription('main').database('x', 'main', {name: 'orders'}).database('y', 'main', {name: 'cache'})
    const now = main().database('y', 'main', {name: 'orders'}).database('z', 'main')
    await lab.run(async () => {
      await lab.apply([then])
      const {plan} = await lab.plan([now], {lifts: {noDestroy: true}})
      const left = plan.operations.find(it => it.cause === 'name-taken')
      expect(left).toMatchObject({address: 'null_resource.y', action: 'blocked', wants: 'update'})
      const again = await lab.recheck(plan, [now])
      expect(again.plan.operations.map(it => [it.action, it.address])).toEqual(plan.operations.map(it => [it.action, it.address]))
    })
  })
})

describe('a plan of --no-destroy that gives an address to another object', () => {
  const shop = () => stackOf('shop').subscription('a').subscription('b')
  it.each([
    [
      'puts something into an object that comes to that address in a later plan',
      shop().database('one', 'a').rule('x', 'one').database('y', 'a', {name: 'z', port: 12_001}),
      shop().database('one', 'a').database('x', 'a', {name: 'z', port: 12_000}).rule('y', 'x'),
      ['create null_resource.y'],
    ],
    [
      'makes an object there, and what it has is meant by a declaration that is left out',
      shop().database('x', 'a', {name: 'z', port: 12_001}),
      shop().database('x', 'b', {name: 'other'}).database('y', 'a', {name: 'z', port: 12_000}),
      ['create null_resource.x'],
    ],
    [
      'lets go of what is to stay, and leaves out what comes there',
      shop().database('one', 'a').bdb('x', {name: 'x'}, {removal: 'retain'}),
      shop().database('one', 'b').rule('x', 'one'),
      [expect.stringContaining('forget null_resource.x (deposed ')],
    ],
  ])('is carried out as approved where it %s', async (_, then, now, expected) => {
    const lab = new Lab()
    const said = (operations: readonly Operation[]) =>
      operations.filter(it => it.action !== 'no-op').map(it => `${it.action} ${it.address}`)
    await lab.run(async () => {
      await lab.apply([then])
      const {plan} = await lab.plan([now], {lifts: {noDestroy: true}})
      expect(said(plan.operations)).toEqual(expected)
      const again = await lab.recheck(plan, [now])
      expect(said(again.plan.operations)).toEqual(expected)
      const owned = () => [...lab.store('shop').ledger.entries.values()].map(it => it.remoteId)
      const kept = owned().filter(id => !plan.operations.some(it => it.action === 'forget' && it.remoteId === id))
      const {ended} = await lab.execute(again, [now])
      expect(ended.filter(it => it.operation.action !== 'no-op').map(it => it.state)).toEqual(['done'])
      expect(owned()).toEqual(expect.arrayContaining(kept))
    })
  })

  it.each([
    ['beside what was there', shop().database('x', 'a', {name: 'z', port: 12_001})],
    ['where nothing was', shop()],
  ])('is stale where a colleague has put a third object at that address, %s', async (_, then) => {
    const lab = new Lab()
    const now = shop().peering('x', 'a')
    await lab.run(async () => {
      await lab.apply([then])
      const {plan} = await lab.plan([now], {lifts: {noDestroy: true}})
      expect(plan.summary).toMatchObject({create: 1, delete: 0})
      await lab.apply([then.without('x').bdb('x')])
      await expect(lab.recheck(plan, [now])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining(`the ledger has ${lab.entry('shop', 'x')?.remoteId} there by now`),
      })
    })
  })
})

describe('an id that the server gives to an item of a list', () => {
  it.each([
    ['emptied', main().database('cache', 'main', {alerts: []})],
    ['deleted with its object', main()],
  ])('may be another one with every answer where the list is %s, and what it says may not', async (_, planned) => {
    const lab = new Lab()
    const shows = (id: number, value: number) =>
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {alerts: [{id, name: 'dataset-size', value}]}})
    await lab.run(async () => {
      await lab.apply([main().database('cache', 'main', {alerts: []})])
      shows(1, 80)
      const plan = await monday(lab, planned)
      expect(plan.summary.update + plan.summary.delete).toBe(1)
      shows(2, 80)
      await lab.recheck(plan, [planned])
      shows(3, 90)
      await expect(lab.recheck(plan, [planned])).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })
})

describe('a subscription that is to be deleted', () => {
  it('stays where somebody has put a database into it since', async () => {
    const lab = new Lab()
    const keep = stackOf('shop').subscription('other')
    await lab.run(async () => {
      await lab.apply([stackOf('shop').subscription('main').subscription('other')])
      const plan = await monday(lab, keep)
      expect(plan.operations.filter(it => it.action === 'delete')).toHaveLength(1)
      const {ledger} = lab.store('shop')
      await lab.apply([main().database('theirs', 'main').subscription('other')])
      lab.store('shop').ledger = ledger
      const sent = lab.simulator.log.length
      await expect(lab.recheck(plan, [keep])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('it still holds what this run does not remove'),
      })
      expect(lab.simulator.log.slice(sent).every(it => it.method === 'GET')).toBe(true)
    })
  })

  it('makes a plan stale where somebody has put a peering into it since, that would be lost with it, and not where one has gone', async () => {
    const lab = new Lab()
    const keep = stackOf('shop').subscription('other')
    const peer = (vpcId: string) =>
      lab.simulator.edit({path: 'cloud/subscriptions/1/peerings', create: {provider: 'AWS', region: 'us-east-1', vpcId}})
    await lab.run(async () => {
      await lab.apply([stackOf('shop').subscription('main').peering('own', 'main').subscription('other')])
      peer('vpc-seen')
      const plan = await monday(lab, keep)
      expect(plan.operations.find(it => it.kind === 'cloud.subscription' && it.action === 'delete')?.takes).toEqual([
        'cloud/subscriptions/1/peerings/pcx-2',
      ])
      expect((await lab.recheck(plan, [keep])).plan.summary.delete).toBe(2)
      peer('vpc-later')
      await expect(lab.recheck(plan, [keep])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('cloud/subscriptions/1/peerings/pcx-3 is in it now, and would go with it'),
      })
      for (const id of ['pcx-2', 'pcx-3']) lab.simulator.edit({path: `cloud/subscriptions/1/peerings/${id}`, delete: true})
      expect((await lab.recheck(plan, [keep])).plan.summary.delete).toBe(2)
    })
  })
})

describe('a parent of another stack', () => {
  it.each([
    ['is another object in its ledger by now', 'other', 'E_PLAN_STALE'],
    ['is what it was', 'main', undefined],
  ])('that %s', async (_, now, code) => {
    const lab = new Lab()
    const base = stackOf('base').subscription('main').subscription('other')
    const app = stackOf('app').add('cloud.database', 'db', {name: 'db', memoryLimitInGb: 1}, {parent: base.in('main')})
    await lab.run(async () => {
      await lab.apply([base])
      const {plan} = await lab.plan([base, app], {selected: new Set(['app'])})
      const {ledger} = lab.store('base')
      const [main, it] = [lab.entry('base', 'main'), lab.entry('base', now)]
      if (main && it) {
        const entries = new Map([...ledger.entries].filter(([address]) => address !== it.address))
        lab.store('base').ledger = {...ledger, entries: entries.set(main.address, {...main, remoteId: it.remoteId})}
      }
      const outcome = await lab.recheck(plan, [app]).catch(error => error)
      expect(outcome.code).toBe(code)
    })
  })
})

describe('an undeclared object that is to go from an exclusive collection', () => {
  const planned = main(['databases'])
  const deletions = (operations: readonly Operation[]) => operations.filter(it => it.action === 'delete').map(it => [it.address, it.origin])
  const cache = 'cloud/subscriptions/1/databases/1'

  it('goes where it is as it was, and no ledger has it for that', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await forgotten(lab)
      const plan = await monday(lab, planned)
      const {plan: now, observation} = await lab.recheck(plan, [planned])
      expect(deletions(now.operations)).toEqual([[cache, undefined]])
      expect(observation.orphans).toMatchObject([{stack: 'shop', object: {address: cache}, live: {name: 'cache'}}])
      expect(observation.orphans[0]?.entry).toBeUndefined()
      expect(observation.ownership.of('shop', 'cloud', cache)).toBeUndefined()
    })
  })

  it('is no deletion any more where somebody was faster, and a stale plan where somebody has changed it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await forgotten(lab)
      const plan = await monday(lab, planned)
      const {ledger} = lab.store('shop')
      await lab.apply([main().database('theirs', 'main', {name: 'cache', memoryLimitInGb: 7})])
      lab.store('shop').ledger = ledger
      await expect(lab.recheck(plan, [planned])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('memoryLimitInGb'),
      })
      await lab.apply([planned])
      const {plan: now} = await lab.recheck(plan, [planned])
      expect(deletions(now.operations)).toEqual([])
      expect(now.operations.find(it => it.address === cache)).toMatchObject({action: 'no-op', cause: 'already-satisfied'})
    })
  })
})

/** By a run of which nobody knows any more what it found. */
const BEGUN: Begun = {made: new Map(), before: []}

describe('a change of which a part is made', () => {
  const sized = (memoryLimitInGb: number, replication: boolean) => main().database('cache', 'main', {memoryLimitInGb, replication})

  it('is gone on with where the dead run of this plan has begun it, and stale where somebody else may have made that part', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([sized(1, false)])
      const now = sized(2, true)
      const plan = await monday(lab, now)
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 2}})
      await expect(lab.recheck(plan, [now])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('/memoryLimitInGb is as declared already'),
      })
      const rest = await lab.recheck(plan, [now], BEGUN)
      expect(rest.plan.operations.flatMap(it => it.changes.map(change => change.path))).toEqual(['/replication'])
      await lab.execute(rest, [now])
      expect((await lab.plan([now])).plan.summary).toMatchObject({update: 0, 'no-op': 2})

      // What differs otherwise than was approved is somebody's, whoever began.
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 7}})
      await expect(lab.recheck(plan, [now], BEGUN)).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })
})

describe('a plan that a run has begun', () => {
  const [added, key] = [main().database('cache', 'main'), 'shop:null_resource.cache']

  it('does not make again what the run has made and somebody has taken away since', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main()])
      const plan = await monday(lab, added)
      const made = new Map([[key, 'cloud/subscriptions/1/databases/1']])
      await expect(lab.recheck(plan, [added], {made, before: []})).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        exit: EXIT.stale,
        message: expect.stringContaining('this run has made it as cloud/subscriptions/1/databases/1, and it is gone since'),
      })
      // As long as it is there nothing is in the way.
      await lab.execute(await lab.recheck(plan, [added], BEGUN), [added])
      const again = await lab.recheck(plan, [added], {made, before: []})
      expect(again.plan.summary).toMatchObject({create: 0})
    })
  })

  it('does not make a replacement again of which the new object is gone', async () => {
    const lab = new Lab()
    const port = (it: number) => main().database('cache', 'main', {port: it})
    await lab.run(async () => {
      await lab.apply([port(12_000)])
      const plan = await monday(lab, port(12_001))
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', delete: true})
      await lab.clock.sleep(5000)
      const made = new Map([[key, 'cloud/subscriptions/1/databases/2']])
      await expect(lab.recheck(plan, [port(12_001)], {made, before: []})).rejects.toMatchObject({code: 'E_PLAN_STALE'})
      expect((await lab.recheck(plan, [port(12_001)], BEGUN)).plan.summary).toMatchObject({create: 1})
    })
  })

  it('gives way to nobody who came to its addresses after it began, and goes on beside what stood there before', async () => {
    const lab = new Lab()
    const [was, now] = [main().database('x', 'main'), main().bdb('x')]
    await lab.run(async () => {
      await lab.apply([main()])
      const plan = await monday(lab, now)
      const image = async () => [beforeImage(plan.operations, await lab.ledgers(['shop']))]
      const free = await image()
      await lab.apply([was])
      await lab.clock.sleep(5000)
      const [beside, unknown] = [await image(), []]
      await expect(lab.recheck(plan, [now], {made: new Map(), before: free})).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('the ledger has cloud/subscriptions/1/databases/1 there by now'),
      })
      for (const before of [beside, unknown])
        expect((await lab.recheck(plan, [now], {made: new Map(), before})).plan.summary).toMatchObject({create: 1, delete: 0})
    })
  })
})

it('what would go with an object that the plan does not take stays as it was approved: nobody forgets it for what a later plan does', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    const [shop, other] = [stackOf('shop').subscription('a'), stackOf('other')]
    const db = (port: number) => ({name: 'db', memoryLimitInGb: 1, port})
    other.add('cloud.database', 'db', db(12_000), {parent: shop.in('a')})
    shop.add('cloud.acl_rule', 'x', {name: 'x', rule: '+@read ~*'}, {parent: other.in('db')})
    await lab.apply([shop, other])
    await lab.clock.sleep(60_000)
    const next = [stackOf('shop').subscription('a').database('x', 'a', db(12_001)), stackOf('other')]
    const built = await lab.plan(next)
    const told = ({operations}: typeof built.plan) => operations.flatMap(it => (it.action === 'no-op' ? [] : [`${it.action} ${it.kind}`]))
    expect(told(built.plan)).toEqual(['move cloud.database', 'blocked cloud.acl_rule'])
    await lab.execute(built, next)
    await lab.clock.sleep(60_000)
    const again = await lab.recheck(built.plan, next)
    expect(told(again.plan)).toEqual(['blocked cloud.acl_rule'])
    await lab.execute(again, next)
    expect([...lab.store('shop').ledger.entries.values()].map(it => it.kind).sort()).toContain('cloud.acl_rule')
  })
})

describe('an object that has come to the address of what a plan lets go, and that stays when it is let go', () => {
  const slot = (port: number, removal: 'delete' | 'retain') => main().database('slot', 'main', {port}, {removal})

  it.each([
    ['deletes, though it would be forgotten', slot(12_000, 'delete'), slot(12_001, 'retain')],
    ['forgets', slot(12_000, 'retain'), slot(12_001, 'retain')],
    ['forgets, whatever that one was declared with', slot(12_000, 'retain'), slot(12_001, 'delete')],
    ['deletes, though it is of another kind', slot(12_000, 'delete'), main().bdb('slot', {}, {removal: 'retain'})],
  ])('is not what it %s', async (_, before, meanwhile) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([before])
      const plan = await monday(lab, main())
      await lab.apply([meanwhile])
      const {remoteId = ''} = lab.entry('shop', 'slot') ?? {}
      await expect(lab.recheck(plan, [main()])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining(`the ledger has ${remoteId} there by now`),
      })
    })
  })

  it('is nothing to what cannot be deleted, and was left where it is', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const shop = () => main().database('cache', 'main').bdb('y', {name: 'y'})
      const rule = stackOf('other').add('cloud.acl_rule', 'slot', {name: 'x', rule: '+@read ~*'}, {parent: shop().in('cache')})
      await lab.apply([shop(), rule])
      const now = [shop(), stackOf('other')]
      const {plan} = await lab.plan(now)
      expect(plan.operations.map(it => it.action)).toEqual(['blocked', 'no-op', 'no-op', 'no-op'])
      await lab.apply([main().database('cache', 'main'), stackOf('other').bdb('slot', {name: 'y'}, {removal: 'retain'})])
      const again = await lab.recheck(plan, now)
      expect(again.plan.operations.filter(it => it.action !== 'no-op')).toMatchObject([{action: 'blocked', kind: 'cloud.acl_rule'}])
      await lab.execute(again, now)
      expect(lab.entry('other', 'slot')).toMatchObject({kind: 'cluster.database'})
    })
  })
})

it('is stale, and no error of the stack, where what it puts something into is not there any more', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    const shop = (port?: number) => main().database('db', 'main', port === undefined ? {} : {port})
    const team = stackOf('team').add('cloud.acl_rule', 'ro', {name: 'ro', rule: '+@read ~*'}, {parent: shop().in('db')})
    await lab.apply([shop()])
    const now = [shop(), team]
    const {plan} = await lab.plan(now, {selected: new Set(['team'])})
    await lab.apply([shop(12_001)])
    lab.simulator.clearLog()
    await expect(lab.recheck(plan, now)).rejects.toMatchObject({
      code: 'E_PLAN_STALE',
      exit: 5,
      problems: [{address: 'null_resource.ro', message: expect.stringContaining('its database does not exist')}],
    })
    expect(lab.simulator.log.filter(it => it.method !== 'GET')).toEqual([])
  })
})

describe('an object that comes from another stack, and that an import block finds', () => {
  const before = () => [stackOf('a').subscription('main').database('x', 'main', {name: 'cache'}), stackOf('b').subscription('other')]
  const now = () => {
    const spec = {name: 'another', memoryLimitInGb: 1}
    const b = stackOf('b').subscription('other')
    return [
      stackOf('a').subscription('main'),
      b.add('cloud.database', 'y', spec, {parent: stackOf('a').in('main'), importId: 'cloud/subscriptions/1/databases/1'}),
    ]
  }

  it.each([
    ['moves', undefined, 'move'],
    ['is left alone', new Set(['b']), 'blocked'],
  ])('%s as the saved plan says', async (_, selected, action) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply(before())
      const {plan} = await lab.plan(now(), selected ? {selected} : {})
      const again = await lab.recheck(plan, now())
      expect(again.plan.operations.find(it => it.address === 'null_resource.y')).toMatchObject({
        action,
        remoteId: expect.stringMatching(/databases\/1$/),
      })
    })
  })
})

it('what the API has no way to do is looked at again: it may be so by now', async () => {
  const lab = new Lab()
  const of = (rule: string) => stackOf().subscription('main').database('cache', 'main').rule('ro', 'cache', {rule})
  await lab.run(async () => {
    await lab.apply([of('+@read ~*')])
    const {plan} = await lab.plan([of('+@all ~*')])
    const ro = async () => (await lab.recheck(plan, [of('+@all ~*')])).plan.operations.find(it => it.address === 'null_resource.ro')
    expect(await ro()).toMatchObject({action: 'blocked', cause: 'no-update'})
    lab.simulator.edit({path: lab.entry('shop', 'ro')?.remoteId ?? '', set: {rule: '+@all ~*'}})
    expect(await ro()).toMatchObject({action: 'adopt', changes: []})
  })
})
