/** A few addresses that mean now this object and now that one: what moves, changes names, places and kinds, alone and in rings. */
import fc from 'fast-check'
import {type StackBuilder, stackOf} from './lab.ts'

type Meaning =
  | {readonly is: 'database'; readonly parent: string; readonly name: string; readonly port: number}
  | {readonly is: 'rule'; readonly parent: string; readonly name: string}
  | {readonly is: 'bdb'; readonly name: string}

export interface Arrangement {
  readonly meanings: readonly (Meaning | undefined)[]
  readonly exclusive: boolean
}

const name = fc.constantFrom('x', 'y', 'z')

const meaning: fc.Arbitrary<Meaning> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant('database' as const),
      parent: fc.constantFrom('a', 'b'),
      name,
      port: fc.constantFrom(12_000, 12_000, 12_000, 12_001),
    }),
  },
  {weight: 1, arbitrary: fc.record({is: fc.constant('rule' as const), parent: fc.constantFrom('one', 'two'), name})},
  {weight: 1, arbitrary: fc.record({is: fc.constant('bdb' as const), name})},
)

/** Where an object stands: no two declarations may mean the same place. */
const placeOf = (it: Meaning): string => `${it.is} ${'parent' in it ? it.parent : ''} ${it.name}`

export const arrangement: fc.Arbitrary<Arrangement> = fc.record({
  meanings: fc.array(fc.option(meaning, {nil: undefined, freq: 4}), {minLength: 5, maxLength: 5}).map(all => {
    const taken = new Set<string>()
    return all.map(it => {
      if (it === undefined || taken.has(placeOf(it))) return undefined
      taken.add(placeOf(it))
      return it
    })
  }),
  exclusive: fc.boolean(),
})

export function arranged({meanings, exclusive}: Arrangement): StackBuilder {
  const stack = stackOf()
    .subscription('a', {}, {exclusive: exclusive ? ['databases'] : []})
    .subscription('b')
    .database('one', 'a')
    .database('two', 'b')
  for (const [at, it] of meanings.entries()) {
    const local = `slot${at}`
    if (it?.is === 'database') stack.database(local, it.parent, {name: it.name, port: it.port})
    else if (it?.is === 'rule') stack.rule(local, it.parent, {name: it.name})
    else if (it?.is === 'bdb') stack.bdb(local, {name: it.name})
  }
  return stack
}
