/** `--timeout` of what sends or fetches bytes: a connection that never falls silent has no end of its own. */
import type {Clock} from '../../base/clock.ts'
import type {AppError} from '../../base/errors.ts'

export interface TimeLimit {
  readonly clock: Clock
  /** Absent: none. */
  readonly timeoutMs: number | undefined
  /** Ctrl-C; it ends the work as before. */
  readonly signal: AbortSignal
  readonly late: (seconds: number) => AppError
}

/** @throws what `late` makes when the time is over, and what the work throws */
export async function withinTime<T>({clock, timeoutMs, signal, late}: TimeLimit, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (timeoutMs === undefined) return await work(signal)
  const [over, done] = [new AbortController(), new AbortController()]
  const stop = () => over.abort()
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, {once: true})
  clock.sleep(timeoutMs, done.signal).then(stop, () => undefined)
  try {
    return await work(over.signal)
  } catch (error) {
    throw over.signal.aborted && !signal.aborted ? late(timeoutMs / 1000) : error
  } finally {
    done.abort()
    signal.removeEventListener('abort', stop)
  }
}
