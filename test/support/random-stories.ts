/** Days in the life of two stacks: what each declares, and how a run of that day goes about it. */
import fc from 'fast-check'
import type {ParentRef} from '../../src/engine/model/declaration.ts'
import {MOMENTS} from './crash.ts'
import {type Lab, type StackBuilder, stackOf} from './lab.ts'
import {objectsOf} from './promises.ts'

const SLOTS = 5
export const STACKS = ['shop', 'other'] as const
export const slotAt = (at: number): string => `slot${at}`

const name = fc.constantFrom('x', 'y', 'z')
const stack = fc.constantFrom(...STACKS)
const slot = fc.nat(SLOTS - 1)
const removal = fc.constantFrom('delete' as const, 'delete' as const, 'retain' as const)

/** What an address means on one day. */
const meaning = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constant('database' as const),
      stack: fc.constantFrom('shop' as const, 'shop' as const, 'other' as const),
      parent: fc.constantFrom('a', 'a', 'b'),
      name,
      port: fc.constantFrom(12_000, 12_000, 12_001),
      memory: fc.constantFrom(1, 1, 2),
      removal,
      createBeforeDestroy: fc.boolean(),
      preventDestroy: fc.constantFrom(false, false, false, true),
      imports: fc.option(fc.nat(3), {nil: undefined, freq: 1}).chain(at => fc.constantFrom(...Array<undefined>(7).fill(undefined), at)),
      parentBy: fc.constantFrom('key', 'key', 'name'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('peering' as const),
      stack,
      parent: fc.constantFrom('a', 'b'),
      name,
      createBeforeDestroy: fc.boolean(),
      removal,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({is: fc.constant('rule' as const), stack, parent: fc.constantFrom('one', 'two', slotAt(0), slotAt(1)), name}),
  },
  {weight: 2, arbitrary: fc.record({is: fc.constant('bdb' as const), stack, name, removal})},
)

type Meaning = typeof meaning extends fc.Arbitrary<infer T> ? T : never

/** How a run goes about what is declared. */
const way = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constant('saved' as const),
      selected: fc.constantFrom(undefined, ...STACKS),
      meanwhile: fc.constantFrom(
        'apply' as const,
        'apply' as const,
        'rename' as const,
        'delete' as const,
        'create' as const,
        'nothing' as const,
      ),
      nth: fc.nat(5),
    }),
  },
  {weight: 6, arbitrary: fc.record({is: fc.constant('resumed' as const), at: fc.nat(6), moment: fc.constantFrom(...MOMENTS)})},
  {
    weight: 4,
    arbitrary: fc.record({is: fc.constant('crashed' as const), at: fc.nat(6), moment: fc.constantFrom(...MOMENTS), changed: fc.boolean()}),
  },
  {weight: 3, arbitrary: fc.record({is: fc.constant('whole' as const)})},
  {weight: 3, arbitrary: fc.record({is: fc.constant('exclude' as const), slot, stack})},
  {weight: 3, arbitrary: fc.record({is: fc.constant('target' as const), slot, stack})},
  {weight: 2, arbitrary: fc.record({is: fc.constant('one stack' as const), stack})},
  {weight: 1, arbitrary: fc.record({is: fc.constant('destroy' as const), stack})},
  {weight: 1, arbitrary: fc.record({is: fc.constant('no destroy' as const)})},
  {weight: 1, arbitrary: fc.record({is: fc.constant('safe only' as const)})},
)

export type Way = typeof way extends fc.Arbitrary<infer T> ? T : never
export type WayOf<Is extends Way['is']> = Extract<Way, {readonly is: Is}>

const placeOf = (it: Meaning): string => `${it.is} ${'parent' in it ? it.parent : ''} ${it.name}`

const day = fc.record({
  meanings: fc.array(fc.option(meaning, {nil: undefined, freq: 4}), {minLength: SLOTS, maxLength: SLOTS}).map(all => {
    const places = all.map(it => it && placeOf(it))
    return all.map((it, at) => (places.indexOf(places[at]) === at ? it : undefined))
  }),
  exclusive: fc.constantFrom([], [], ['databases'], ['databases', 'peerings']),
  twoIn: fc.constantFrom('b', 'b', 'b', 'a'),
  moved: fc.array(fc.record({from: slot, to: slot}), {maxLength: 1}),
  removed: fc.array(fc.record({slot, destroy: fc.boolean()}), {maxLength: 1}),
  way,
})

