/**
 * When two JSON values mean the same to an API that re-spells what it is told (wire facts, "Read-back differs",
 * "List items"): numbers come back as floats, in single precision or as digits, and lists in any order. Absent,
 * `null`, `[]`, `false` and `0` stay five different things.
 */
import {canonicalJson, isJsonObject, type Json} from '../../base/json.ts'

/** The number a text spells, only where the number spells the same text again: `"2"`, `"0.5"`, not `"02"` or `"1.10"`. */
const spelled = (text: string): number | undefined => {
  const number = Number(text)
  return text !== '' && Number.isFinite(number) && String(number) === text ? number : undefined
}

/** Whole numbers (ids, bytes) are exact; of others, single precision is all that some answers keep. */
const sameNumber = (a: number, b: number): boolean =>
  a === b || (!(Number.isInteger(a) && Number.isInteger(b)) && Math.fround(a) === Math.fround(b))

/** Equality of two leaves; lists and objects are never the same as a leaf. */
export function sameLeaf(a: Json, b: Json): boolean {
  if (a === b) return true
  if (typeof a === 'number' && typeof b === 'number') return sameNumber(a, b)
  if (typeof a === 'number' && typeof b === 'string') return b.trim() !== '' && sameNumber(a, Number(b))
  if (typeof a === 'string' && typeof b === 'number') return sameLeaf(b, a)
  return false
}

/**
 * The value in a form of its own: equal meaning gives equal bytes. Lists are sorted, fractions are in single
 * precision, digits are numbers, keys are in order.
 */
export function canonical(value: Json): Json {
  if (Array.isArray(value)) {
    return (value as readonly Json[])
      .map(canonical)
      .map(item => [canonicalJson(item), item] as const)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([, item]) => item)
  }
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map(key => [key, canonical(value[key] ?? null)]),
    )
  if (typeof value === 'string') return spelled(value) === undefined ? value : canonical(Number(value))
  if (typeof value === 'number') return Number.isInteger(value) ? value + 0 : Math.fround(value)
  return value
}

/** Numbers that went through single precision, as somebody would have written them: 0.1 for 0.10000000149011612. */
export function legible(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(legible)
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, legible(item)]))
  if (typeof value !== 'number' || Number.isInteger(value) || Math.fround(value) !== value) return value
  for (let digits = 1; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits))
    if (Math.fround(shorter) === value) return shorter
  }
  return value
}

/** Text that two values have in common if they are the same by meaning; that they have it in common proves nothing. */
export function meaningOf(value: Json): string {
  if (value !== null && typeof value === 'object') return canonicalJson(canonical(value))
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
  return typeof value === 'boolean' || value === null || Number.isNaN(number) ? JSON.stringify(value) : String(Math.fround(number) + 0)
}

/** Equality by meaning of whole values. */
export const same = (a: Json, b: Json): boolean =>
  isJsonObject(a) || Array.isArray(a) ? canonicalJson(canonical(a)) === canonicalJson(canonical(b)) : sameLeaf(a, b)
