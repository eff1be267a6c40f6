/** What the steps of an operation know of it. */
import type {Backend} from '../model/backend.ts'
import type {State, Step} from '../model/events.ts'
import type {Kind} from '../model/kind.ts'
import type {Key, ValueObject} from '../model/value.ts'
import type {Objects} from './objects.ts'
import type {RunContext} from './run-context.ts'
import type {Ended, Work} from './work.ts'

export interface RunWork extends Work {
  readonly key: Key
  readonly behind: number
  readonly objects: Objects
  readonly end: (state: State, rest?: Partial<Ended>) => Ended
}

export interface Staged {
  readonly context: RunContext
  readonly work: RunWork
  readonly kind: Kind
  readonly backend: Backend
  /** What is sent: every expression evaluated. */
  readonly spec: ValueObject
  /** Pointers of the secrets that were sent. */
  readonly sent: Set<string>
  /** Those of the operation that are still to be taken. */
  steps(): readonly Step[]
}
