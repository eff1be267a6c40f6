/**
 * Ctrl-C, SIGTERM, and SIGHUP of a terminal that is closed: the first asks the run to stop, a second Ctrl-C or SIGTERM ends
 * the process at once. A second SIGHUP does not: the system and the shell each send one when a terminal goes.
 */
import {AppError, EXIT} from '../base/errors.ts'
import {Stopped} from '../engine/apply/run-context.ts'
import {sayStandingLocks} from './show/standing-locks.ts'

/** Told to end at once. What was sent is in the journal. */
export class KilledError extends AppError {
  constructor(run: string) {
    super(`run ${run} ended at once: what is in flight goes on without it`, {
      code: 'E_KILLED',
      exit: EXIT.interrupted,
      suggestions: [`svcctl apply --resume ${run}`],
    })
  }
}

/** Stopped while nothing but reading was under way, or before anything was sent. The process ends with 129, 130 or 143. */
export class InterruptedError extends AppError {
  constructor() {
    super('stopped: nothing was changed', {code: 'E_INTERRUPTED', exit: EXIT.interrupted, suggestions: ['Run the command again.']})
  }
}

/** Stopped while looking what became of what a dead run had sent. */
export class SettlingStoppedError extends AppError {
  constructor() {
    super('stopped while finding out how an unfinished run ended: nothing new was sent', {
      code: 'E_SETTLING_STOPPED',
      exit: EXIT.interrupted,
      suggestions: ['Run the command again: it looks first, and sends nothing twice.'],
    })
  }
}

/** A write on its way: what it does, and the command that shows what became of it. */
export interface PendingWrite {
  /** `PUT /v1/bdbs/1`, `the delete of module 3` */
  readonly what: string
  readonly look: string
}

/** Stopped between a write and its answer. */
export class InterruptedWriteError extends AppError {
  constructor({what, look}: PendingWrite) {
    super(`stopped: ${what} was sent, and how it ended is not known`, {
      code: 'E_WRITE_INTERRUPTED',
      exit: EXIT.interrupted,
      suggestions: [`Look whether it took effect before you send it again: ${look}`],
    })
  }
}

/** What a program without a handler ends with. */
const USUAL = {SIGHUP: 129, SIGINT: 130, SIGTERM: 143} as const
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const satisfies readonly (keyof typeof USUAL)[]
type Usual = (typeof USUAL)[keyof typeof USUAL]

export interface Interrupts {
  readonly signal: AbortSignal
  /** Takes the handlers away again. */
  off(): void
}

type Signal = (typeof SIGNALS)[number]
type Handle = (signal: Signal) => void

/** Who stops a run when it is interrupted: they go before whoever ends the process, and each of them is told. */
const stoppers = new Set<Handle>()
/** Who ends the process: the last of them is told. */
const enders = new Set<Handle>()
/** How many want the system to end the process in their place. */
let leftToSystem = 0

const handles = (): readonly Handle[] => {
  if (stoppers.size > 0) return [...stoppers]
  return leftToSystem > 0 ? [] : [...enders].slice(-1)
}

const tell = (signal: NodeJS.Signals): void => {
  const ours = SIGNALS.find(it => it === signal)
  if (ours !== undefined) for (const handle of handles()) handle(ours)
}

function exit(code: number): never {
  sayStandingLocks()
  process.exit(code)
}

/** Where nobody is to be told, a signal does what it does to any program. */
function listen(): void {
  for (const signal of SIGNALS) {
    process.off(signal, tell)
    if (handles().length > 0) process.on(signal, tell)
  }
}

/**
 * @param onFirst - says what happens now
 * @param onSecond - the last thing to do, synchronously
 */
export function onInterrupt(onFirst: () => void, onSecond: () => void): Interrupts {
  const controller = new AbortController()
  const handle = (signal: Signal) => {
    if (controller.signal.aborted) {
      if (signal === 'SIGHUP') return
      onSecond()
      exit(EXIT.interrupted)
    }
    onFirst()
    controller.abort(new Stopped())
  }
  stoppers.add(handle)
  listen()
  return {
    signal: controller.signal,
    off: () => {
      stoppers.delete(handle)
      listen()
    },
  }
}

/**
 * Runs `work`, and ends the process when it is interrupted meanwhile, once `end` has done what is left to do; a second
 * Ctrl-C or SIGTERM does not wait for that. What the work comes to after that is never heard of: what a closed connection
 * breaks is no failure to tell. Whoever handles interrupts meanwhile (`onInterrupt`) goes first; of several of these the one
 * that came last has its way.
 *
 * @param work - is given what leaves signals to the system again: a handler is not called while the program computes, and
 *   who computes for seconds, with nothing left to do when stopped, is better ended by the system
 * @param end - is given 129, 130 or 143, what a program without a handler ends with; answers the exit code
 */
export async function endingOnInterrupt<T>(
  work: (leaveToSystem: () => void) => Promise<T>,
  end: (usual: Usual) => Promise<number>,
): Promise<T> {
  let ended: Promise<void> | undefined
  let left = 0
  const handle = (signal: Signal) => {
    if (ended !== undefined && signal === 'SIGHUP') return
    const usual = USUAL[signal]
    if (ended !== undefined) exit(usual)
    ended = end(usual).then(
      code => exit(code),
      () => exit(usual),
    )
  }
  enders.add(handle)
  listen()
  try {
    return await work(() => {
      leftToSystem += 1 - left
      left = 1
      listen()
    })
  } finally {
    // The process ends when `end` has done its part.
    await ended
    leftToSystem -= left
    enders.delete(handle)
    listen()
  }
}
