/**
 * Ctrl-C, SIGTERM, and SIGHUP of a terminal that is closed: the first asks the run to stop, a second Ctrl-C or SIGTERM ends
 * the process at once. A second SIGHUP does not: the system and the shell each send one when a terminal goes.
 */
import {AppError, EXIT} from '../base/errors.ts'
import {Stopped} from '../engine/apply/run-context.ts'

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
    super('stopped while looking what became of an unfinished run: nothing new was sent', {
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
    super(`stopped: ${what} was sent, and what became of it is not known`, {
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

/**
 * @param onFirst - says what happens now
 * @param onSecond - the last thing to do, synchronously
 */
export function onInterrupt(onFirst: () => void, onSecond: () => void): Interrupts {
  const controller = new AbortController()
  const handle = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      if (signal === 'SIGHUP') return
      onSecond()
      process.exit(EXIT.interrupted)
    }
    onFirst()
    controller.abort(new Stopped())
  }
  for (const signal of SIGNALS) process.on(signal, handle)
  return {
    signal: controller.signal,
    off: () => {
      for (const signal of SIGNALS) process.off(signal, handle)
    },
  }
}

const enders = new WeakSet<NodeJS.SignalsListener>()

/**
 * Ctrl-C, SIGTERM and SIGHUP end the process once `end` has done what is left to do; a second one does not wait for that.
 * Whoever handles interrupts meanwhile (`onInterrupt`) goes first; of several of these the one that came last has its way.
 *
 * @param end - is given 129, 130 or 143, what a program without a handler ends with; answers the exit code
 * @returns takes the handlers away again
 */
function endOnInterrupt(end: (usual: Usual) => Promise<number>): () => void {
  let ending = false
  const handlers = SIGNALS.map(signal => {
    const usual = USUAL[signal]
    const handle = () => {
      const all = process.listeners(signal)
      if (all.at(-1) !== handle || all.some(it => !enders.has(it))) return
      if (ending && signal === 'SIGHUP') return
      if (ending) process.exit(usual)
      ending = true
      end(usual).then(
        code => process.exit(code),
        () => process.exit(usual),
      )
    }
    enders.add(handle)
    process.on(signal, handle)
    return () => void process.off(signal, handle)
  })
  return () => {
    for (const off of handlers) off()
  }
}

/** Takes away what ends the process when it is interrupted, of whoever it is. @returns puts it back */
function withoutEnders(): () => void {
  const away = SIGNALS.flatMap(signal =>
    process
      .listeners(signal)
      .filter(it => enders.has(it))
      .map(it => [signal, it] as const),
  )
  for (const [signal, it] of away) process.off(signal, it)
  return () => {
    for (const [signal, it] of away) process.on(signal, it)
  }
}

/**
 * Runs `work`, and ends the process when it is interrupted meanwhile (`endOnInterrupt`). What the work comes to after
 * that is never heard of: what a closed connection breaks is no failure to tell.
 *
 * @param work - is given what leaves signals to the system again: a handler is not called while the program computes, and
 *   who computes for seconds, with nothing left to do when stopped, is better ended by the system
 */
export async function endingOnInterrupt<T>(
  work: (leaveToSystem: () => void) => Promise<T>,
  end: (usual: Usual) => Promise<number>,
): Promise<T> {
  let ending = false
  let comeBack = (): void => {}
  const off = endOnInterrupt(usual => {
    ending = true
    return end(usual)
  })
  try {
    return await work(() => {
      comeBack = withoutEnders()
    })
  } finally {
    if (ending) await new Promise<never>(() => {})
    comeBack()
    off()
  }
}
