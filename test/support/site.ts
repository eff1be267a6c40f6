/** A place to work in with both APIs beside it: the simulator behind real sockets, and svcctl in this process or as a child. */
import {spawn} from 'node:child_process'
import {systemClock} from '../../src/base/clock.ts'
import {createSimulator, readyDocument, type Simulator, type SimulatorConfigInput, serveSimulator} from '../../src/simulator/index.ts'
import {type CallOptions, type Outcome, PROGRAM, type RunOptions, type Sandbox, sandbox} from './program.ts'

/** Nothing waits longer than it must: a fast poller and no limit of our own. */
export const FAST = ['--poll-interval', '20ms', '--rate', '60000', '--burst', '60000'] as const

/** The same as a configuration, for commands that somebody else writes. */
export const FAST_PROFILE =
  '[profiles.fast]\ndeployment_type = "cloud"\ndefault = true\nrate = 60000\nburst = 60000\npoll_interval = "20ms"\n'

/** Services that finish everything at once. */
export const PROMPT: SimulatorConfigInput = {cloud: {taskMs: 1, readyMs: 0}, cluster: {changeMs: 1}}

export interface Running {
  readonly pid: number
  /** Resolves once standard error (or output) holds this. */
  says(text: string | RegExp, stream?: 'stdout' | 'stderr'): Promise<void>
  kill(signal: NodeJS.Signals): void
  readonly done: Promise<Outcome>
}

export interface Site extends Sandbox {
  readonly simulator: Simulator
  /** `run` with FAST at the end: for commands that talk to a server. */
  fast(args: readonly string[], options?: CallOptions): Promise<Outcome>
  /** A child that goes on meanwhile; with FAST unless it brings a `--rate` of its own, or is to be started as it is. */
  start(args: readonly string[], options?: RunOptions & {readonly asItIs?: boolean}): Running
  /** Writes the services received since `clearLog`: `POST /subscriptions`. */
  readonly writes: readonly string[]
  close(): Promise<void>
}

export async function site(config: SimulatorConfigInput = PROMPT, {tls = false}: {readonly tls?: boolean} = {}): Promise<Site> {
  const simulator = createSimulator({clock: systemClock, config})
  const served = await serveSimulator(simulator, {tls})
  const {env: services} = readyDocument(served, simulator.config)
  const here = sandbox()
  const env = {...here.env, ...services}
  const run = (args: readonly string[], options: CallOptions = {}) => here.run(args, {...options, env: {...services, ...options.env}})
  const child = (args: readonly string[], options: RunOptions = {}) => here.child(args, {...options, env: {...services, ...options.env}})
  return {
    ...here,
    env,
    simulator,
    run,
    child,
    shell: (line, more, options = {}) => here.shell(line, [...more, ...FAST], {...options, env: {...services, ...options.env}}),
    fast: (args, options) => run([...args, ...FAST], options),
    start: (args, options = {}) =>
      started(options.asItIs || args.includes('--rate') ? args : [...args, ...FAST], {
        cwd: here.folder,
        ...options,
        env: {...env, ...options.env},
      }),
    get writes() {
      return simulator.log.filter(it => it.method !== 'GET').map(it => `${it.method} ${it.path}`)
    },
    close: async () => {
      await served.close()
      here.remove()
    },
  }
}

function started(args: readonly string[], {cwd, env}: RunOptions): Running {
  const child = spawn(process.execPath, [PROGRAM, ...args], {cwd, env, stdio: ['ignore', 'pipe', 'pipe']})
  const text = {stdout: '', stderr: ''}
  const waiting = new Set<() => void>()
  const look = () => {
    for (const check of waiting) check()
  }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part: string) => {
      text[name] += part
      look()
    })
  }
  const done = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({code, ...text}))
  })
  return {
    pid: child.pid ?? 0,
    done,
    kill: signal => void child.kill(signal),
    says: (wanted, stream = 'stderr') =>
      new Promise((resolve, reject) => {
        const check = () => {
          const there = typeof wanted === 'string' ? text[stream].includes(wanted) : wanted.test(text[stream])
          if (!there) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
        void done.then(outcome => {
          if (waiting.has(check)) reject(new Error(`it ended without saying ${String(wanted)}: ${JSON.stringify(outcome)}`))
        })
      }),
  }
}

/** Standard output as JSON, whatever is in it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into documents by name, and a wrong name fails there
export const documentOf = ({stdout}: Outcome): any => JSON.parse(stdout)
