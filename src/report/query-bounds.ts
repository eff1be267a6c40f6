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

/** What one look at all of a value tells. */
export interface SeenBounds {
  /** What of it is too much, in words that follow "it has". */
  readonly fault: string | undefined
  /** It is JSON, and each number is JavaScript's own. */
  readonly isPlain: boolean
}

export function seen(document: unknown): SeenBounds {
  const look = new Look()
  const fault = look.at(document)
  return {fault, isPlain: look.isPlain}
}

class Look {
  isPlain = true
  #values = 0
  #exact = 0

  at(value: unknown): string | undefined {
    if (++this.#values > MAX_JSON_VALUES) return `more than ${MAX_JSON_VALUES} values`
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined
    if (typeof value !== 'object') {
      if (typeof value !== 'number' || !Number.isFinite(value)) this.isPlain = false
      return undefined
    }
    if (Array.isArray(value)) {
      for (const item of value) {
        const fault = this.at(item)
        if (fault !== undefined) return fault
      }
      return undefined
    }
    if (Object.getPrototypeOf(value) === Object.prototype) return this.#fields(value)
    this.isPlain = false
    if (!(value instanceof ExactNumber)) return this.#fields(value)
    return ++this.#exact > MOST_EXACT ? `more than ${MOST_EXACT} numbers that no computer has as they are` : undefined
  }

  #fields(value: object): string | undefined {
    let count = 0
    const fields = value as Readonly<Record<string, unknown>>
    for (const key in fields) {
      if (++count > MOST_FIELDS) return `an object of more than ${MOST_FIELDS} fields`
      const fault = this.at(fields[key])
      if (fault !== undefined) return fault
    }
    return undefined
  }
}
