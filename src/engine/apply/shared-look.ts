/** One look answers all who can use it: whoever asks says how old news may be. */
import type {Clock} from '../../base/clock.ts'

export interface SeenSince<T> {
  /** Milliseconds since the epoch: what happened before it is in it. */
  readonly startedAt: number
  readonly value: T
}

export class SharedLook<T> {
  readonly #clock: Clock
  readonly #look: () => Promise<T>
  #last: {readonly startedAt: number; readonly seen: Promise<SeenSince<T>>} | undefined
  #next: Promise<SeenSince<T>> | undefined

  constructor(clock: Clock, look: () => Promise<T>) {
    this.#clock = clock
    this.#look = look
  }

  /** What there is to see, by a look that began at this time or later; one that is going on is waited for. */
  async since(time: number): Promise<SeenSince<T>> {
    const last = this.#last
    if (last !== undefined && last.startedAt >= time) return last.seen
    this.#next ??= this.#begin(last?.seen, time)
    return this.#next
  }

  async #begin(before: Promise<unknown> | undefined, time: number): Promise<SeenSince<T>> {
    await before?.catch(() => {})
    this.#next = undefined
    // A timer may fire a moment early: that is no reason to look twice.
    const startedAt = Math.max(this.#clock.now(), time)
    const seen = this.#look().then(value => ({startedAt, value}))
    this.#last = {startedAt, seen}
    try {
      return await seen
    } catch (error) {
      // Whoever comes later looks again.
      if (this.#last?.seen === seen) this.#last = undefined
      throw error
    }
  }
}
