/**
 * The program of the stacks as a process: in a group of its own with everything it starts, so that nothing of it is left
 * when it has ended or has to. The group is asked to end, and ended when it does not within five seconds.
 */
import {type ChildProcess, spawn} from 'node:child_process'
import {type Clock, systemClock} from '../../base/clock.ts'
import {waitFor} from '../../base/wait-for.ts'

export interface AppRunOptions {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
  /** Told each line that it writes, whole. */
  readonly onLine: ((line: string) => void) | undefined
  readonly clock?: Clock
}

export interface Run {
  /** How it failed: `exit 1`, `SIGKILL`. */
  readonly failure?: string
  /** What it wrote: on stderr, or else on stdout; the middle of very much is left out. */
  readonly output: string
  readonly cause?: unknown
}

/** Between being asked to end and being ended. */
const PATIENCE_MS = 5000
/** For what the program has started: it may still hold the program's output, and write into it. */
const LAST_WORDS_MS = 1000
const LOOK_EVERY_MS = 20

/**
 * Runs it to its end. What it started and left behind ends with it.
 * @throws the signal's reason when that is aborted, once nothing of the program is left
 */
export async function runApp(app: string, {cwd, environment, signal, onLine = () => {}, clock = systemClock}: AppRunOptions): Promise<Run> {
  signal?.throwIfAborted()
  const child = spawn(app, {cwd, env: environment, shell: true, stdio: ['ignore', 'pipe', 'pipe'], detached: GROUPED})
  const [said, heard] = [new Said(), new Said()]
  const [saidLines, heardLines] = [new Lines(onLine), new Lines(onLine)]
  const output = (): string => (said.text.trim() === '' ? heard.text : said.text)
  for (const [stream, kept, lines] of [
    [child.stdout, heard, heardLines],
    [child.stderr, said, saidLines],
  ] as const) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      lines.add(text)
      kept.add(text)
    })
  }
  // Whoever ends this process at once takes the program along.
  const onExit = (): void => kill(child, 'SIGKILL')
  process.once('exit', onExit)
  let isClosed = false
  const closed = new Promise<void>(resolve =>
    child.once('close', () => {
      isClosed = true
      resolve()
    }),
  )
  const ended = new Promise<Omit<Run, 'output'>>(resolve => {
    child.once('error', cause => resolve({failure: 'it could not be started', cause}))
    child.once('exit', (code, killed) => resolve(code === 0 ? {} : {failure: killed ?? `exit ${code}`}))
  })
  try {
    const how = await Promise.race([ended, aborted(signal)])
    if (how !== ABORTED) await within(LAST_WORDS_MS, closed, clock)
    await endGroup(child, () => isClosed, clock)
    signal?.throwIfAborted()
    return {...(how === ABORTED ? {} : how), output: output()}
  } finally {
    process.off('exit', onExit)
    heardLines.end()
    saidLines.end()
    child.stdout.destroy()
    child.stderr.destroy()
    child.unref()
  }
}

const GROUPED = process.platform !== 'win32'
const ABORTED = Symbol('aborted')

const aborted = (signal: AbortSignal | undefined): Promise<typeof ABORTED> =>
  new Promise(resolve => signal?.addEventListener('abort', () => resolve(ABORTED), {once: true}))

async function within(timeoutMs: number, done: Promise<void>, clock: Clock): Promise<void> {
  const timer = new AbortController()
  await Promise.race([done, clock.sleep(timeoutMs, timer.signal).catch(() => undefined)])
  timer.abort()
}

/**
 * @param closed - the program has ended and nobody holds its output; what is left of the group then may be nothing but
 *   processes that are never fetched, as in a container without an init
 */
async function endGroup(child: ChildProcess, closed: () => boolean, clock: Clock): Promise<void> {
  if (!isThere(child)) return
  kill(child, 'SIGTERM')
  await waitFor(async () => closed() || !isThere(child) || undefined, {clock, everyMs: LOOK_EVERY_MS, timeoutMs: PATIENCE_MS})
  kill(child, 'SIGKILL')
}

/** Any process of the group. */
function isThere(child: ChildProcess): boolean {
  if (child.pid === undefined) return false
  if (!GROUPED) return child.exitCode === null && child.signalCode === null
  return signalled(child.pid, 0)
}

function kill(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return
  if (GROUPED) signalled(child.pid, signal)
  else child.kill(signal)
}

/** Whether there was a group to get it. */
function signalled(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

/**
 * Lines of a text that comes in pieces. Who hides secrets line by line finds none that lies across two pieces; of a line
 * that does not end, what is cut off ends and begins with an ellipsis.
 */
class Lines {
  readonly #onLine: (line: string) => void
  #rest = ''

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  add(text: string): void {
    const [first = '', ...more] = text.split('\n')
    this.#rest += first
    for (const next of more) {
      this.end()
      this.#rest = next
    }
    if (this.#rest.length <= KEPT_LENGTH) return
    this.#onLine(`${this.#rest}…`)
    this.#rest = '…'
  }

  end(): void {
    if (this.#rest !== '' && this.#rest !== '…') this.#onLine(this.#rest.replace(/\r$/, ''))
    this.#rest = ''
  }
}

/** The beginning and the end of a text: an error stands at the one, and what became of it at the other. */
class Said {
  #head = ''
  #tail = ''
  #isWhole = true

  add(text: string): void {
    const room = KEPT_LENGTH - this.#head.length
    this.#head += text.slice(0, Math.max(0, room))
    const tail = this.#tail + text.slice(Math.max(0, room))
    this.#isWhole &&= tail.length <= KEPT_LENGTH
    this.#tail = tail.slice(-KEPT_LENGTH)
  }

  get text(): string {
    return this.#isWhole ? this.#head + this.#tail : `${this.#head}…\n…${this.#tail}`
  }
}

const KEPT_LENGTH = 65_536
