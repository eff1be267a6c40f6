/**
 * A clock that only moves when everything else has come to rest.
 *
 * `run` lets the program go on until nothing is runnable, then jumps to the earliest sleeper. What sleeps on this
 * clock therefore takes no real time, and a makespan of hours is exact and repeatable. Real input and output
 * (sockets, asynchronous files) must not be awaited under it; synchronous files are fine.
 */
import type {Clock} from './clock.ts'

interface Sleeper {
  readonly at: number
  readonly order: number
  readonly wake: () => void
}

export class VirtualClock implements Clock {
  #now: number
  #order = 0
  /** A binary heap by (at, order). */
  readonly #sleepers: Sleeper[] = []

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      let over = false
      const stop = () => {
        over = true
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', stop, {once: true})
      this.#push({
        at: this.#now + Math.max(0, ms),
        order: this.#order++,
        wake: () => {
          if (over) return
          signal?.removeEventListener('abort', stop)
          resolve()
        },
      })
    })
  }

  /** Runs to the end of `work`, moving time whenever nothing else can happen. */
  async run<T>(work: Promise<T>): Promise<T> {
    let settled = false
    const mark = () => {
      settled = true
    }
    work.then(mark, mark)
    for (;;) {
      await new Promise(setImmediate)
      if (settled) return work
      const next = this.#pop()
      if (next === undefined) throw new Error('virtual time stands still: nothing sleeps and the work is not done')
      this.#now = Math.max(this.#now, next.at)
      next.wake()
    }
  }

  #push(sleeper: Sleeper): void {
    const heap = this.#sleepers
    let at = heap.length
    heap.push(sleeper)
    while (at > 0) {
      const up = (at - 1) >> 1
      const parent = heap[up]
      if (parent === undefined || !isBefore(sleeper, parent)) break
      heap[at] = parent
      at = up
    }
    heap[at] = sleeper
  }

  #pop(): Sleeper | undefined {
    const heap = this.#sleepers
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let down = 2 * at + 1
      const left = heap[down]
      if (left === undefined) break
      const right = heap[down + 1]
      let child = left
      if (right !== undefined && isBefore(right, left)) {
        child = right
        down += 1
      }
      if (!isBefore(child, last)) break
      heap[at] = child
      at = down
    }
    heap[at] = last
    return first
  }
}

const isBefore = (a: Sleeper, b: Sleeper): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)
