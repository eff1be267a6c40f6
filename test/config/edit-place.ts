/** The configuration file of a test, edited by this process, on a clock that waits for nobody. */
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {hostname, tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach} from 'vitest'
import {type Clock, systemClock} from '../../src/base/clock.ts'
import {holderState, processIdentityOf} from '../../src/base/process-lock.ts'
import {systemRandom} from '../../src/base/random.ts'
import type {ConfigPlace} from '../../src/config/config-lock.ts'

export const editPlace = (file: string, change: Partial<ConfigPlace> = {}): ConfigPlace => ({
  file,
  clock: systemClock,
  random: systemRandom,
  process: processIdentityOf(hostname(), process.pid),
  stateOf: holder => holderState(holder, hostname()),
  ...change,
})

/** A configuration file that each test of a file has for itself. */
export function editedFile(prefix: string): {place(): ConfigPlace; edited(before: string, edit: () => Promise<unknown>): Promise<string>} {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), prefix))
  })
  afterEach(() => rmSync(folder, {recursive: true}))
  const file = (): string => join(folder, 'config.toml')
  return {
    place: () => editPlace(file()),
    edited: async (before, edit) => {
      writeFileSync(file(), before)
      await edit()
      return readFileSync(file(), 'utf8')
    },
  }
}

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
