/**
 * The account's requests, given out one by one: who may send next, and when. Plans, applies, pollers and raw calls of
 * a process all ask here; a lower priority number goes first, and among equals who came first.
 *
 * Where the tokens are kept is a `TokenStore`: in this process, or in a file shared with others (`shared-budget.ts`).
 */
import type {Clock} from '../base/clock.ts'
import {onAbort} from '../base/on-abort.ts'
import {PRIORITY} from '../engine/model/backend.ts'
import {
  type AccountBucket,
  available,
  corrected,
  type EndedRequest,
  effectivePerMinute,
  newBucket,
  pause,
  type RateLimits,
  type Take,
  type TokenWish,
  take,
} from './account-bucket.ts'
import {OpenRequests} from './open-requests.ts'
import {parseRateHeaders} from './rate-headers.ts'
import {WaitingLine} from './waiting-line.ts'

/** Contract section 8: the cloud's default. */
export const CLOUD_LIMITS = {perMinute: 100, burst: 150, reserve: 0} as const satisfies RateLimits
/** Contract section 8: the cluster has no limit unless one is set there; headers and 429s still teach one. */
export const NO_LIMITS: RateLimits = {perMinute: Number.POSITIVE_INFINITY, burst: Number.POSITIVE_INFINITY, reserve: 0}

/** The right to send one request. */
export interface Permit {
  /** How long it was waited for. */
  readonly waitedMs: number
  /** To be called once, when the answer's headers are there or it is sure that none will come. */
  ended(answer?: {readonly status: number; readonly headers: Readonly<Record<string, string>>}): void
}

export interface Budget {
  /**
   * Waits for a token. Holds no worker and no connection meanwhile.
   *
   * @param priority - one of PRIORITY, minus the length of the path behind it
   * @throws the signal's reason
   */
  acquire(priority: number, signal?: AbortSignal): Promise<Permit>
  /** A 429 said "too many requests": nobody sends for this long. */
  pause(ms: number): void
  /** Requests that wait for a token. */
  readonly waiting: number
  /** The limit in force: ours, or the server's where that is lower. */
  readonly perMinute: number
  readonly burst: number
  /** Tokens there right now. */
  readonly available: number
  /** Gives back what was not used. Nothing may be acquired afterwards. */
  close(): void
}

/** Tokens and what is known of the account. Synchronous: nothing happens between a look and the taking. */
export interface TokenStore {
  /** @param waiting - requests that wait for a token, those of the wish among them */
  take(wish: TokenWish, now: number, waiting: number): Pick<Take, 'granted' | 'waitMs' | 'paused'> & {readonly answered: number}
  ended(request: Omit<EndedRequest, 'alone'>, now: number): void
  pause(ms: number, now: number): void
  view(now: number): {readonly available: number; readonly perMinute: number; readonly burst: number}
  close(now: number): void
}

export interface BudgetOptions {
  readonly limits: RateLimits
  readonly clock: Clock
  /** Requests on their way at once; further ones keep their place in the line, where the more urgent can still pass them. */
  readonly maxInFlight?: number
  readonly store?: TokenStore
  /** Told as soon as requests have to wait for a second or more, and once a minute while they do. */
  readonly onWait?: (wait: BudgetWait) => void
}

export interface BudgetWait {
  /** About how long until the last of those that wait now may go. */
  readonly ms: number
  readonly requests: number
  readonly perMinute: number
  /** The server asked for it (429). */
  readonly paused: boolean
}

const WORTH_SAYING_MS = 1_000
const SAY_AGAIN_MS = 60_000

const FOREVER = Number.POSITIVE_INFINITY

/** @throws RangeError when a limit is not a positive number */
export function createBudget({limits, clock, maxInFlight, store, onWait}: BudgetOptions): Budget {
  return new QueuedBudget(clock, maxInFlight, store ?? memoryStore(limits, clock), onWait)
}

/** @throws RangeError when a limit is not a positive number */
export function checkLimits({perMinute, burst, reserve}: RateLimits): void {
  if (!(perMinute > 0)) throw new RangeError(`a rate is more than 0 requests a minute, not ${perMinute}`)
  if (!(burst >= 1)) throw new RangeError(`a burst is at least 1 request, not ${burst}`)
  if (!(reserve >= 0)) throw new RangeError(`a reserve is not negative: ${reserve}`)
}

export function memoryStore(limits: RateLimits, clock: Clock, known?: AccountBucket): TokenStore {
  checkLimits(limits)
  let bucket = known ?? newBucket(limits, clock.now())
  return {
    take: (wish, now) => {
      const {bucket: after, ...taken} = take(bucket, limits, now, wish)
      bucket = after
      return {...taken, answered: bucket.answered}
    },
    ended: (request, now) => {
      bucket = corrected(bucket, limits, now, {...request, alone: true})
    },
    pause: (ms, now) => {
      bucket = pause(bucket, limits, now, ms)
    },
    view: now => ({available: available(bucket, limits, now), perMinute: effectivePerMinute(bucket, limits), burst: limits.burst}),
    close: () => {},
  }
}

