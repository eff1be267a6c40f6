/** The configuration file of a test, edited by this process, on a clock that waits for nobody. */
import {hostname} from 'node:os'
import {type Clock, systemClock} from '../../src/base/clock.ts'
import {holderState, identityOf} from '../../src/base/process-lock.ts'
import {systemRandom} from '../../src/base/random.ts'
import type {ConfigPlace} from '../../src/config/config-lock.ts'

export const editPlace = (file: string, change: Partial<ConfigPlace> = {}): ConfigPlace => ({
  file,
  clock: systemClock,
  random: systemRandom,
  process: identityOf(hostname(), process.pid),
  stateOf: holder => holderState(holder, hostname()),
  ...change,
})

/** Every sleep is over at once, and the time has passed. */
export function hastyClock(): Clock {
  let now = Date.UTC(2026, 10, 22)
  return {
    now: () => now,
    sleep: async ms => {
      now += ms
    },
  }
}
