/** One look answers all who can use it: whoever asks says how old news may be. Between two looks there is a pause. */
import type {Clock} from '../../base/clock.ts'
import {PRIORITY} from '../model/backend.ts'

export interface SeenSince<T> {
  /** Milliseconds since the epoch: what happened before it is in it. */
  readonly startedAt: number
  readonly value: T
}

export class SharedLook<T> {
  readonly #clock: Clock
  readonly #look: (priority: number) => Promise<T>
  readonly #shortestMs: number
  #last: {readonly startedAt: number; readonly seen: Promise<SeenSince<T>>} | undefined
  #next: Promise<SeenSince<T>> | undefined
  /** Of those who wait for the next look, the most urgent. */
  #priority = Number.POSITIVE_INFINITY
  #endedAt = Number.NEGATIVE_INFINITY

  /**
   * @param look - is given the lowest number of those who share it
   * @param shortestMs - from the end of one look to the beginning of the next, whoever they are for
   */
  constructor(clock: Clock, look: (priority: number) => Promise<T>, shortestMs = 0) {
    this.#clock = clock
    this.#look = look
    this.#shortestMs = shortestMs
  }

  /** What there is to see, by a look that began at this time or later; one that is going on is waited for. */
  async since(time: number, priority: number = PRIORITY.read): Promise<SeenSince<T>> {
    const last = this.#last
    if (last !== undefined && last.startedAt >= time) return last.seen
    this.#priority = Math.min(this.#priority, priority)
    this.#next ??= this.#begin(last?.seen, time)
    return this.#next
  }

  async #begin(before: Promise<unknown> | undefined, time: number): Promise<SeenSince<T>> {
    await before?.catch(() => {})
    const tooSoonMs = this.#endedAt + this.#shortestMs - this.#clock.now()
    if (tooSoonMs > 0) await this.#clock.sleep(tooSoonMs)
    const priority = this.#priority
    this.#priority = Number.POSITIVE_INFINITY
    this.#next = undefined
    // A timer may fire a moment early: that is no reason to look twice.
    const startedAt = Math.max(this.#clock.now(), time)
    const seen = this.#look(priority)
      .finally(() => {
        this.#endedAt = this.#clock.now()
      })
      .then(value => ({startedAt, value}))
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
