import {describe, expect, it} from 'vitest'
import {adviceFor} from '../../src/config/connection-advice.ts'
import {ConnectionError} from '../../src/transport/connection-error.ts'
import {isRetryableFailure, isRetryableStatus, parseRetryAfter, retryDelayMs} from '../../src/transport/retry.ts'

describe('the delay before another try', () => {
  it('starts at one second, doubles, and ends after the fifth try', () => {
    expect([1, 2, 3, 4, 5, 6].map(attempt => retryDelayMs(attempt))).toEqual([1_000, 2_000, 4_000, 8_000, undefined, undefined])
  })

  it('follows a longer wish of the server, and never a shorter one', () => {
    expect(retryDelayMs(1, 30_000)).toBe(30_000)
    expect(retryDelayMs(3, 500)).toBe(4_000)
  })

  it('is asked for tries that exist', () => {
    expect(() => retryDelayMs(0)).toThrow(RangeError)
    expect(() => retryDelayMs(1.5)).toThrow(RangeError)
  })
})

describe('Retry-After', () => {
  const now = Date.UTC(2026, 0, 1, 12, 0, 0)

  it('is read as seconds', () => {
    expect(parseRetryAfter({'retry-after': '7'}, now)).toBe(7_000)
    expect(parseRetryAfter({'retry-after': ' 0.5 '}, now)).toBe(500)
  })

  it('is read as a date, which may be over already', () => {
    expect(parseRetryAfter({'retry-after': 'Thu, 01 Jan 2026 12:00:03 GMT'}, now)).toBe(3_000)
    expect(parseRetryAfter({'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT'}, now)).toBe(0)
  })

  it('is a date of the clock that named it, however wrong ours is', () => {
    const at = {date: 'Thu, 01 Jan 2026 12:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 12:00:07 GMT'}
    for (const hours of [-1, 0, 1]) expect(parseRetryAfter(at, now + hours * 3_600_000)).toBe(7_000)
    // An answer that somebody had kept says nothing of the time.
    expect(parseRetryAfter({...at, age: '600'}, now + 1_000)).toBe(6_000)
    expect(parseRetryAfter({...at, date: 'today'}, now + 1_000)).toBe(6_000)
  })

  it('counts as absent when it makes no sense', () => {
    expect(parseRetryAfter({}, now)).toBeUndefined()
    for (const value of ['', 'soon', '-3'])
      expect([value, parseRetryAfter({'retry-after': value}, now) ?? 'absent']).toEqual([value, value === '-3' ? 0 : 'absent'])
  })
})

describe('what is tried again', () => {
  it('is a 429 for every method', () => {
    expect(['GET', 'PUT', 'DELETE', 'POST', 'PATCH'].filter(method => isRetryableStatus(method, 429))).toHaveLength(5)
  })

  it('is a server error of now for what can be repeated, and never for a POST or PATCH', () => {
    expect(['GET', 'PUT', 'DELETE', 'POST', 'PATCH'].filter(method => isRetryableStatus(method, 500))).toEqual(['GET', 'PUT', 'DELETE'])
  })

  it('is a 503 for reads only where the server means "node not ready"', () => {
    const options = {writesOn503: false}
    expect(['GET', 'PUT', 'DELETE'].filter(method => isRetryableStatus(method, 503, options))).toEqual(['GET'])
  })

  it('is neither an answer about the object nor one about what the server is', () => {
    expect([200, 400, 404, 406, 409, 501, 505].filter(status => isRetryableStatus('GET', status))).toEqual([])
  })

  it('is a POST without an answer only when it never left', () => {
    const request = {method: 'POST', url: 'https://api.example/v1/subscriptions'}
    expect(isRetryableFailure('POST', new ConnectionError('refused', request))).toBe(true)
    expect(isRetryableFailure('POST', new ConnectionError('lost', request))).toBe(false)
    expect(isRetryableFailure('PUT', new ConnectionError('lost', request))).toBe(true)
  })

  it('is no request whose certificate was not acceptable', () => {
    expect(isRetryableFailure('GET', new ConnectionError('tls', {method: 'GET', url: 'https://api.example/'}))).toBe(false)
  })
})

describe('an error of the connection', () => {
  it('names the request without what may be secret in its address', () => {
    const error = new ConnectionError('refused', {method: 'PUT', url: 'https://me:pass@store.example/part/1?signature=abc'})
    expect(error.message).toBe('PUT https://store.example/part/1: the connection was refused')
    expect([error.code, error.exit, error.arrived]).toEqual(['E_CONNECTION_REFUSED', 13, false])
  })

  it('tells for a certificate which settings decide about it', () => {
    const advised = (api: 'cloud' | 'cluster', detail: string, proxy?: string) =>
      new ConnectionError('tls', {method: 'GET', url: 'https://10.0.0.1:9443/v1/cluster'}, {detail, proxy, advice: adviceFor(api)})
        .suggestions
    expect(advised('cluster', 'SELF_SIGNED_CERT_IN_CHAIN')).toEqual([
      "Give the certificate of the server's authority with --ca-file, SVC_ENTERPRISE_CA_FILE, SVC_CA_FILE or ca_file in the profile.",
      'For a test system whose certificate cannot be mended, do not verify it: --insecure, SVC_ENTERPRISE_INSECURE=true or insecure = true in the profile.',
    ])
    expect(advised('cloud', 'SELF_SIGNED_CERT_IN_CHAIN')).toEqual([
      "Give the certificate of the server's authority with --ca-file, SVC_CA_FILE or ca_file in the profile.",
    ])
    expect(advised('cluster', 'SELF_SIGNED_CERT_IN_CHAIN', 'https://proxy.example:3128')).toEqual([
      expect.stringContaining("proxy's authority"),
    ])
    for (const useless of ['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED']) {
      expect(advised('cloud', useless).join(' ')).not.toMatch(/ca.file|insecure/i)
    }
  })
})
