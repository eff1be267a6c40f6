/**
 * A clock that only moves when everything else has come to rest.
 *
 * `run` lets the program go on until nothing is runnable, then jumps to the earliest sleeper. What sleeps on this
 * clock therefore takes no real time, and a makespan of hours is exact and repeatable. Real input and output
 * (sockets, asynchronous files) must not be awaited under it; synchronous files are fine.
 */
import TinyQueue from 'tinyqueue'
import type {Clock} from './clock.ts'
import {onAbort} from './on-abort.ts'

interface Sleeper {
  readonly at: number
  readonly order: number
  readonly wake: () => void
}

export class VirtualClock implements Clock {
  #now: number
  #order = 0
  readonly #sleepers = new TinyQueue<Sleeper>([], (a, b) => a.at - b.at || a.order - b.order)

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
      const forget = signal && onAbort(signal, stop)
      this.#sleepers.push({
        at: this.#now + Math.max(0, ms),
        order: this.#order++,
        wake: () => {
          if (over) return
          forget?.()
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
      const next = this.#sleepers.pop()
      if (next === undefined) throw new Error('virtual time stands still: nothing sleeps and the work is not done')
      this.#now = Math.max(this.#now, next.at)
      next.wake()
    }
  }
}