export type Day = typeof day extends fc.Arbitrary<infer T> ? T : never

export const story: fc.Arbitrary<Day[]> = fc.array(day, {minLength: 2, maxLength: 4})

/** Both stacks as they are declared on a day; an import takes an id that is there by then. */
export function declaredOn(lab: Lab, it: Day): StackBuilder[] {
  const shop = stackOf('shop')
    .subscription('a', {}, {exclusive: it.exclusive})
    .subscription('b')
    .database('one', 'a')
    .database('two', it.twoIn)
  const both = {shop, other: stackOf('other')}
  for (const [at, meant] of it.meanings.entries()) if (meant) declare(lab, both, it, slotAt(at), meant)
  for (const builder of Object.values(both)) {
    for (const {from, to} of it.moved) if (from !== to) builder.moved(slotAt(from), slotAt(to))
    const declared = new Set(builder.build().declarations.map(one => one.key))
    for (const {slot: at, destroy} of it.removed) if (!declared.has(builder.key(slotAt(at)))) builder.removed(slotAt(at), {destroy})
  }
  return Object.values(both)
}

function declare(lab: Lab, both: Readonly<Record<'shop' | 'other', StackBuilder>>, {meanings}: Day, local: string, it: Meaning): void {
  const own = both[it.stack]
  switch (it.is) {
    case 'database': {
      const live = objectsOf(lab.simulator).filter(one => one.collection.endsWith('/databases'))
      const importId = it.imports === undefined ? undefined : live[it.imports % Math.max(1, live.length)]?.remoteId
      // By name a parent is found only where it is there already.
      const byName = it.parentBy === 'name' && lab.store('shop').ledger.entries.size > 0
      const parent: ParentRef = byName ? {by: 'name', name: it.parent} : both.shop.in(it.parent)
      const {removal: kept, createBeforeDestroy, preventDestroy} = it
      const policy = {removal: kept, createBeforeDestroy, preventDestroy}
      const spec = {name: it.name, memoryLimitInGb: it.memory, port: it.port}
      own.add('cloud.database', local, spec, {parent, policy, ...(importId === undefined ? {} : {importId})})
      return
    }
    case 'peering': {
      const {removal: kept, createBeforeDestroy} = it
      const spec = {provider: 'AWS', region: 'us-east-1', vpcId: `vpc-${it.name}`}
      own.add('cloud.peering', local, spec, {parent: both.shop.in(it.parent), policy: {removal: kept, createBeforeDestroy}})
      return
    }
    case 'rule': {
      const inSlot = meanings.find((_, at) => slotAt(at) === it.parent)
      if (it.parent.startsWith('slot') && inSlot?.is !== 'database') return
      own.add('cloud.acl_rule', local, {name: it.name, rule: '+@read ~*'}, {parent: both[inSlot?.stack ?? 'shop'].in(it.parent)})
      return
    }
    case 'bdb':
      own.bdb(local, {name: it.name}, {removal: it.removal})
  }
}

/** Somebody works by hand at the n-th database that is there. */
export function meddle({simulator}: Lab, how: 'rename' | 'delete' | 'create', nth: number): void {
  const all = objectsOf(simulator).filter(it => it.collection.endsWith('/databases'))
  const one = all[nth % Math.max(1, all.length)]
  const free = ['x', 'y', 'z'].find(word => !all.some(it => it.collection === one?.collection && it.name === word))
  if (one === undefined) return
  if (how === 'delete') simulator.edit({path: one.remoteId, delete: true})
  else if (how === 'rename') simulator.edit({path: one.remoteId, set: {name: free ?? 'w'}})
  else if (free !== undefined) simulator.edit({path: one.collection, create: {name: free, memoryLimitInGb: 1, port: 12_000}})
}
