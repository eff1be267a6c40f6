/** What is read for a plan, by itself: which lists, in which order, and what is made of what they show. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {evaluate} from '../../../src/declaration/read/residual.ts'
import {emptyLedger} from '../../../src/engine/model/ledger.ts'
import {levelsOf} from '../../../src/engine/observe/levels-of.ts'
import type {Observation, ObserveInput} from '../../../src/engine/observe/observation.ts'
import {observe} from '../../../src/engine/observe/observe.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const shop = () => stackOf('shop').subscription('a').subscription('b').database('x', 'a').rule('ro', 'x').database('y', 'b')

/** All of it is there, and the ledger has it. */
async function applied(lab: Lab, ...builders: StackBuilder[]): Promise<void> {
  await lab.apply(builders)
  await lab.clock.sleep(5_000)
  lab.simulator.clearLog()
}

async function seen(lab: Lab, builders: readonly StackBuilder[], more: Partial<ObserveInput> = {}): Promise<Observation> {
  const stacks = builders.map(it => it.build())
  return observe({
    stacks,
    selected: new Set(stacks.map(it => it.name)),
    ledgers: await lab.ledgers(stacks.map(it => it.name)),
    kinds,
    backendOf: lab.backends('plan'),
    evaluate,
    variable: () => undefined,
    ...more,
  })
}

/** The lists that were read, without what says which page; proofs ask the longest ones a second time. */
const listsOf = (lab: Lab): string[] => [...new Set(lab.requests.map(it => it.replace(/^GET /, '').split('?')[0] ?? ''))]
const local = (address: string) => address.replace('null_resource.', '')
const orphansOf = ({orphans}: Observation) => orphans.map(it => [local(it.object.address), it.live?.name ?? null, it.heldBy ?? null])

describe('levels', () => {
  it('have every kind once, and no kind before its parent', () => {
    const depth = new Map(levelsOf(kinds).flatMap((level, at) => level.map(it => [it.name, at] as const)))
    expect([...depth.keys()].sort()).toEqual([...kinds.keys()].sort())
    for (const {name, parent} of kinds.values())
      expect([name, depth.get(name)]).toEqual([name, parent === undefined ? 0 : (depth.get(parent.kind) ?? Number.NaN) + 1])
  })
})

describe('what is read', () => {
  it('is each list that something declared or owned stands in, and none below what is not there', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await applied(lab, stackOf('shop').subscription('a').database('x', 'a'))
      const {pairs} = await seen(lab, [shop()])
      expect(listsOf(lab)).toEqual(['/subscriptions', '/subscriptions/1/databases', '/subscriptions/1/databases/1/acl/rules'])
      expect([...pairs.values()].map(it => [local(it.declaration.address), it.match?.live.remoteId ?? null])).toEqual([
        ['a', 'cloud/subscriptions/1'],
        ['b', null],
        ['x', 'cloud/subscriptions/1/databases/1'],
        ['ro', null],
        ['y', null],
      ])
    })
  })

  it('is only what is wanted and what that stands in, which is no part of the run itself', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await applied(lab, shop())
      const {pairs} = await seen(lab, [shop()], {wants: key => key === 'shop:null_resource.y'})
      expect(listsOf(lab)).toEqual(['/subscriptions', '/subscriptions/2/databases'])
      expect([...pairs.values()].map(it => [local(it.declaration.address), it.context])).toEqual([
        ['b', true],
        ['y', false],
      ])
    })
  })
})

