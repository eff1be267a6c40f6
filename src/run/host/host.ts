/** What the application gets from whoever runs it: a command line, a test, a worker. It never sees a terminal. */
import type {Clock} from '../../base/clock.ts'
import type {RandomBytes} from '../../base/random.ts'
import type {Redactor} from '../../base/redact.ts'
import type {Environment} from '../../config/environment.ts'

/** What is said beside the result, in levels. Whoever shows it hides the secrets that the redactor knows. */
export interface Voice {
  /** Always shown. */
  note(text: string): void
  /** Always shown, once per text. */
  warn(text: string): void
  /** More than most want to read. */
  info(text: string): void
  /** What helps to find a defect. */
  debug(text: string): void
}

export interface Host {
  readonly environment: Environment
  /** Goes on evenly, whatever is done to the time of the machine. */
  readonly clock: Clock
  /** The time of the machine: what servers and other processes reckon with. */
  readonly wallClock: Clock
  readonly random: RandomBytes
  readonly redactor: Redactor
  readonly log: Voice
  /** The working folder, absolute. */
  readonly cwd: string
  readonly version: string
}
