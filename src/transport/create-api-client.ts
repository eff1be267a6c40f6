/**
 * Everything that stands between one call and its answer: base address, credentials, a token of the budget, the tries
 * of the retry table, redirects, and the count. A try never holds a token while it waits, and a 429 stops the whole
 * account and not one request.
 */
import type {Clock} from '../base/clock.ts'
import {hasDotSegment} from '../base/dot-segment.ts'
import type {AppError} from '../base/errors.ts'
import {PRIORITY, type Spending} from '../engine/model/backend.ts'
import {answerOf} from './answer-of.ts'
import type {ConnectedClient, StreamCall} from './api-client.ts'
import {bodyOf, lowerCase} from './body-of.ts'
import type {Budget, Permit} from './budget.ts'
import {classify429} from './classify-429.ts'
import {ConnectionError} from './connection-error.ts'
import {DotSegmentError} from './dot-segment-error.ts'
import type {HttpRequest, HttpResponse, HttpStreamResponse, OpenStream, Transport} from './http.ts'
import {parseRateHeaders} from './rate-headers.ts'
import {type GuardedMode, readOnly} from './read-only.ts'
import {redirectOf} from './redirect.ts'
import {MaxRequestsError, type RequestAllowance} from './request-allowance.ts'
import {isRetryableFailure, isRetryableStatus, parseRetryAfter, retryDelayMs} from './retry.ts'
import {aheadMs} from './time-there.ts'
import {type OnTransportEvent, shownPath} from './transport-event.ts'

export interface ApiClientOptions {
  /** The base address: ends in `/v1` for the cloud, has no path for the cluster. */
  readonly address: string
  /** Credentials as headers; asked for anew with every request. They go to `address` (and `origins`) only, and into no event. */
  readonly authentication: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>)
  readonly transport: Transport
  /** Without it `openStream` is not there to be used. */
  readonly openStream?: OpenStream
  readonly budget: Budget
  readonly clock: Clock
  /** 0 to 1, for jitter: a wait between tries grows by at most a tenth. Absent: no jitter. */
  readonly random?: () => number
  /** For one try, from its token to the whole answer; 30 s unless told. */
  readonly requestTimeoutMs?: number
  readonly mode?: 'full' | GuardedMode
  /** Named in the refusal of a read-only profile. */
  readonly profile?: string
  readonly onEvent?: OnTransportEvent
  /** Shared by all connections of a run. */
  readonly allowance?: RequestAllowance
  /** Further origins the user configured (`https://host:port`): redirects may lead there, with credentials. */
  readonly origins?: readonly string[]
  /** Whether a PUT or DELETE is sent again after a 503. Not for the cluster: there it means "node not ready, try reads again". */
  readonly retryWritesOn503?: boolean
}

const REQUEST_TIMEOUT_MS = 30_000
/** A longer wish of the server is an answer and not a wait: a quota that is used up for hours is exit 8 now. */
const MAX_PATIENCE_MS = 300_000
/** A server that was never reached is more likely misspelled than restarting. */
const TRIES_WITHOUT_CONTACT = 3

/** @throws TypeError when the address is no URL */
export function createApiClient(options: ApiClientOptions): ConnectedClient {
  const client = new BudgetedClient(options)
  const {mode = 'full', profile} = options
  return mode === 'full' ? client : readOnly(client, mode, profile)
}

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** One call in the form both plain and streamed ones have. */
interface Exchange<R extends Answered> {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** How it is retried: as this method. */
  readonly retryAs: string
  readonly priority: number
  readonly signal: AbortSignal | undefined
  readonly stop: AbortSignal | undefined
  readonly hurry: AbortSignal | undefined
  readonly beforeSend: (() => Promise<number | undefined>) | undefined
  readonly onRefused: (() => void) | undefined
  readonly answers: readonly number[]
  readonly changesInFlight: (() => number) | undefined
  send(url: string, headers: Readonly<Record<string, string>>, leave: Pick<HttpRequest, 'leaveWithinMs'>): Promise<R>
  /** The body, as far as it may tell why there is a 429. */
  words(response: R): string
  /** An answer nobody will read. */
  drop(response: R): Promise<void>
}