describe('what a state of another program names', () => {
  it('is looked up by its lists and its own GET, and goes for nothing that somebody owns', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await applied(lab, stackOf('shop').subscription('a').database('x', 'a'))
      lab.store('shop').ledger = emptyLedger('shop')
      const named = (kind: string, remoteId: string, meantBy?: string) => ({stack: 'shop', kind, remoteId, ...(meantBy ? {meantBy} : {})})
      const renamed = stackOf('shop').subscription('other')
      const {pairs, orphans, ownership} = await seen(lab, [renamed], {
        expected: [
          named('cloud.subscription', 'cloud/subscriptions/1', renamed.key('other')),
          named('cloud.database', 'cloud/subscriptions/1/databases/7'),
        ],
      })
      expect([...pairs.values()].map(it => it.match?.live.remoteId)).toEqual(['cloud/subscriptions/1'])
      expect(listsOf(lab)).toEqual(['/subscriptions', '/subscriptions/1/databases', '/subscriptions/1/databases/7'])
      expect([orphans, ownership.of('shop', 'cloud', 'cloud/subscriptions/1')]).toEqual([[], undefined])
    })
  })
})

describe('what no declaration stands for', () => {
  it('is what the ledger has beside the declared, with what is there of it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await applied(lab, shop())
      const {orphans} = await seen(lab, [stackOf('shop').subscription('a').subscription('b').database('x', 'a')])
      expect(orphans.map(it => [local(it.object.address), it.entry?.remoteId, it.live?.remoteId]).sort()).toEqual([
        ['ro', 'cloud/subscriptions/1/databases/1/acl/rules/1', 'cloud/subscriptions/1/databases/1/acl/rules/1'],
        ['y', 'cloud/subscriptions/2/databases/2', 'cloud/subscriptions/2/databases/2'],
      ])
    })
  })

  it('is all that the ledgers have where everything is destroyed, and nothing is paired', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await applied(lab, shop())
      const observation = await seen(lab, [shop()], {destroy: true})
      expect(observation.pairs.size).toBe(0)
      expect(
        orphansOf(observation)
          .map(([address]) => address)
          .sort(),
      ).toEqual(['a', 'b', 'ro', 'x', 'y'])
    })
  })

  it('is what is going, too, although nobody has it: looked at where it stands, and owned by nobody for that', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await applied(lab, shop())
      const remoteId = 'cloud/subscriptions/2/databases/2'
      const {ledger} = lab.store('shop')
      lab.store('shop').ledger = {...ledger, entries: new Map([...ledger.entries].filter(([address]) => !address.endsWith('.y')))}
      const left = stackOf('shop').subscription('a').subscription('b').database('x', 'a').rule('ro', 'x')
      expect((await seen(lab, [left])).orphans).toEqual([])
      const going = [remoteId, 'cloud/subscriptions/2/databases/99'].map(id => ({
        stack: 'shop',
        address: id,
        kind: 'cloud.database',
        remoteId: id,
      }))
      const observation = await seen(lab, [left], {going: [...going, {...going[0], stack: 'other'} as never]})
      expect(observation.orphans.map(it => [it.object.remoteId, it.entry, it.live?.name ?? null])).toEqual([
        [remoteId, undefined, 'y'],
        ['cloud/subscriptions/2/databases/99', undefined, null],
      ])
      expect(observation.ownership.of('shop', 'cloud', remoteId)).toBeUndefined()
      // What is declared meanwhile is not to go.
      expect(orphansOf(await seen(lab, [shop()], {going: going.slice(0, 1)}))).toEqual([[remoteId, null, 'shop:null_resource.y']])
    })
  })
})

describe('what cannot be', () => {
  it('is one object with two declarations', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await applied(lab, stackOf('shop').subscription('a'))
      const twice = stackOf('shop').add('cloud.subscription', 'one', {name: 'a'}).add('cloud.subscription', 'two', {name: 'a'})
      lab.store('shop').ledger = {...lab.store('shop').ledger, entries: new Map()}
      const {problems, ambiguous} = await seen(lab, [twice])
      expect([...problems, ...ambiguous].map(it => it.address)).toContainEqual(expect.stringMatching(/null_resource\.(one|two)/))
    })
  })

  it('is an exclusive collection that its kind does not have', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const {problems} = await seen(lab, [stackOf('shop').subscription('a', {}, {exclusive: ['roses']})])
      expect(problems).toMatchObject([{address: 'shop:null_resource.a', message: expect.stringContaining('"roses"')}])
    })
  })
})
