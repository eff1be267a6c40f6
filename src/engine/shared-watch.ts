/**
 * Many who wait for news from one source: one look an interval answers all of them. The interval begins short, grows
 * while nothing happens and shrinks back when something does.
 */
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {waitFor} from '../base/wait-for.ts'

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
  readonly tell: (news: T | undefined) => void
}

export abstract class SharedWatch<Item extends Watched<T>, T> {
  readonly #clock: Clock
  readonly #pace: Pace
  readonly #items = new Set<Item>()
  #running = false
  #quiet = 0
  #failures = 0

  constructor(clock: Clock, pace: Pace) {
    this.#clock = clock
    this.#pace = pace
  }

  /** Looks once for all of them; whoever has news is in the answer. */
  protected abstract look(items: readonly Item[]): Promise<ReadonlyMap<Item, T>>

  /** Looks that failed for good: every waiter is told through this. */
  protected abstract failed(item: Item, error: unknown): void

  protected add(item: Item): void {
    this.#items.add(item)
    this.#quiet = 0
    if (!this.#running) {
      this.#running = true
      void this.#run()
    }
  }

  protected remove(item: Item): void {
    this.#items.delete(item)
  }

  async #run(): Promise<void> {
    await this.#clock.sleep(this.#pace.minMs)
    await waitFor(() => this.#round(), {clock: this.#clock, everyMs: () => this.#pause(), timeoutMs: Number.POSITIVE_INFINITY})
  }

  #pause(): number {
    return Math.min(this.#pace.maxMs, Math.round(this.#pace.minMs * 1.5 ** Math.max(0, this.#quiet - 1)))
  }

  /** @returns something when nobody waits any more */
  async #round(): Promise<true | undefined> {
    const items = [...this.#items]
    if (items.length === 0) return this.#rest()
    try {
      const news = await this.look(items)
      this.#failures = 0
      this.#quiet = news.size > 0 ? 0 : this.#quiet + 1
      for (const item of items) {
        const told = news.get(item)
        if (told !== undefined) this.#end(item, told)
        else if (this.#clock.now() >= item.deadline) this.#end(item, undefined)
      }
    } catch (error) {
      if (this.#mayPass(error)) return undefined
      for (const item of items) {
        this.#items.delete(item)
        this.failed(item, error)
      }
    }
    return this.#items.size === 0 ? this.#rest() : undefined
  }

  /** At once and not when the loop has unwound: who is told may come back with the next wish before that. */
  #rest(): true {
    this.#running = false
    return true
  }

  /** What is watched goes on whether we see it or not: a look that fails is tried again a few times. */
  #mayPass(error: unknown): boolean {
    this.#quiet++
    return error instanceof AppError && error.exit !== EXIT.unauthorized && ++this.#failures < FAILED_LOOKS
  }

  #end(item: Item, news: T | undefined): void {
    if (this.#items.delete(item)) item.tell(news)
  }
}
