/** Where the application runs in a test that has no command: a folder, clocks and dice of the machine, and nobody who listens. */
import {systemClock} from '../../src/base/clock.ts'
import {systemRandom} from '../../src/base/random.ts'
import {Redactor} from '../../src/base/redact.ts'
import {readEnvironment} from '../../src/config/environment.ts'
import type {Host} from '../../src/run/host/host.ts'

export const hostIn = (folder: string, change: Partial<Host> = {}): Host => ({
  environment: readEnvironment({HOME: folder}),
  clock: systemClock,
  wallClock: systemClock,
  random: systemRandom,
  redactor: new Redactor(),
  log: {note: () => {}, warn: () => {}, info: () => {}, debug: () => {}},
  cwd: folder,
  version: '0.0.0',
  ...change,
})
