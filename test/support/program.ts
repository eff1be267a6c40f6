/**
 * svcctl in a folder and a home of its own, with an environment that holds what the test says and nothing of the
 * machine's: called in this process, by the function the program itself calls, or the built program as a child.
 */
import {execFileSync, spawn} from 'node:child_process'
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Readable, Writable} from 'node:stream'
import {fileURLToPath} from 'node:url'
import {isBuilt} from '../../scripts/built.mjs'
import type {Clock} from '../../src/base/clock.ts'
import {commandTable} from '../../src/bin/command-list.ts'
import {main} from '../../src/cli/main.ts'
import {readEnvironment} from '../../src/config/environment.ts'
import {type Keyring, KeyringUnavailableError} from '../../src/config/keyring.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const PROGRAM = join(root, 'dist', 'bin', 'svcctl.js')
const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {readonly version: string}

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly cwd?: string
}

/** What only a call in this process can be given. */
export interface CallOptions extends RunOptions {
  readonly clock?: Clock
  /** Hears what is said on standard error, while the command goes on. */
  readonly heard?: (text: string) => void
}

export interface Sandbox {
  readonly folder: string
  readonly home: string
  /** `$XDG_CONFIG_HOME/svcctl/config.toml` */
  readonly configFile: string
  readonly env: Readonly<Record<string, string>>
  /** In this process: for all that is not about the process itself (its signals, its start, its streams, its memory). */
  run(args: readonly string[], options?: CallOptions): Promise<Outcome>
  /** The built program as a child, which costs a tenth of a second of a core. */
  child(args: readonly string[], options?: RunOptions): Promise<Outcome>
  /** A command line as it was printed, `svcctl …`, given to a shell with these words behind it. */
  shell(line: string, more: readonly string[], options?: RunOptions): Promise<Outcome>
  remove(): void
}

/** A fresh folder and home. Builds the program first when its sources are newer. */
export function sandbox(): Sandbox {
  ensureBuilt()
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-test-'))
  const home = join(folder, 'home')
  mkdirSync(home)
  mkdirSync(join(folder, 'work'))
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    // Compiled code is the same for all homes, and theirs are new each time.
    XDG_CACHE_HOME: join(tmpdir(), 'svcctl-test-cache'),
    LANG: 'C.UTF-8',
    // In memory, where that can be (vitest.config.ts).
    ...(process.env.TMPDIR === undefined ? {} : {TMPDIR: process.env.TMPDIR}),
  }
  return {
    folder: join(folder, 'work'),
    home,
    configFile: join(home, '.config', 'svcctl', 'config.toml'),
    env,
    run: (args, options = {}) => callProgram(args, {cwd: join(folder, 'work'), ...options, env: {...env, ...options.env}}),
    child: (args, options = {}) =>
      runChild(process.execPath, [PROGRAM, ...args], {cwd: join(folder, 'work'), ...options, env: {...env, ...options.env}}),
    shell: (line, more, options = {}) =>
      runChild('sh', ['-c', `svcctl() { "$NODE" "$PROGRAM" "$@" ${more.join(' ')}; }\n${line}`], {
        cwd: join(folder, 'work'),
        ...options,
        env: {...env, ...options.env, NODE: process.execPath, PROGRAM},
      }),
    remove: () => rmSync(folder, {recursive: true, force: true}),
  }
}

/** What Node, its libraries and the system read of a process' environment, and nobody can hand them. */
const OF_PROCESS = /^(?:NODE_|UV_|DBUS_|TMPDIR$|TZ$)/

/** Nobody's own keyring is looked into by a test. */
const noKeyring = () => Promise.reject(new KeyringUnavailableError('test', new Error('there is none here')))
const NO_KEYRING: Keyring = {get: noKeyring, set: noKeyring, remove: noKeyring}

/** With this environment and no other. */
export async function callProgram(args: readonly string[], {cwd = '', env = {}, input, clock, heard}: CallOptions): Promise<Outcome> {
  const unheard = Object.keys(env).filter(it => OF_PROCESS.test(it) && env[it] !== process.env[it])
  if (unheard.length > 0) throw new Error(`${unheard.join(', ')} is read by a process: use child() in place of run()`)
  const [stdout, stderr] = [new Collected(), new Collected(heard)]
  const streams = {stdin: Readable.from(input === undefined ? [] : [input]), stdout, stderr}
  const overrides = {environment: readEnvironment(env), streams, cwd, keyring: NO_KEYRING, ...(clock === undefined ? {} : {clock})}
  const code = await main({argv: args, table: commandTable, version, overrides})
  return {code, stdout: stdout.text, stderr: stderr.text}
}

class Collected extends Writable {
  readonly #chunks: Buffer[] = []
  readonly #heard: (text: string) => void

  constructor(heard: (text: string) => void = () => {}) {
    super()
    this.#heard = heard
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString()
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#chunks.push(chunk)
    this.#heard(chunk.toString())
    done()
  }
}

function runChild(program: string, args: readonly string[], {cwd, env, input}: RunOptions): Promise<Outcome> {
  const child = spawn(program, args, {cwd, env, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe']})
  const text = {stdout: '', stderr: ''}
  child.stdout?.setEncoding('utf8').on('data', part => {
    text.stdout += part
  })
  child.stderr?.setEncoding('utf8').on('data', part => {
    text.stderr += part
  })
  // A program that ends without reading its input closes the pipe; that is its right.
  child.stdin?.on('error', () => undefined).end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({code, ...text}))
  })
}

let built = false

/** Test files run in several processes at once: a folder is the lock, for making one succeeds exactly once. */
function ensureBuilt(): void {
  if (built) return
  const lock = join(root, 'node_modules', '.svcctl-test-build')
  while (!isBuilt(root)) {
    try {
      mkdirSync(lock)
    } catch {
      if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 60_000) rmSync(lock, {recursive: true, force: true})
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
      continue
    }
    try {
      execFileSync(process.execPath, ['--import', 'tsx', join(root, 'scripts', 'build.ts')], {
        cwd: root,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    } finally {
      rmSync(lock, {recursive: true, force: true})
    }
  }
  built = true
}