interface Waiter {
  readonly since: number
  readonly call: (permit: Permit) => void
}

class QueuedBudget implements Budget {
  readonly #clock: Clock
  readonly #open: OpenRequests
  readonly #store: TokenStore
  readonly #line = new WaitingLine<Waiter>()
  /** The one alarm that is set; ended when somebody may go earlier. */
  #alarm: {readonly at: number; readonly off: AbortController} | undefined

  readonly #onWait: BudgetOptions['onWait']
  #saidAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, maxInFlight: number | undefined, store: TokenStore, onWait: BudgetOptions['onWait']) {
    this.#onWait = onWait
    this.#clock = clock
    this.#open = new OpenRequests(() => this.#giveOut(), maxInFlight)
    this.#store = store
  }

  acquire(priority: number, signal?: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const stop = () => {
        leave()
        // An alarm nobody waits for would keep the process from ending.
        if (this.#line.size === 0) this.#setAlarm(undefined)
        reject(signal?.reason)
      }
      const call = (permit: Permit) => {
        forget?.()
        resolve(permit)
      }
      const leave = this.#line.join(priority, {since: this.#clock.now(), call})
      const forget = signal && onAbort(signal, stop)
      this.#giveOut()
    })
  }

  pause(ms: number): void {
    this.#store.pause(ms, this.#clock.now())
  }

  get waiting(): number {
    return this.#line.size
  }

  get perMinute(): number {
    return this.#store.view(this.#clock.now()).perMinute
  }

  get burst(): number {
    return this.#store.view(this.#clock.now()).burst
  }

  get available(): number {
    return this.#store.view(this.#clock.now()).available
  }

  close(): void {
    this.#setAlarm(undefined)
    this.#store.close(this.#clock.now())
  }

  #giveOut(): void {
    for (;;) {
      const first = this.#line.first
      const {room} = this.#open
      if (first === undefined || room < 1) return
      const now = this.#clock.now()
      const interactive = isInteractive(first)
      // Behind an interactive request may stand others, who must not be served from the reserve with it.
      const {granted, waitMs, answered, paused} = this.#store.take(
        {wanted: interactive ? 1 : Math.min(room, this.#line.size), interactive, inFlight: this.#open.count},
        now,
        this.#line.size,
      )
      if (granted === 0) {
        this.#say(waitMs, paused === true, now)
        this.#wakeAfter(waitMs, now)
        return
      }
      for (let i = 0; i < granted; i++) {
        const waiter = this.#line.next()
        if (waiter !== undefined) this.#open.begin(end => waiter.call(this.#permit(now, waiter.since, answered, end)))
      }
    }
  }

  #permit(now: number, since: number, answeredBefore: number, end: () => void): Permit {
    let isOver = false
    return {
      waitedMs: now - since,
      ended: answer => {
        if (isOver) return
        isOver = true
        const then = this.#clock.now()
        const told = answer && {status: answer.status, rate: parseRateHeaders(answer.headers, then)}
        this.#store.ended({sentAt: now, answeredAt: then, answeredBefore, ...told}, then)
        end()
      },
    }
  }

  /** Nobody wonders why nothing happens. */
  #say(waitMs: number, paused: boolean, now: number): void {
    if (this.#onWait === undefined || waitMs === FOREVER || now - this.#saidAt < SAY_AGAIN_MS) return
    const {perMinute} = this
    const requests = this.#line.size
    const ms = Math.round(waitMs + ((requests - 1) * 60_000) / perMinute)
    if (ms < WORTH_SAYING_MS) return
    this.#saidAt = now
    this.#onWait({ms, requests, perMinute, paused})
  }

  #wakeAfter(waitMs: number, now: number): void {
    const at = now + Math.max(1, waitMs)
    if (at === FOREVER || (this.#alarm !== undefined && this.#alarm.at <= at)) return
    this.#setAlarm(at)
  }

  #setAlarm(at: number | undefined): void {
    this.#alarm?.off.abort()
    this.#alarm = undefined
    if (at === undefined) return
    const alarm = {at, off: new AbortController()}
    this.#alarm = alarm
    this.#clock.sleep(at - this.#clock.now(), alarm.off.signal).then(
      () => {
        this.#alarm = undefined
        this.#giveOut()
      },
      () => {},
    )
  }
}

/** `interactive`, minus the length of a path. */
const isInteractive = (priority: number): boolean => priority <= PRIORITY.interactive
