/** The account's request bucket (contract section 8) and the headers that tell of it. */
import {Refusal} from './answer.ts'
import type {CloudConfig, RateLimit} from './config.ts'

export class RateBucket {
  #tokens: number | undefined
  #at = 0

  /** Takes one token; answers what is left, negative when there was none. */
  take(limit: RateLimit, now: number): number {
    const perMs = (limit.perMinute - limit.foreignPerMinute) / 60_000
    const before = this.#tokens ?? limit.burst
    const filled = Math.min(limit.burst, before + Math.max(0, now - this.#at) * perMs)
    this.#at = now
    if (this.#tokens === undefined) this.#tokens = limit.burst
    if (filled < 1) {
      this.#tokens = filled
      return -1
    }
    this.#tokens = filled - 1
    return Math.floor(filled - 1)
  }

  /** Milliseconds until the next token. */
  waitMs(limit: RateLimit): number {
    const perMs = Math.max(limit.perMinute - limit.foreignPerMinute, 0.001) / 60_000
    return Math.max(0, (1 - (this.#tokens ?? limit.burst)) / perMs)
  }

  reset(): void {
    this.#tokens = undefined
  }
}

export interface RateWords {
  readonly rateHeaders: CloudConfig['rateHeaders']
  readonly retryAfter: CloudConfig['retryAfter']
}

/**
 * Takes a token and answers the headers of the answer.
 * @throws Refusal 429 when the bucket is empty
 */
export function spend(bucket: RateBucket, limit: RateLimit | null, now: number, words: RateWords, code: string): Record<string, string> {
  if (limit === null) return {}
  const left = bucket.take(limit, now)
  const headers: Record<string, string> = {}
  if (words.rateHeaders !== 'none') {
    headers[`${words.rateHeaders}-limit`] = String(limit.perMinute)
    headers[`${words.rateHeaders}-remaining`] = String(Math.max(0, left))
  }
  if (left >= 0) return headers
  const waitMs = bucket.waitMs(limit)
  if (words.retryAfter === 'seconds') headers['retry-after'] = String(Math.ceil(waitMs / 1000))
  if (words.retryAfter === 'date') headers['retry-after'] = new Date(Math.ceil((now + waitMs) / 1000) * 1000).toUTCString()
  throw new Refusal(429, code, 'Too many requests.', {headers})
}
