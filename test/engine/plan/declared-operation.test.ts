/** What becomes of one declared object, and the cause that programs read: each in the smallest world in which it arises. */
import {describe, expect, it} from 'vitest'
import {world} from '../../../src/simulator/index.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'

const CACHE = 'cloud/subscriptions/1/databases/1'
const cache = (spec = {}, policy = {}) => stackOf().subscription('main').database('cache', 'main', spec, policy)

/** What is planned for the one object with this address. */
async function plannedFor(lab: Lab, stack: StackBuilder, local = 'cache', more: Planning = {}) {
  const {plan} = await lab.plan([stack], more)
  const it = plan.operations.find(it => it.address === `null_resource.${local}`)
  return {action: it?.action, cause: it?.cause, changes: it?.changes.map(change => change.path), kept: it?.kept}
}

/** The same once this was applied, and somebody did something. */
async function planned(
  before: StackBuilder | undefined,
  after: StackBuilder,
  outside?: Parameters<Lab['simulator']['edit']>[0],
  more?: Planning,
) {
  const lab = new Lab()
  return lab.run(async () => {
    if (before !== undefined) await lab.apply([before])
    if (outside !== undefined) lab.simulator.edit(outside)
    return plannedFor(lab, after, 'cache', more)
  })
}

describe('a declared object', () => {
  it('that is not there is created', async () => {
    expect(await planned(undefined, cache())).toMatchObject({action: 'create', cause: 'not-there'})
  })

  it('that the ledger has and that is gone is created again', async () => {
    expect(await planned(cache(), cache(), {path: CACHE, delete: true})).toMatchObject({action: 'create', cause: 'gone'})
  })

  it('that is as declared is left as it is', async () => {
    expect(await planned(cache(), cache())).toEqual({action: 'no-op', cause: 'as-declared', changes: [], kept: undefined})
  })

  it.each([
    ['in git', cache({memoryLimitInGb: 2}), undefined, 'changed-in-git'],
    ['outside', cache(), {path: CACHE, set: {memoryLimitInGb: 3}}, 'changed-outside'],
    ['in git and outside', cache({memoryLimitInGb: 2}), {path: CACHE, set: {memoryLimitInGb: 3}}, 'changed-both'],
  ] as const)('that was changed %s is updated, and the cause says by whom', async (_, after, outside, cause) => {
    expect(await planned(cache(), after, outside)).toEqual({action: 'update', cause, changes: ['/memoryLimitInGb'], kept: undefined})
  })

  it('that was changed outside is left so where drift is kept, but for what changed in git', async () => {
    const kept = (after: StackBuilder) => planned(cache(), after, {path: CACHE, set: {memoryLimitInGb: 3}}, {lifts: {onDrift: 'keep'}})
    expect(await kept(cache())).toEqual({action: 'no-op', cause: 'as-declared', changes: [], kept: ['/memoryLimitInGb']})
    expect(await kept(cache({replication: true}))).toMatchObject({action: 'update', changes: ['/replication'], kept: ['/memoryLimitInGb']})
  })

  it.each([
    ['that are not compared', {ignoreChanges: ['/memoryLimitInGb']}, {}],
    ['that are kept as somebody changed them', {}, {lifts: {onDrift: 'keep'}}],
  ] as const)('that is replaced is shown with the fields %s: the new one has them as declared', async (_, policy, more) => {
    const port = (at: number) => cache({port: at}, policy)
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([port(12_000)])
      lab.simulator.edit({path: CACHE, set: {memoryLimitInGb: 3}})
      expect(await plannedFor(lab, port(12_000), 'cache', more)).toMatchObject({action: 'no-op', changes: []})
      const {plan} = await lab.plan([port(12_001)], more)
      const [it] = plan.operations.filter(it => it.action === 'replace')
      expect(it).toMatchObject({changes: [{path: '/memoryLimitInGb', before: 3, after: 1, risk: expect.any(String)}, {path: '/port'}]})
      expect([it?.kept, plan.notes.filter(note => note.includes('left so'))]).toEqual([undefined, []])
      const again = await lab.recheck(plan, [port(12_001)])
      expect(again.plan.operations.find(it => it.action === 'replace')?.changes).toEqual(it?.changes)
    })
  })

  it('of which a field cannot be changed in place is replaced', async () => {
    expect(await planned(cache({port: 12_000}), cache({port: 12_001}))).toMatchObject({
      action: 'replace',
      cause: 'immutable-field',
      changes: ['/port'],
    })
  })

  it('that is replaced without a name of its own to go by meanwhile is blocked where the new one is to come first', async () => {
    const policy = {createBeforeDestroy: true}
    expect(await planned(cache({port: 12_000}, policy), cache({port: 12_001}, policy))).toMatchObject({
      action: 'blocked',
      cause: 'name-kept',
    })
  })

  it('that moves to another parent, or whose parent is replaced, is replaced', async () => {
    const inside = (parent: string) => stackOf().subscription('a').subscription('b').database('cache', parent)
    expect(await planned(inside('a'), inside('b'))).toMatchObject({action: 'replace', cause: 'parent-changed'})
    const lab = new Lab()
    const below = await lab.run(async () => {
      const stack = (port: number) => cache({port}).rule('ro', 'cache')
      await lab.apply([stack(12_000)])
      return plannedFor(lab, stack(12_001), 'ro')
    })
    expect(below).toMatchObject({action: 'replace', cause: 'parent-replaced'})
  })

  it('that the ledger has under another address is moved there', async () => {
    const renamed = stackOf().subscription('main').database('store', 'main', {name: 'cache'}).moved('cache', 'store')
    const lab = new Lab()
    const found = await lab.run(async () => {
      await lab.apply([cache()])
      return plannedFor(lab, renamed, 'store')
    })
    expect(found).toMatchObject({action: 'move', cause: 'address-changed', changes: []})
  })
})

