/**
 * A place to work in with both APIs beside it, as `site` is, and svcctl called in this process: no child, and a clock that a
 * test may put on. For what is about documents, files and exit codes; signals and terminals need a process (`site`).
 */
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Readable, Writable} from 'node:stream'
import {type Clock, systemClock} from '../../src/base/clock.ts'
import {main} from '../../src/cli/main.ts'
import {table} from '../../src/commands/table.ts'
import {readEnvironment} from '../../src/config/environment.ts'
import {createSimulator, readyDocument, type Simulator, type SimulatorConfigInput, serveSimulator} from '../../src/simulator/index.ts'
import type {Outcome} from './program.ts'
import {FAST, PROMPT} from './site.ts'

export interface Inside {
  readonly folder: string
  readonly simulator: Simulator
  readonly env: Readonly<Record<string, string>>
  /** Words, with FAST behind them. */
  fast(words: readonly string[], options?: InsideOptions): Promise<Outcome>
  run(words: readonly string[], options?: InsideOptions): Promise<Outcome>
  /** Writes the services received: `POST /subscriptions`. */
  readonly writes: readonly string[]
  /** Puts the clock on. */
  later(ms: number): void
  close(): Promise<void>
}

export interface InsideOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Hears what is said on standard error, while the command goes on. */
  readonly heard?: (text: string) => void
}

export async function inside(config: SimulatorConfigInput = PROMPT): Promise<Inside> {
  const simulator = createSimulator({clock: systemClock, config})
  const served = await serveSimulator(simulator)
  const {env: services} = readyDocument(served, simulator.config)
  const top = mkdtempSync(join(tmpdir(), 'svcctl-inside-'))
  const [folder, home] = [join(top, 'work'), join(top, 'home')]
  for (const it of [folder, home]) mkdirSync(it)
  const env = {...services, PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8'}
  let ahead = 0
  const clock: Clock = {now: () => Date.now() + ahead, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal)}
  const run = async (argv: readonly string[], {env: more = {}, cwd = folder, heard}: InsideOptions = {}): Promise<Outcome> => {
    const [stdout, stderr] = [new Heard(), new Heard(heard)]
    const environment = readEnvironment({...env, ...more})
    const code = await main({
      argv,
      table,
      version: '0.0.0',
      overrides: {environment, clock, cwd, streams: {stdin: Readable.from(['']), stdout, stderr}},
    })
    return {code, stdout: stdout.text, stderr: stderr.text}
  }
  return {
    folder,
    simulator,
    env,
    run,
    fast: (words, options) => run([...words, ...FAST], options),
    get writes() {
      return simulator.log.filter(it => it.method !== 'GET').map(it => `${it.method} ${it.path}`)
    },
    later: ms => {
      ahead += ms
    },
    close: async () => {
      await served.close()
      rmSync(top, {recursive: true, force: true})
    },
  }
}

class Heard extends Writable {
  text = ''

  readonly #heard: (text: string) => void

  constructor(heard: (text: string) => void = () => {}) {
    super({decodeStrings: false})
    this.#heard = heard
  }

  override _write(chunk: string | Uint8Array, _: string, done: () => void): void {
    const text = Buffer.from(chunk as string).toString()
    this.text += text
    this.#heard(text)
    done()
  }
}
