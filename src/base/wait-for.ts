/** The one poll loop of the program. */
import type {Clock} from './clock.ts'
import {unlessAborted} from './unless-aborted.ts'

export interface WaitOptions {
  readonly clock: Clock
  /** Pause between two looks; the second look comes after it. Adaptive where it is a function of the looks so far. */
  readonly everyMs: number | ((looks: number) => number)
  /** No two looks are nearer to each other than this, not even for the last one at the end of the time; 0 unless told. */
  readonly shortestMs?: number | (() => number)
  readonly timeoutMs: number
  /** Ends the wait at once: in a pause, and in a look, which nobody waits for then. Who takes something by looking does without it. */
  readonly signal?: AbortSignal
}

/**
 * Looks until there is something to see.
 *
 * @param look - answers `undefined` for "not yet"
 * @returns what was seen, or `undefined` when the time ran out; there is one look at the end of it, unless it would come too soon
 * @throws what a look throws, and the signal's reason
 */
export async function waitFor<T>(
  look: () => Promise<T | undefined>,
  {clock, everyMs, shortestMs = 0, timeoutMs, signal}: WaitOptions,
): Promise<T | undefined> {
  const deadline = clock.now() + timeoutMs
  for (let looks = 1; ; looks++) {
    signal?.throwIfAborted()
    const seen = await unlessAborted(look(), signal)
    if (seen !== undefined) return seen
    const left = deadline - clock.now()
    if (left <= 0) return undefined
    if (left < (typeof shortestMs === 'number' ? shortestMs : shortestMs())) {
      await clock.sleep(left, signal)
      return undefined
    }
    await clock.sleep(Math.min(left, typeof everyMs === 'number' ? everyMs : everyMs(looks)), signal)
  }
}