type Outcome<R> =
  | {readonly answered: true; readonly response: R; readonly attempts: number; readonly arrived: boolean}
  | {readonly answered: false; readonly arrived: boolean; readonly error: AppError}

type Tried<R> =
  /** `again`: for a 429, 0 when it is worth another try (the budget does the waiting). */
  {readonly response: R; readonly again: number | undefined; readonly error?: never} | {readonly error: ConnectionError}

class BudgetedClient implements ConnectedClient {
  readonly address: string
  readonly spending: Spending
  readonly #options: ApiClientOptions
  readonly #origins: ReadonlySet<string>
  #used = 0
  /** Some answer came from this address. */
  #contact = false
  /** Of its clock to ours. */
  #aheadMs = 0

  constructor(options: ApiClientOptions) {
    this.#options = options
    this.address = options.address.replace(/\/+$/, '')
    this.#origins = new Set([this.address, ...(options.origins ?? [])].map(address => new URL(address).origin))
    const {budget} = options
    const used = () => this.#used
    this.spending = {
      get used() {
        return used()
      },
      get waiting() {
        return budget.waiting
      },
      get perMinute() {
        return budget.perMinute
      },
      get burst() {
        return budget.burst
      },
      get available() {
        return budget.available
      },
    }
  }

  readonly now = (): number => this.#options.clock.now() + this.#aheadMs