describe('an object that no ledger has', () => {
  const there = async (stack: StackBuilder) => {
    const lab = new Lab()
    world().subscription('main').database('cache').into(lab.simulator)
    return lab.run(() => plannedFor(lab, stack))
  }

  it('is adopted where it is as declared', async () => {
    expect(await there(cache())).toMatchObject({action: 'adopt', cause: 'found-by-name'})
  })

  it('is updated, and adopted by that, where it differs', async () => {
    expect(await there(cache({memoryLimitInGb: 7}))).toMatchObject({
      action: 'update',
      cause: 'found-by-name',
      changes: ['/memoryLimitInGb'],
    })
  })

  it('is adopted through an import block, which is the cause then', async () => {
    const imported = stackOf()
      .subscription('main')
      .add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1}, {parent: stackOf().in('main'), importId: CACHE})
    expect(await there(imported)).toMatchObject({action: 'adopt', cause: 'import-block'})
  })
})

it('a ledger that does not say all that an apply would write gets it without a request', async () => {
  const lab = new Lab()
  const found = await lab.run(async () => {
    await lab.apply([cache()])
    return plannedFor(lab, cache({}, {preventDestroy: true}))
  })
  expect(found).toMatchObject({action: 'adopt', cause: 'ledger-older', changes: []})
})

it('a declared field that others read, and that no answer shows, is recorded once and never again', async () => {
  const lab = new Lab({simulator: {cloud: {names: 'renamed'}}})
  const network = {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'}
  const stack = stackOf().subscription('main')
  stack.add('cloud.peering', 'cache', network, {parent: stack.in('main'), outputs: ['provider', 'region']})
  await lab.run(async () => {
    await lab.apply([stack])
    expect(lab.entry('shop', 'cache')?.outputs).toEqual({provider: 'AWS', region: 'us-east-1'})
    expect(await plannedFor(lab, stack)).toMatchObject({action: 'no-op', cause: 'as-declared'})
  })
})

describe('a field of ignoreChanges', () => {
  it('was not applied where it was not sent: what is declared of it is a change in git once it is compared again', async () => {
    const lab = new Lab()
    const stack = (memoryLimitInGb: number, replication: boolean, ignoreChanges: readonly string[]) =>
      stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb, replication}, {ignoreChanges})
    await lab.run(async () => {
      await lab.apply([stack(1, false, ['/memoryLimitInGb'])])
      await lab.apply([stack(2, true, ['/memoryLimitInGb'])])
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 1, replication: true})
      expect((await lab.plan([stack(3, true, ['/memoryLimitInGb'])])).plan.operations.map(it => it.action)).toEqual(['no-op', 'no-op'])
      expect((await lab.plan([stack(3, true, ['/memoryLimitInGb'])], {onlyChanged: true})).plan.operations).toEqual([])
      const {plan} = await lab.plan([stack(2, true, [])])
      expect(plan.operations.find(it => it.action === 'update')?.changes).toMatchObject([
        {path: '/memoryLimitInGb', before: 1, after: 2, moved: 'in git'},
      ])
    })
  })
})
