/**
 * The known word closest to one that is not known, for "did you mean".
 *
 * Case and separators count nothing (`memoryLimitInGB`, `memory_limit_in_gb` → `memoryLimitInGb`); beyond that, up to a
 * third of the letters may differ. What is longer than anybody types is near nothing: comparing two words costs the product
 * of their lengths, and both may stand in a stack that somebody else wrote. So may thousands of them: when so much was
 * compared at a stretch that an answer would come late, nothing is near any more.
 *
 * @param below - fewer letters than this may differ, whatever the word's length
 * @returns `undefined` when nothing is close enough to be worth saying
 */
import {smallest} from './many.ts'

export function nearest(word: string, known: Iterable<string>, below = Number.POSITIVE_INFINITY): string | undefined {
  if (word.length > LONGEST) return undefined
  const wanted = plain(word)
  let best: string | undefined
  let least = Math.min(Math.floor(Math.max(wanted.length, 3) / 3) + 1, below)
  for (const candidate of known) {
    if (steps > MOST_STEPS) return best
    count(candidate.length + 1)
    const distance = editDistance(wanted, plain(candidate), least)
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

/** Of an address with its stack, or a remote id. */
const LONGEST = 400

/** Letters that are compared before the program does anything else: a second or two. */
const MOST_STEPS = 20_000_000
let steps = 0

function count(letters: number): void {
  if (steps === 0)
    setImmediate(() => {
      steps = 0
    }).unref()
  steps += letters
}

const plain = (word: string) => word.toLowerCase().replace(/[-_. ]/g, '')

/** Letters to insert, drop, change or swap to come from one word to the other; `limit` when it is that many or more. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({length: to.length + 1}, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    count(to.length)
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    // A swap reaches two rows back.
    if (smallest(row) >= limit && smallest(last) >= limit) return limit
    beforeLast = last
    last = row
  }
  return Math.min(last[to.length] ?? limit, limit)
}