  call: ConnectedClient['call'] = async (call, options = {}) => {
    const {transport, requestTimeoutMs = REQUEST_TIMEOUT_MS} = this.#options
    const {signal, timeoutMs = requestTimeoutMs} = options
    const {body, headers} = bodyOf(call)
    const given = {method: call.method, timeoutMs, ...(body !== undefined && {body}), ...(signal && {signal})}
    const outcome = await this.#converse<HttpResponse>({
      method: call.method,
      path: call.path,
      headers,
      retryAs: call.method,
      priority: options.priority ?? (call.method === 'GET' ? PRIORITY.read : PRIORITY.write),
      signal,
      stop: options.stop,
      hurry: options.hurry,
      beforeSend: options.beforeSend,
      onRefused: options.onRefused,
      answers: options.answers ?? [],
      changesInFlight: options.changesInFlight,
      send: (url, sent, leave) => transport({...given, ...leave, url, headers: sent}),
      words: response => Buffer.from(response.body).toString(),
      drop: async () => {},
    })
    return outcome.answered ? {answered: true, answer: answerOf(outcome.response, outcome)} : outcome
  }

  openStream: ConnectedClient['openStream'] = async (call, options = {}) => {
    const {openStream} = this.#options
    if (openStream === undefined) throw new TypeError('this connection was made without a streaming transport')
    const {signal, firstByteTimeoutMs, idleTimeoutMs} = options
    const outcome = await this.#converse<HttpStreamResponse>({
      method: call.method,
      path: call.path,
      headers: lowerCase(call.headers),
      // A stream may be gigabytes: it is not sent again on a suspicion, and the caller can go on from the middle.
      retryAs: 'POST',
      priority: options.priority ?? PRIORITY.interactive,
      signal,
      stop: undefined,
      hurry: undefined,
      beforeSend: undefined,
      onRefused: options.onRefused,
      answers: [],
      changesInFlight: undefined,
      send: (url, headers) => {
        const body = flowOf(call)
        return openStream({
          method: call.method,
          url,
          headers,
          ...(body !== undefined && {body}),
          ...(signal && {signal}),
          ...(firstByteTimeoutMs !== undefined && {firstByteTimeoutMs}),
          ...(idleTimeoutMs !== undefined && {idleTimeoutMs}),
        })
      },
      words: () => '',
      drop: async response => {
        for await (const _ of response.body) break
      },
    })
    if (!outcome.answered) throw outcome.error
    return outcome.response
  }

  async #converse<R extends Answered>(exchange: Exchange<R>): Promise<Outcome<R>> {
    this.#options.onEvent?.({type: 'asked'})
    return this.#exchanged(exchange).finally(() => this.#options.onEvent?.({type: 'answered'}))
  }

  async #exchanged<R extends Answered>(exchange: Exchange<R>): Promise<Outcome<R>> {
    const {method, path} = exchange
    const {allowance, onEvent} = this.#options
    let url = this.#urlOf(path)
    let hops = 0
    /** Of any try so far. */
    let arrived = false
    for (let attempt = 1; ; ) {
      if (allowance && !allowance.take()) return {answered: false, arrived, error: new MaxRequestsError(allowance.max, allowance.sent)}
      const tried = await this.#try(exchange, url, attempt)
      if (tried.error !== undefined) {
        const {error} = tried
        arrived ||= error.arrived
        if (exchange.signal?.aborted) {
          if (method === 'GET') throw exchange.signal.reason
          return {answered: false, arrived, error}
        }
        const delayMs = this.#delayAfterFailure(exchange, error, attempt)
        if (!arrived) exchange.onRefused?.()
        if (delayMs === undefined || !(await this.#waited(exchange, attempt, delayMs, error.code))) return {answered: false, arrived, error}
        attempt += 1
        continue
      }

      const {response} = tried
      const redirect = redirectOf({method, path, url, hops}, response, this.#origins)
      if (redirect.kind === 'refuse') {
        await exchange.drop(response)
        return {answered: false, arrived: arrived || redirect.error.arrived, error: redirect.error}
      }
      if (redirect.kind === 'follow') {
        onEvent?.({type: 'redirect', method, path: shownPath(path), status: response.status, to: redirect.to})
        await exchange.drop(response)
        url = redirect.url
        hops += 1
        continue
      }

      const again = response.status === 429 ? tried.again : this.#delayAfterAnswer(exchange, response, attempt)
      if (again === undefined) return {answered: true, response, attempts: attempt + hops, arrived}
      // 408: how much of it had come by then nobody says.
      if (response.status >= 500 || response.status === 408) arrived = true
      if (!arrived) exchange.onRefused?.()
      await exchange.drop(response)
      if (!(await this.#waited(exchange, attempt, again, String(response.status))))
        return {answered: true, response, attempts: attempt + hops, arrived}
      attempt += 1
    }
  }

  /** What leaves, and what turns out not to have. */
  #count(change: 1 | -1): void {
    this.#used += change
    if (this.#options.allowance) this.#options.allowance.sent += change
  }

  /** Sends once. What no answer came of is a ConnectionError here; anything else that is thrown is a mistake and goes up. */
  async #try<R extends Answered>(exchange: Exchange<R>, url: string, attempt: number): Promise<Tried<R>> {
    const {budget, clock, authentication, onEvent} = this.#options
    const {method, signal} = exchange
    const permit = await this.#turn(exchange)
    if (permit === undefined) return {error: new ConnectionError('aborted', {method, url}, {arrived: false})}
    let leaveWithinMs: number | undefined
    try {
      leaveWithinMs = await exchange.beforeSend?.()
    } catch (error) {
      permit.ended()
      throw error
    }
    const began = clock.now()
    const tell = (outcome: {status: number} | {failure: string}) =>
      onEvent?.({
        type: 'request',
        method,
        path: shownPath(exchange.path),
        ...outcome,
        ms: clock.now() - began,
        attempt,
        waitedMs: permit.waitedMs,
        available: budget.available,
      })
    this.#count(1)
    try {
      const credentials = typeof authentication === 'function' ? authentication() : authentication
      const leave = leaveWithinMs === undefined ? {} : {leaveWithinMs}
      const response = await exchange.send(url, {...lowerCase(credentials), ...exchange.headers}, leave)
      this.#contact = true
      this.#aheadMs = aheadMs(response.headers, clock.now()) ?? this.#aheadMs
      // The pause comes first: settling calls up the next in line.
      const again = response.status === 429 ? this.#pause(exchange, response, attempt) : undefined
      permit.ended(response)
      tell({status: response.status})
      return {response, again}
    } catch (error) {
      permit.ended()
      const failure =
        signal?.aborted && !(error instanceof ConnectionError) ? new ConnectionError('aborted', {method, url}, {cause: error}) : error
      if (!(failure instanceof ConnectionError)) throw error
      if (failure.arrived) this.#contact = true
      // What provably never got there is none of the requests the server saw.
      else this.#count(-1)
      tell({failure: failure.code})
      return {error: failure}
    }
  }

  /** `undefined` when the call was given up before its turn came. */
  async #turn(exchange: Pick<Exchange<Answered>, 'priority' | 'signal' | 'stop' | 'hurry'>): Promise<Permit | undefined> {
    const {priority, signal, stop, hurry} = exchange
    const {budget} = this.#options
    const calm = hurry !== undefined && !hurry.aborted
    try {
      return await budget.acquire(hurry?.aborted ? PRIORITY.overdue : priority, either(either(signal, stop), calm ? hurry : undefined))
    } catch (reason) {
      if (stop?.aborted && !signal?.aborted) return undefined
      if (calm && hurry.aborted && !signal?.aborted) return this.#turn(exchange)
      throw reason
    }
  }

  #delayAfterFailure(exchange: Exchange<Answered>, error: ConnectionError, attempt: number): number | undefined {
    if (!isRetryableFailure(exchange.retryAs, error)) return undefined
    if (!this.#contact && attempt >= TRIES_WITHOUT_CONTACT) return undefined
    return retryDelayMs(attempt)
  }

  /** Milliseconds until the next try; `undefined` when this is the answer. */
  #delayAfterAnswer<R extends Answered>(exchange: Exchange<R>, {status, headers}: R, attempt: number): number | undefined {
    const {clock, retryWritesOn503 = true} = this.#options
    if (exchange.answers.includes(status)) return undefined
    if (!isRetryableStatus(exchange.retryAs, status, {writesOn503: retryWritesOn503})) return undefined
    return patient(retryDelayMs(attempt, parseRetryAfter(headers, clock.now())))
  }

  /** After a 429: stops the account when it was sent too many requests. Too many changes are the caller's to sort out. */
  #pause<R extends Answered>(exchange: Exchange<R>, response: R, attempt: number): number | undefined {
    const {budget, clock, onEvent} = this.#options
    const {method} = exchange
    const {headers} = response
    const running = exchange.changesInFlight?.()
    const tooMany = classify429({method, headers, text: exchange.words(response), ...(running !== undefined && {changesInFlight: running})})
    if (tooMany === 'changes') return undefined
    const now = clock.now()
    const wish = parseRetryAfter(headers, now) ?? parseRateHeaders(headers, now).resetMs
    const waitMs = patient(retryDelayMs(attempt, wish))
    // With the last try too: whoever comes next would be refused as well.
    const pauseMs = waitMs ?? Math.min(MAX_PATIENCE_MS, Math.max(1_000, wish ?? 0))
    budget.pause(pauseMs)
    onEvent?.({type: 'paused', ms: pauseMs})
    // It may as well have been one change too many: who sent it knows what else is running, and what to wait for.
    if (tooMany === 'unknown' && running !== undefined) return undefined
    return waitMs === undefined || exchange.answers.includes(429) ? undefined : 0
  }

  /** `false` when the wait was cut short by the signal and there is something to say about the request; throws the reason otherwise. */
  async #waited(exchange: Exchange<Answered>, attempt: number, delayMs: number, because: string): Promise<boolean> {
    const {clock, random, onEvent} = this.#options
    const {method, signal, stop} = exchange
    const spread = Math.round(delayMs * (1 + 0.1 * (random?.() ?? 0)))
    onEvent?.({type: 'retry', method, path: shownPath(exchange.path), attempt, delayMs: spread, because})
    if (spread === 0) return true
    try {
      await clock.sleep(spread, either(signal, stop))
      return true
    } catch (reason) {
      if (method === 'GET' && !stop?.aborted) throw reason
      return false
    }
  }

  #urlOf(path: string): string {
    if (!path.startsWith('/')) throw new RangeError(`a path begins with "/": ${JSON.stringify(path)}`)
    if (hasDotSegment(path)) throw new DotSegmentError(path)
    return `${this.address}${path}`
  }
}

const either = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one && other ? AbortSignal.any([one, other]) : (one ?? other)

const patient = (delayMs: number | undefined): number | undefined =>
  delayMs !== undefined && delayMs <= MAX_PATIENCE_MS ? delayMs : undefined

const flowOf = ({body}: StreamCall): string | Uint8Array | AsyncIterable<Uint8Array> | undefined =>
  typeof body === 'function' ? body() : body
