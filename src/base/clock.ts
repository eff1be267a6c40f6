import {onAbort} from './on-abort.ts'

/** Time as a parameter, so that the engine runs in virtual time against the simulator. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** 24.8 days. A timer that is to be longer rings at once: what shall wait for years waits so long, and is no busy loop. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const done = () => {
        forget?.()
        resolve()
      }
      const stop = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(done, Math.min(ms, LONGEST_TIMER_MS))
      const forget = signal && onAbort(signal, stop)
    }),
}

/** The same clock, whose pauses this signal cuts. */
export const cutBy = (signal: AbortSignal | undefined, clock: Clock): Clock => ({
  now: () => clock.now(),
  sleep: ms => clock.sleep(ms, signal),
})

/** `performance.now()` grows alike, and brings histograms and observers into every start. */
const sinceBoot = (): number => Number(process.hrtime.bigint()) / 1e6

/**
 * A clock that nobody sets: what `clock` said at first, and the time that has passed since. Waiting, deadlines and
 * durations go by it, so that a machine whose time is set on the way neither gives up nor stands still.
 *
 * @param elapsedMs - grows evenly, from wherever
 */
export function steadyClock({now, sleep}: Clock, elapsedMs: () => number = sinceBoot): Clock {
  const start = now() - elapsedMs()
  return {now: () => Math.round(start + elapsedMs()), sleep}
}
