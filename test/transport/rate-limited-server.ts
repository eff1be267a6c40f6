/** A server's side of an account in virtual time: a bucket, its headers, and somebody else who spends from it too. */
import type {Clock} from '../../src/base/clock.ts'
import {ConnectionError} from '../../src/transport/connection-error.ts'
import type {Transport} from '../../src/transport/http.ts'

export interface AccountOptions {
  readonly clock: Clock
  readonly perMinute?: number
  readonly burst?: number
  /** What is left when the test begins. */
  readonly left?: number
  /** From our request to the server, and back. */
  readonly latencyMs?: () => number
  /** absent, `none`: no rate headers. */
  readonly headers?: 'x-ratelimit' | 'x-rate-limit' | 'none'
  readonly retryAfter?: boolean
}

export class RateLimitedServer {
  readonly #clock: Clock
  readonly #perMs: number
  readonly #burst: number
  readonly #options: AccountOptions
  #tokens: number
  #at: number
  refused = 0
  served = 0
  /** When each request arrived. */
  readonly arrivals: number[] = []

  constructor(options: AccountOptions) {
    const {clock, perMinute = 100, burst = 150} = options
    this.#options = options
    this.#clock = clock
    this.#perMs = perMinute / 60_000
    this.#burst = burst
    this.#tokens = options.left ?? burst
    this.#at = clock.now()
  }

  /** Somebody else takes this many, as far as they are there. */
  takeElsewhere(count: number): void {
    this.#refill()
    this.#tokens -= Math.min(count, Math.floor(this.#tokens))
  }

  transport: Transport = async request => {
    const {latencyMs = () => 0, headers: prefix, retryAfter, perMinute = 100} = this.#options
    if (request.url.endsWith('/lost')) throw new ConnectionError('lost', request)
    await this.#clock.sleep(latencyMs())
    this.#refill()
    this.arrivals.push(this.#clock.now())
    const served = this.#tokens >= 1
    if (served) {
      this.#tokens -= 1
      this.served += 1
    } else this.refused += 1
    const headers: Record<string, string> = {}
    if (prefix !== undefined && prefix !== 'none') {
      headers[`${prefix}-limit`] = String(perMinute)
      headers[`${prefix}-remaining`] = String(Math.floor(this.#tokens))
    }
    if (!served && retryAfter) headers['retry-after'] = String(Math.ceil((1 - this.#tokens) / this.#perMs / 1000))
    await this.#clock.sleep(latencyMs())
    return {status: served ? 200 : 429, headers, body: new Uint8Array()}
  }

  #refill(): void {
    const now = this.#clock.now()
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs)
    this.#at = now
  }
}
