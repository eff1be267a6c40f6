/** A site whose clock a test may put on, and where no wait is long: for what happens after hours and days. */
import {type Clock, systemClock} from '../../src/base/clock.ts'
import type {SimulatorConfigInput} from '../../src/simulator/index.ts'
import type {CallOptions} from './program.ts'
import {FAST, PROMPT, type Site, site} from './site.ts'

export interface Inside extends Site {
  /** Puts the clock on. */
  later(ms: number): void
}

export async function inside(config: SimulatorConfigInput = PROMPT): Promise<Inside> {
  const at = await site(config)
  let ahead = 0
  const clock: Clock = {now: () => Date.now() + ahead, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal)}
  const run = (words: readonly string[], options: CallOptions = {}) => at.run(words, {clock, ...options})
  return {
    ...at,
    run,
    fast: (words, options) => run([...words, ...FAST], options),
    get writes() {
      return at.writes
    },
    later: ms => {
      ahead += ms
    },
  }
}
