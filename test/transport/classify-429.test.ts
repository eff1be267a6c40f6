import {describe, expect, it} from 'vitest'
import {classify429} from '../../src/transport/classify-429.ts'
import {parseRateHeaders} from '../../src/transport/rate-headers.ts'

const refused = (about: Partial<Parameters<typeof classify429>[0]>) => classify429({method: 'POST', headers: {}, text: '', ...about})

describe('a 429', () => {
  it('to a read is about requests', () => {
    expect(refused({method: 'GET', headers: {'x-ratelimit-remaining': '40'}})).toBe('requests')
  })

  it('with requests left is about changes', () => {
    expect(refused({headers: {'x-ratelimit-remaining': '40'}})).toBe('changes')
    expect(refused({headers: {'x-rate-limit-remaining': '40'}})).toBe('changes')
  })

  it('with no request left is about requests', () => {
    expect(refused({headers: {'x-ratelimit-remaining': '0'}})).toBe('requests')
  })

  it('is believed when its code says what there are too many of', () => {
    const headers = {'x-ratelimit-remaining': '0'}
    expect(refused({headers, text: '{"error":{"code":"TOO_MANY_PENDING_SUBSCRIPTIONS","message":"Wait."}}'})).toBe('changes')
    expect(refused({text: '{"error_code":"rate_limit_exceeded"}', changesInFlight: 3})).toBe('requests')
  })

  it('is not decided by the status in words', () => {
    const text = '{"timestamp":"2026-01-01T00:00:00Z","status":429,"error":"Too Many Requests","path":"/v1/subscriptions"}'
    expect(refused({text, headers: {'x-ratelimit-remaining': '12'}})).toBe('changes')
  })

  it('that names seconds is about requests', () => {
    expect(refused({headers: {'retry-after': '2'}, changesInFlight: 4})).toBe('requests')
  })

  it('without a word is about requests when no change runs, and open when one does or nobody counted', () => {
    expect([0, 2, undefined].map(changesInFlight => refused(changesInFlight === undefined ? {} : {changesInFlight}))).toEqual([
      'requests',
      'unknown',
      'unknown',
    ])
  })
})

describe('rate headers', () => {
  const now = Date.UTC(2026, 0, 1)

  it('are read in both spellings', () => {
    const expected = {limit: 100, remaining: 99}
    expect(parseRateHeaders({'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '99'}, now)).toEqual(expected)
    expect(parseRateHeaders({'x-rate-limit-limit': '100, 100;w=60', 'x-rate-limit-remaining': '99'}, now)).toEqual(expected)
  })

  it('tell the reset in seconds from now or as a time of day', () => {
    expect(parseRateHeaders({'x-ratelimit-reset': '30'}, now)).toEqual({resetMs: 30_000})
    expect(parseRateHeaders({'x-ratelimit-reset': String(now / 1000 + 5)}, now)).toEqual({resetMs: 5_000})
    expect(parseRateHeaders({'x-ratelimit-reset': String(now + 7_000)}, now)).toEqual({resetMs: 7_000})
  })

  it('count as absent when they are no numbers, and a limit of nothing is none', () => {
    expect(parseRateHeaders({'x-ratelimit-limit': '0', 'x-ratelimit-remaining': 'many'}, now)).toEqual({})
  })
})
