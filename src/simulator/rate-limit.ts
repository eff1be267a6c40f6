/** The account's request bucket (contract section 8) and the headers that tell of it. */

import {Refusal} from './base/answer.ts'
import type {CloudConfig, RateLimit} from './base/config.ts'
import type {Bucket, World} from './base/world.ts'

const perMs = (limit: RateLimit): number => Math.max(limit.perMinute - limit.foreignPerMinute, 0) / 60_000

/** Takes one token; answers what is left, or `undefined` when there was none. */
function take(bucket: Bucket, limit: RateLimit, now: number): number | undefined {
  bucket.tokens = Math.min(limit.burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs(limit))
  bucket.at = now
  // A hair below one is one: sums of fractions of a token never come out even.
  if (bucket.tokens < 1 - 1e-9) return undefined
  bucket.tokens -= 1
  return Math.max(0, Math.floor(bucket.tokens + 1e-9))
}

interface RateWords {
  readonly rateHeaders: CloudConfig['rateHeaders']
  readonly retryAfter: CloudConfig['retryAfter']
}

/**
 * Takes a token and answers the headers of the answer.
 * @throws Refusal 429 when the bucket is empty
 */
export function spend(
  buckets: World['buckets'],
  api: 'cloud' | 'cluster',
  limit: RateLimit | null,
  now: number,
  words: RateWords,
): Record<string, string> {
  if (limit === null) return {}
  buckets[api] ??= {tokens: limit.burst, at: now}
  const bucket = buckets[api]
  const left = take(bucket, limit, now)
  const headers: Record<string, string> = {}
  if (words.rateHeaders !== 'none') {
    headers[`${words.rateHeaders}-limit`] = String(limit.perMinute)
    headers[`${words.rateHeaders}-remaining`] = String(left ?? 0)
  }
  if (left !== undefined) return headers
  const waitMs = (1 - bucket.tokens) / Math.max(perMs(limit), 1e-6)
  if (words.retryAfter === 'seconds') headers['retry-after'] = String(Math.ceil(waitMs / 1000))
  if (words.retryAfter === 'date') headers['retry-after'] = new Date(Math.ceil((now + waitMs) / 1000) * 1000).toUTCString()
  throw new Refusal(429, api === 'cloud' ? 'TOO_MANY_REQUESTS' : 'too_many_requests', 'Too many requests.', {headers})
}
