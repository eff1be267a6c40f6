/** When a request is tried again, and after how long. */
import type {ConnectionError} from './connection-error.ts'
import {aheadMs} from './time-there.ts'

export const MAX_ATTEMPTS = 5
const FIRST_DELAY_MS = 1_000

/**
 * How long to wait before trying a request again after a 429 or a 5xx.
 *
 * Starts at one second and doubles: 1, 2, 4, 8 s. A longer wish of the server wins.
 *
 * @param attempt - tries made so far, from 1
 * @param retryAfterMs - the server's own wish in milliseconds; 0 when it gave none
 * @returns milliseconds to wait, or `undefined` when the last try (the fifth) is spent
 * @throws RangeError when `attempt` is not a whole number from 1 up
 * @see contract section 8, "Recommended client behaviour on 429"
 */
export function retryDelayMs(attempt: number, retryAfterMs = 0): number | undefined {
  if (!Number.isInteger(attempt) || attempt < 1) throw new RangeError(`an attempt is a whole number from 1 up, not ${attempt}`)
  if (attempt >= MAX_ATTEMPTS) return undefined
  return Math.max(FIRST_DELAY_MS * 2 ** (attempt - 1), retryAfterMs)
}

/**
 * The server's wish in `Retry-After`: seconds or a date by its own clock (wire facts, "Rate headers").
 *
 * @param headers - names in lower case
 * @returns milliseconds from `now`, never negative; `undefined` when there is no such header or it makes no sense
 */
export function parseRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers['retry-after']?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now - (aheadMs(headers, now) ?? 0))
}

/** What a method allows when nobody knows whether the request took effect (design section 4, the retry table). */
export type Repeatable =
  /** GET: any number of times. */
  | 'read'
  /** PUT and DELETE: the second time has the effect of the first. */
  | 'idempotent'
  /** POST and PATCH: only when provably refused. */
  | 'once'

export function repeatable(method: string): Repeatable {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return 'read'
  return method === 'PUT' || method === 'DELETE' ? 'idempotent' : 'once'
}

/** 501 and 505 are about what the server is, not about now; 408 is a server that gave up reading. */
const isPassing = (status: number): boolean => status === 408 || (status >= 500 && status !== 501 && status !== 505)

/**
 * Whether an answer asks for another try. 429 is for any method: the request was refused before it took effect.
 * A 503 to a write may mean "node not ready, try reads again" (wire facts, cluster API) and is then an answer.
 */
export function isRetryableStatus(method: string, status: number, options: {readonly writesOn503?: boolean} = {}): boolean {
  if (status === 429) return true
  if (!isPassing(status)) return false
  const kind = repeatable(method)
  return kind === 'read' || (kind === 'idempotent' && (status !== 503 || (options.writesOn503 ?? true)))
}

/** Whether a request that got no answer may be sent again: what never left may always, what left only when it can be repeated. */
export function isRetryableFailure(method: string, error: ConnectionError): boolean {
  return error.transient && (!error.arrived || repeatable(method) !== 'once')
}
