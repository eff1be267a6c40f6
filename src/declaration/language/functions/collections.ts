/** Terraform's functions of lists, maps and sets. */
import {canonicalJson, type Json} from '../../../base/json.ts'
import {takeSteps, workOn} from '../values/expression-limits.ts'
import {lettersOf} from '../values/letters-of.ts'
import {
  ArgumentError,
  asFlag,
  asList,
  asMap,
  asText,
  asWhole,
  atLeast,
  atOnce,
  type FunctionTable,
  heavy,
  light,
  ofOneType,
  one,
  rule,
  structural,
  two,
} from '../values/rule.ts'
import {isSet, setOf, uniform} from '../values/value-types.ts'

const MANY = Number.POSITIVE_INFINITY
/** How long a computed list may be; Terraform's own bound of range() is narrower. */
const MAX_ITEMS = 100_000

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** Whether an item is this one: what has no parts is compared as it is, and everything else has its text made once. */
function sameAs(wanted: Json): (item: Json) => boolean {
  if (wanted === null || typeof wanted !== 'object') return item => item === wanted
  const text = canonicalJson(wanted)
  return item => {
    if (item === null || typeof item !== 'object') return false
    takeSteps(workOn([item]))
    return canonicalJson(item) === text
  }
}

const sortedKeys = (value: Json | undefined): readonly string[] => Object.keys(asMap(value, 'the argument')).sort(byText)

function lengthOf(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length
  if (typeof value === 'string') return lettersOf(value).length
  if (value !== null && typeof value === 'object') {
    takeSteps(workOn([value]) / 4)
    return Object.keys(value).length
  }
  throw new ArgumentError('the argument must be a list, a map or text')
}

function elementOf(from: Json | undefined, index: Json | undefined): Json {
  const items = asList(from, 'the first argument')
  if (isSet(items)) throw new ArgumentError('a set has no order: take tolist() of it')
  const at = asWhole(index, 'the index')
  if (at < 0) throw new ArgumentError('the index must be a whole number from 0 up')
  if (items.length === 0) throw new ArgumentError('the list is empty')
  return items[at % items.length] ?? null
}

function lookupIn(from: Json | undefined, key: Json | undefined, fallback: Json | undefined): Json {
  const fields = asMap(from, 'the first argument')
  const name = asText(key, 'the key')
  const found = Object.hasOwn(fields, name) ? fields[name] : fallback
  // The key is not quoted: it may be secret.
  if (found === undefined) throw new ArgumentError('the map has no such key, and no default is given')
  return found
}

function flattened(items: readonly Json[]): readonly Json[] {
  return items.flatMap(item => (Array.isArray(item) ? flattened(item as readonly Json[]) : [item]))
}

function sliceOf(value: Json | undefined, from: Json | undefined, to: Json | undefined): Json {
  const items = asList(value, 'the first argument')
  if (isSet(items)) throw new ArgumentError('a set has no order: take tolist() of it')
  const start = asWhole(from, 'the start')
  const end = asWhole(to, 'the end')
  if (start < 0 || end < start || end > items.length) {
    throw new ArgumentError(`the start must be from 0 up, the end not before it, and neither beyond the list (${items.length} items)`)
  }
  return items.slice(start, end)
}

function chunks(value: Json | undefined, size: Json | undefined): Json {
  const items = asList(value, 'the first argument')
  const length = asWhole(size, 'the size')
  if (length < 0) throw new ArgumentError('the size must not be negative')
  if (length === 0) return items.length === 0 ? [] : [items]
  return Array.from({length: Math.ceil(items.length / length)}, (_, at) => items.slice(at * length, (at + 1) * length))
}

function zipped(keys: Json | undefined, values: Json | undefined): Json {
  const names = asList(keys, 'the first argument')
  const items = asList(values, 'the second argument')
  if (names.length !== items.length) throw new ArgumentError(`there are ${names.length} keys and ${items.length} values`)
  return Object.fromEntries(names.map((name, at) => [asText(name, 'a key'), items[at] ?? null]))
}

function productOf(lists: readonly Json[]): Json {
  const parts = lists.map(it => asList(it, 'an argument'))
  if (parts.reduce((count, it) => count * it.length, 1) > MAX_ITEMS) throw new ArgumentError(`more than ${MAX_ITEMS} combinations`)
  let product: readonly (readonly Json[])[] = [[]]
  for (const part of parts) product = product.flatMap(head => part.map(item => [...head, item]))
  return parts.every(isSet) ? setOf(product) : product
}

function transposed(value: Json | undefined): Json {
  const found = new Map<string, string[]>()
  for (const [key, list] of Object.entries(asMap(value, 'the argument'))) {
    for (const item of asList(list, 'a value')) {
      const keys = found.get(asText(item, 'an item'))
      if (keys === undefined) found.set(asText(item, 'an item'), [key])
      else keys.push(key)
    }
  }
  return Object.fromEntries([...found].sort(([a], [b]) => byText(a, b)).map(([key, names]) => [key, names.sort(byText)]))
}

