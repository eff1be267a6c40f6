/**
 * What a query is applied to, and what comes of it, is in memory as a whole; an answer without a query is not
 * (`base/shown-json.ts`). Some of what fits into an answer is many times as large as values: an object of a million fields, or
 * numbers that are kept in their own digits. And `[@,@]|[@,@]|…` makes of anything as much as there are words for.
 */
import {MAX_JSON_VALUES} from '../base/bounded-json.ts'
import {ExactNumber} from '../base/lossless-json.ts'

/** Objects by their names, twice as many as an app may have. */
const MOST_FIELDS = 200_000
const MOST_EXACT = 1_000_000

/** @returns what of it is too much, in words that follow "it has"; `undefined` when nothing is */
export function tooMuchOf(document: unknown): string | undefined {
  let values = 0
  let exact = 0
  const look = (value: unknown): string | undefined => {
    if (++values > MAX_JSON_VALUES) return `more than ${MAX_JSON_VALUES} values`
    if (value === null || typeof value !== 'object') return undefined
    if (value instanceof ExactNumber)
      return ++exact > MOST_EXACT ? `more than ${MOST_EXACT} numbers that no computer has as they are` : undefined
    if (Array.isArray(value)) {
      for (const item of value) {
        const fault = look(item)
        if (fault !== undefined) return fault
      }
      return undefined
    }
    let count = 0
    const fields = value as Readonly<Record<string, unknown>>
    for (const key in fields) {
      if (++count > MOST_FIELDS) return `an object of more than ${MOST_FIELDS} fields`
      const fault = look(fields[key])
      if (fault !== undefined) return fault
    }
    return undefined
  }
  return look(document)
}
