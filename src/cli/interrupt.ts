/** Ctrl-C and SIGTERM: the first asks the run to stop, the second ends the process at once. */
import {AppError, EXIT} from '../base/errors.ts'
import {Stopped} from '../engine/run-context.ts'

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
  const handle = () => {
    if (controller.signal.aborted) {
      onSecond()
      process.exit(EXIT.interrupted)
    }
    onFirst()
    controller.abort(new Stopped())
  }
  process.on('SIGINT', handle)
  process.on('SIGTERM', handle)
  return {
    signal: controller.signal,
    off: () => {
      process.off('SIGINT', handle)
      process.off('SIGTERM', handle)
    },
  }
}

/**
 * While nothing is at stake yet (a plan is made, a person is asked), Ctrl-C and SIGTERM end the process as they always
 * do, but what was taken is given back first. Whoever handles interrupts meanwhile (`onInterrupt`) goes first.
 *
 * @returns takes the handlers away again
 */
export function giveBackOnInterrupt(giveBack: () => Promise<void>): () => void {
  const handlers = Object.entries({SIGINT: 130, SIGTERM: 143} as const).map(([name, exit]) => {
    const signal = name as 'SIGINT' | 'SIGTERM'
    const handle = () => {
      if (process.listenerCount(signal) > 1) return
      void giveBack().finally(() => process.exit(exit))
    }
    process.on(signal, handle)
    return () => void process.off(signal, handle)
  })
  return () => {
    for (const off of handlers) off()
  }
}