const setsOf = (lists: readonly Json[]): readonly (readonly Json[])[] => {
  const parts = lists.map(it => asList(it, 'an argument'))
  const items = uniform(parts.flat(), 'the items')
  let end = 0
  return parts.map(part => {
    const start = end
    end += part.length
    return items.slice(start, end)
  })
}

const without = (items: readonly Json[], others: readonly Json[]): readonly Json[] => {
  const gone = new Set(others.map(canonicalJson))
  return items.filter(item => !gone.has(canonicalJson(item)))
}

export const COLLECTIONS: FunctionTable = {
  length: atOnce(structural(1, 1, lengthOf)),
  lookup: atOnce(structural(2, 3, lookupIn)),
  element: atOnce(structural(2, 2, elementOf)),
  keys: heavy(structural(1, 1, sortedKeys)),
  values: heavy(structural(1, 1, from => sortedKeys(from).map(key => asMap(from, 'the argument')[key] ?? null))),
  concat: structural(1, MANY, (...lists) => lists.flatMap(it => asList(it, 'an argument'))),
  merge: heavy(
    structural(0, MANY, (...maps) => Object.assign({}, ...maps.filter(it => it !== null).map(it => asMap(it, 'an argument'))) as Json),
  ),
  reverse: structural(1, 1, value => {
    const items = asList(value, 'the argument')
    if (isSet(items)) throw new ArgumentError('a set has no order: take tolist() of it')
    return items.toReversed()
  }),
  slice: light(structural(3, 3, sliceOf)),
  chunklist: heavy(structural(2, 2, chunks)),
  coalescelist: atLeast(1, (...lists) => {
    const found = lists.find(it => it !== null && asList(it, 'an argument').length > 0)
    if (found === undefined) throw new ArgumentError('every list is empty')
    return found
  }),
  one: structural(1, 1, value => {
    if (value === null) return null
    const items = asList(value, 'the argument')
    if (items.length > 1) throw new ArgumentError(`the list has ${items.length} items, and it may have one at most`)
    return items[0] ?? null
  }),
  zipmap: heavy(structural(2, 2, zipped)),
  tolist: ofOneType(structural(1, 1, value => (value === null ? null : [...uniform(asList(value, 'the argument'), 'the items')]))),
  toset: heavy(one(value => (value === null ? null : setOf(uniform(asList(value, 'the argument'), 'the items'))))),
  tomap: heavy(
    ofOneType(
      structural(1, 1, value => {
        if (value === null) return null
        const names = Object.keys(asMap(value, 'the argument'))
        const items = uniform(Object.values(asMap(value, 'the argument')), 'the values')
        return Object.fromEntries(names.map((name, at) => [name, items[at] ?? null]))
      }),
    ),
  ),
  flatten: one(value => flattened(asList(value, 'the argument'))),
  distinct: heavy(
    one(value => {
      const items = uniform(asList(value, 'the argument'), 'the items')
      return [...new Map(items.map(item => [canonicalJson(item), item])).values()]
    }),
  ),
  compact: one(value =>
    asList(value, 'the argument').flatMap(it => (it === null || asText(it, 'an item') === '' ? [] : [asText(it, 'an item')])),
  ),
  contains: light(two((value, wanted) => asList(value, 'the first argument').some(sameAs(wanted ?? null)))),
  index: light(
    two((value, wanted) => {
      const found = asList(value, 'the first argument').findIndex(sameAs(wanted ?? null))
      if (found < 0) throw new ArgumentError('the list does not have the item')
      return found
    }),
  ),
  sort: one(value => [...asList(value, 'the argument')].map(it => asText(it, 'an item')).sort(byText)),
  setunion: heavy(atLeast(1, (...lists) => setOf(setsOf(lists).flat()))),
  setintersection: heavy(
    atLeast(1, (...lists) => {
      const [first = [], ...others] = setsOf(lists)
      return setOf(others.reduce((left, other) => without(left, without(left, other)), first))
    }),
  ),
  setsubtract: heavy(
    two((a = null, b = null) => {
      const [first = [], second = []] = setsOf([a, b])
      return setOf(without(first, second))
    }),
  ),
  setproduct: heavy(atLeast(2, (...lists) => productOf(lists))),
  matchkeys: heavy(
    rule(3, 3, (values, from, wanted) => {
      const items = asList(values, 'the first argument')
      const names = asList(from, 'the second argument')
      if (items.length !== names.length) throw new ArgumentError('the first two lists must be of one length')
      const keys = new Set(asList(wanted, 'the third argument').map(canonicalJson))
      return items.filter((_, at) => keys.has(canonicalJson(names[at] ?? null)))
    }),
  ),
  transpose: heavy(one(transposed)),
  alltrue: one(value => asList(value, 'the argument').every(it => it !== null && asFlag(it, 'an item'))),
  anytrue: one(value => asList(value, 'the argument').some(it => it !== null && asFlag(it, 'an item'))),
}
