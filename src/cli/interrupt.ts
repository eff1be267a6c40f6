/** Ctrl-C and SIGTERM: the first asks the run to stop, the second ends the process at once. */
import {EXIT} from '../base/errors.ts'
import {Stopped} from '../engine/run-context.ts'

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
