/** Fills in what a declaration leaves open, as far as the answer is known. */
import type {Json, JsonObject} from '../../base/json.ts'
import {formatPointer} from '../../base/pointer.ts'
import type {Identity} from './kind.ts'
import {Deferred, Secret, type Value, type ValueObject, withParts} from './value.ts'

/** @returns undefined when the answer is not known yet; a secret where what it reads turned out to be one */
export type AnswerOf = (deferred: Deferred) => Json | Secret | undefined

/**
 * The same value with every answerable `Deferred` replaced; a secret one becomes a `Secret`. An expression that gives
 * null leaves its field out.
 */
export const resolveValue = (value: Value, answer: AnswerOf): Value => resolved(value, answer) ?? null

function resolved(value: Value, answer: AnswerOf): Value | undefined {
  if (value instanceof Deferred) {
    const known = answer(value)
    if (known === undefined) return value
    if (known === null) return undefined
    return value.secret && !(known instanceof Secret) ? new Secret(known, value.expression, undefined, value.needs) : known
  }
  return withParts(value, item => resolved(item, answer))
}

/** Plain JSON for the wire: secrets in clear. @throws TypeError when something is still unknown */
export function wireValue(value: Value): Json {
  if (value instanceof Secret) {
    if (value.value === undefined) throw new TypeError(`not given: ${value.expression}`)
    return value.value
  }
  if (value instanceof Deferred) throw new TypeError(`still unknown: ${value.expression}`)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return (value as readonly Value[]).map(wireValue)
  return wireObject(value as ValueObject)
}

export const wireObject = (value: ValueObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [key, wireValue(item)]))

/** The same, without what holds a secret that nobody gave: for what sends no such field. */
export const wirePart = (value: ValueObject): JsonObject =>
  wireObject(
    Object.fromEntries(
      Object.entries(value).filter(([, item]) => openLeaves(item).every(({leaf}) => leaf instanceof Deferred || leaf.value !== undefined)),
    ),
  )

export interface LeafAt {
  readonly pointer: string
  readonly leaf: Secret | Deferred
}

/** Every secret and every open leaf of a value, with its pointer. */
export function openLeaves(value: Value): readonly LeafAt[] {
  const found: LeafAt[] = []
  const path: string[] = []
  const look = (it: Value): void => {
    if (it instanceof Secret || it instanceof Deferred) found.push({pointer: formatPointer(path), leaf: it})
    else if (it !== null && typeof it === 'object') {
      // The keys of a list are its indexes.
      for (const key of Object.keys(it)) {
        path.push(key)
        look((it as ValueObject)[key] ?? null)
        path.pop()
      }
    }
  }
  look(value)
  return found
}

/** Puts values at pointers; what is not an object or a list on the way stays as it is. */
export function withLeaves(value: Value, leaves: ReadonlyMap<string, Value>, at: readonly string[] = []): Value {
  const here = leaves.get(formatPointer(at))
  if (here !== undefined) return here
  if (leaves.size === 0 || value === null || typeof value !== 'object' || value instanceof Secret || value instanceof Deferred) return value
  if (Array.isArray(value)) return (value as readonly Value[]).map((item, i) => withLeaves(item, leaves, [...at, String(i)]))
  return Object.fromEntries(Object.entries(value as ValueObject).map(([key, item]) => [key, withLeaves(item, leaves, [...at, key])]))
}

/** Whether a declaration says by now which object it means: what all that is said tells apart nothing may be left of to compute. */
export const saysWhich = ({keyOfParts}: Pick<Identity, 'keyOfParts'>, spec: ValueObject): boolean =>
  keyOfParts !== true || openLeaves(spec).every(({leaf}) => leaf instanceof Secret)

/** What a digest or a natural key may be made of: secrets and open leaves left out. */
export const plainPart = (value: ValueObject): JsonObject => withParts(value, plain) as JsonObject

const plain = (part: Value): Value | undefined => (part instanceof Secret || part instanceof Deferred ? undefined : withParts(part, plain))
