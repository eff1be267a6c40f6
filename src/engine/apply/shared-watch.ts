/**
 * Many who wait for news from one source: one look answers all of them. A look comes when the first of them is likely
 * to have news: after as long as the last one of its sort took, or after a pause that grows while nothing happens.
 */
import type {Clock} from '../../base/clock.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {waitFor} from '../../base/wait-for.ts'
import {Expectations} from './expectations.ts'

/** So many looks in a row may fail, each after the transport's own retries. */
const FAILED_LOOKS = 5

export interface Pace {
  /** The shortest pause between two looks at the same thing, and the longest. */
  readonly minMs: number
  readonly maxMs: number
}

export interface Watched<T> {
  /** Milliseconds since the epoch; then it is told `undefined`. */
  readonly deadline: number
  /** What takes about as long: `cloud.database create`. */
  readonly sort?: string
  /** When it began, milliseconds since the epoch; now, when absent. */
  readonly since?: number
  /** The first look is worth its request at once: it may be over already. */
  readonly soon?: boolean
  readonly tell: (news: T | undefined) => void
}

interface Schedule {
  readonly since: number
  /** When the next look at it is worth a request. */
  dueAt: number
  /** Looks in vain after the time at which news was expected. */
  vain: number
}

export abstract class SharedWatch<Item extends Watched<T>, T> {
  readonly #clock: Clock
  readonly #pace: Pace
  readonly #expected: Expectations
  readonly #items = new Map<Item, Schedule>()
  #running = false
  #failures = 0
  /** Ends the pause between two looks. */
  #wake: AbortController | undefined
  #wakesAt = 0
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, pace: Pace, expected = new Expectations()) {
    this.#clock = clock
    this.#pace = pace
    this.#expected = expected
  }

  /**
   * Looks once for all of them; whoever has news is in the answer.
   * @param due - those the look is made for; to look at another one as well is only worth it when it costs nothing
   */
  protected abstract look(items: readonly Item[], due: ReadonlySet<Item>): Promise<ReadonlyMap<Item, T>>

  /** The least pause between two looks, whoever they are for: never shorter than the shortest. */
  protected get gapMs(): number {
    return this.#pace.minMs
  }

  /** How long a look that is due may wait for others that are due a little later: from then on they go in step. */
  protected get slackMs(): number {
    return 0
  }

  /** Looks that failed for good: every waiter is told through this. */
  protected abstract failed(item: Item, error: unknown): void

  protected add(item: Item): void {
    const now = this.#clock.now()
    // Another process may have begun it by another clock.
    const since = Math.min(item.since ?? now, now)
    const expected = item.sort === undefined ? undefined : this.#expected.firstLookMs(item.sort)
    const likelyAt = item.soon ? now : expected === undefined ? now + this.#pace.minMs : Math.max(now, Math.round(since + expected))
    // Others of its sort may have taken longer than it is waited for.
    const dueAt = Math.min(likelyAt, Math.max(now, item.deadline))
    this.#items.set(item, {since, dueAt, vain: 0})
    if (this.#running) {
      if (dueAt < this.#wakesAt) this.#wake?.abort()
      return
    }
    this.#running = true
    void this.#run()
  }

  protected remove(item: Item): void {
    this.#items.delete(item)
  }

  async #run(): Promise<void> {
    const clock = {now: () => this.#clock.now(), sleep: (ms: number) => this.#nap(ms)}
    await this.#nap(this.#pauseMs())
    await waitFor(() => this.#round(), {clock, everyMs: () => this.#pauseMs(), timeoutMs: Number.POSITIVE_INFINITY})
  }

  /** Until the first one is due, or those that follow it closely. */
  #pauseMs(): number {
    return Math.max(0, Math.ceil(Math.min(this.#pace.maxMs, this.#nextLookAt - this.#clock.now())))
  }

  get #nextLookAt(): number {
    let first = Number.POSITIVE_INFINITY
    for (const {dueAt} of this.#items.values()) first = Math.min(first, dueAt)
    let last = first
    const {slackMs} = this
    for (const {dueAt} of this.#items.values()) if (dueAt > last && dueAt <= first + slackMs) last = dueAt
    return Math.max(last, this.#lookedAt + this.gapMs)
  }

  /** Sleeps, unless somebody comes who is due before. */
  async #nap(ms: number): Promise<void> {
    const wake = new AbortController()
    this.#wake = wake
    this.#wakesAt = this.#clock.now() + ms
    await this.#clock.sleep(ms, wake.signal).catch(() => {})
    this.#wake = undefined
  }

  /** @returns something when nobody waits any more */
  async #round(): Promise<true | undefined> {
    if (this.#items.size === 0) return this.#rest()
    const items = [...this.#items.keys()]
    const due = new Set(items.filter(it => this.#isDue(it)))
    // Who woke the pause up waits for the shortest one as everybody does, and for those who are close behind.
    if (due.size === 0 || this.#clock.now() < this.#nextLookAt) return undefined
    try {
      // Between two looks there is the shortest pause, whoever they are for: one answers all who wait.
      const news = await this.look(items, due).finally(() => {
        this.#lookedAt = this.#clock.now()
      })
      this.#failures = 0
      for (const item of items) this.#judge(item, news.get(item), due.has(item))
    } catch (error) {
      if (this.#mayPass(error)) {
        for (const item of due) this.#later(item)
        return undefined
      }
      for (const item of items) {
        this.#items.delete(item)
        this.failed(item, error)
      }
    }
    return this.#items.size === 0 ? this.#rest() : undefined
  }

  #isDue(item: Item): boolean {
    const now = this.#clock.now()
    return now >= (this.#items.get(item)?.dueAt ?? now) || now >= item.deadline
  }

  #judge(item: Item, told: T | undefined, wasDue: boolean): void {
    const schedule = this.#items.get(item)
    if (schedule === undefined) return
    const now = this.#clock.now()
    const ageMs = now - schedule.since
    if (told !== undefined) {
      if (item.sort !== undefined) this.#expected.wasOver(item.sort, ageMs, now > schedule.dueAt + this.#pace.minMs)
      this.#end(item, told)
    } else if (now >= item.deadline) this.#end(item, undefined)
    else if (wasDue) {
      if (item.sort !== undefined) this.#expected.wentOn(item.sort, ageMs)
      this.#later(item)
    }
  }

  /** When the look after one in vain is worth its request: once it is likely to be over, and then less and less often. */
  #later(item: Item): void {
    const schedule = this.#items.get(item)
    if (schedule === undefined) return
    const {minMs, maxMs} = this.#pace
    const now = this.#clock.now()
    const ageMs = now - schedule.since
    const expected = item.sort === undefined ? undefined : this.#expected.nextLookMs(item.sort, ageMs)
    const pauseMs =
      expected === undefined
        ? Math.min(maxMs, Math.round(minMs * 1.5 ** schedule.vain++))
        : Math.min(maxMs, Math.max(minMs, expected - ageMs))
    schedule.dueAt = Math.min(now + Math.round(pauseMs), Math.max(now, item.deadline))
  }

  /** At once and not when the loop has unwound: who is told may come back with the next wish before that. */
  #rest(): true {
    this.#running = false
    return true
  }

  /** What is watched goes on whether we see it or not: a look that fails is tried again a few times. */
  #mayPass(error: unknown): boolean {
    return error instanceof AppError && error.exit !== EXIT.unauthorized && ++this.#failures < FAILED_LOOKS
  }

  #end(item: Item, news: T | undefined): void {
    if (this.#items.delete(item)) item.tell(news)
  }
}
