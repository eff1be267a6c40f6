/** How long to pause between two looks at the same thing. */

const SHORTEST_MS = 1_000
const LONGEST_MS = 10_000
const GROWTH = 1.5

/**
 * Short pauses at first, since most things are done soon, then longer ones: from 1 s to 10 s unless told.
 *
 * @param shortestMs - `--poll-interval`: the first pause, and never a shorter one; a pause under a second also shortens the longest
 * @returns for `waitFor`: the pause after the n-th look (from 1), in milliseconds
 */
export function pollInterval(shortestMs: number = SHORTEST_MS): (looks: number) => number {
  const longestMs = shortestMs < SHORTEST_MS ? shortestMs * (LONGEST_MS / SHORTEST_MS) : Math.max(LONGEST_MS, shortestMs)
  return looks => Math.min(longestMs, Math.round(shortestMs * GROWTH ** (looks - 1)))
}
