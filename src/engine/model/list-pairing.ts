/** Which item of a declared list is which item of a live one. No list's order means anything (wire facts, "Read-back differs"). */
import {isJsonObject, type Json} from '../../base/json.ts'
import {canonical} from './meaning.ts'
import {Deferred, Secret, type Value} from './value.ts'

/** The items by the text of their key, or `undefined` when an item has none or two have the same. */
export function byKey<T extends Value>(items: readonly T[], key: string): ReadonlyMap<string, T> | undefined {
  const found = new Map<string, T>()
  for (const item of items) {
    const text = keyText(item, key)
    if (text === undefined || found.has(text)) return undefined
    found.set(text, item)
  }
  return found
}

function keyText(item: Value, key: string): string | undefined {
  if (item instanceof Secret || item instanceof Deferred || !isJsonObject(item)) return undefined
  const value = item[key]
  return typeof value === 'string' || typeof value === 'number' ? String(canonical(value)) : undefined
}

/**
 * Whether every item of the one list has an item of the other to itself.
 * @param fits - whether the i-th of the one may be the j-th of the other
 */
export function pairsUp(size: number, otherSize: number, fits: (i: number, j: number) => boolean): boolean {
  const takenBy = new Map<number, number>()
  const place = (i: number, tried: Set<number>): boolean => {
    for (let j = 0; j < otherSize; j++) {
      if (tried.has(j) || !fits(i, j)) continue
      tried.add(j)
      const holder = takenBy.get(j)
      if (holder === undefined || place(holder, tried)) {
        takenBy.set(j, i)
        return true
      }
    }
    return false
  }
  for (let i = 0; i < size; i++) if (!place(i, new Set())) return false
  return true
}

/** Lists in an order of their own, all the way down; the values stay as they are spelled. */
export function ordered(value: Json): Json {
  if (Array.isArray(value)) {
    return (value as readonly Json[])
      .map(item => [JSON.stringify(canonical(item)), ordered(item)] as const)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([, item]) => item)
  }
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, ordered(item)]))
  return value
}
