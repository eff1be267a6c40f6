/** What an answer's headers say about the account's request rate (contract section 8, wire facts "Rate headers"). */

import {aheadMs} from './time-there.ts'

type Headers = Readonly<Record<string, string>>

export interface RateHeaders {
  /** Requests per minute. */
  readonly limit?: number
  /** Requests left right now. */
  readonly remaining?: number
  /** Milliseconds until there are more. */
  readonly resetMs?: number
}

/** @param headers - names in lower case */
export function parseRateHeaders(headers: Headers, now: number): RateHeaders {
  const limit = numberIn(headers, 'limit')
  const remaining = numberIn(headers, 'remaining')
  const reset = numberIn(headers, 'reset')
  return {
    ...(limit !== undefined && limit > 0 && {limit}),
    ...(remaining !== undefined && {remaining}),
    ...(reset !== undefined && {resetMs: untilReset(reset, now + (aheadMs(headers, now) ?? 0))}),
  }
}

/** The first number of `100` or `100, 100;w=60`. */
function numberIn(headers: Headers, word: string): number | undefined {
  const text = headers[`x-ratelimit-${word}`] ?? headers[`x-rate-limit-${word}`]
  const digits = text === undefined ? undefined : /^\s*(\d+(?:\.\d+)?)/.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** A reset is a time of day (seconds or milliseconds since the epoch) when it is large, else seconds from now. */
function untilReset(reset: number, now: number): number {
  if (reset > 1e12) return Math.max(0, reset - now)
  if (reset > 1e9) return Math.max(0, reset * 1_000 - now)
  return reset * 1_000
}
