/** The one loop of tries. How often, and after how long, is said by whoever knows why it failed. */
import type {Clock} from './clock.ts'

export type Tried<T> = {readonly done: T} | {readonly waitMs: number}

/**
 * @param once - one try, counted from 1: what came of it, or how long to wait before the next one. It throws when there is none
 * @throws what `once` throws, and the signal's reason when a wait is cut short
 */
export async function tryAgain<T>(
  once: (attempt: number) => Promise<Tried<T>>,
  {clock, signal}: {readonly clock: Clock; readonly signal?: AbortSignal | undefined},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const tried = await once(attempt)
    if ('done' in tried) return tried.done
    await clock.sleep(tried.waitMs, signal)
  }
}
