/** Fills in what a declaration leaves open, as far as the answer is known. */
import type {Json, JsonObject} from '../base/json.ts'
import {formatPointer} from '../base/pointer.ts'
import {Deferred, Secret, type Value, type ValueObject} from './value.ts'

/** @returns undefined when the answer is not known yet */
export type Answer = (deferred: Deferred) => Json | undefined

/** The same value with every answerable `Deferred` replaced; a secret one becomes a `Secret`. */
export function resolveValue(value: Value, answer: Answer): Value {
  if (value instanceof Deferred) {
    const known = answer(value)
    if (known === undefined) return value
    return value.secret ? new Secret(known, value.expression) : known
  }
  if (value instanceof Secret || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return (value as readonly Value[]).map(item => resolveValue(item, answer))
  return Object.fromEntries(Object.entries(value as ValueObject).map(([key, item]) => [key, resolveValue(item, answer)]))
}

/** Plain JSON for the wire: secrets in clear. @throws TypeError when something is still unknown */
export function wireValue(value: Value): Json {
  if (value instanceof Secret) return value.value
  if (value instanceof Deferred) throw new TypeError(`still unknown: ${value.expression}`)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return (value as readonly Value[]).map(wireValue)
  return wireObject(value as ValueObject)
}

export const wireObject = (value: ValueObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [key, wireValue(item)]))

/** Every secret and every open leaf of a value, with its pointer. */
export function openLeaves(value: Value, at: readonly string[] = []): {pointer: string; leaf: Secret | Deferred}[] {
  if (value instanceof Secret || value instanceof Deferred) return [{pointer: formatPointer(at), leaf: value}]
  if (value === null || typeof value !== 'object') return []
  const items = Array.isArray(value)
    ? (value as readonly Value[]).map((item, i) => [String(i), item] as const)
    : Object.entries(value as ValueObject)
  return items.flatMap(([key, item]) => openLeaves(item, [...at, key]))
}

/** Puts values at pointers; what is not an object or a list on the way stays as it is. */
export function withLeaves(value: Value, leaves: ReadonlyMap<string, Value>, at: readonly string[] = []): Value {
  const here = leaves.get(formatPointer(at))
  if (here !== undefined) return here
  if (leaves.size === 0 || value === null || typeof value !== 'object' || value instanceof Secret || value instanceof Deferred) return value
  if (Array.isArray(value)) return (value as readonly Value[]).map((item, i) => withLeaves(item, leaves, [...at, String(i)]))
  return Object.fromEntries(Object.entries(value as ValueObject).map(([key, item]) => [key, withLeaves(item, leaves, [...at, key])]))
}

/** What a digest or a natural key may be made of: secrets and open leaves left out. */
export function plainPart(value: ValueObject): JsonObject {
  const plain = (item: Value): Json | undefined => {
    if (item instanceof Secret || item instanceof Deferred) return undefined
    if (item === null || typeof item !== 'object') return item
    if (Array.isArray(item)) return (item as readonly Value[]).map(it => plain(it) ?? null)
    return plainPart(item as ValueObject)
  }
  const fields: Record<string, Json> = {}
  for (const [key, item] of Object.entries(value)) {
    const known = plain(item)
    if (known !== undefined) fields[key] = known
  }
  return fields
}
