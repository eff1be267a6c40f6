/** An operation with what it takes to carry it out, and how it ended. */

import type {AppError} from '../../base/errors.ts'
import type {Declaration} from '../model/declaration.ts'
import type {State} from '../model/events.ts'
import type {LiveObject} from '../model/live.ts'
import type {Change, Operation} from '../model/plan.ts'
import type {Key, ValueObject} from '../model/value.ts'
import type {Objects} from './objects.ts'
import type {Held} from './undecided.ts'

/** An operation with what a plan document leaves out: secrets in clear and the live object as it was observed. */
export interface Work {
  readonly operation: Operation
  /** Absent for a removal. */
  readonly declaration?: Declaration
  readonly live?: LiveObject
  /** It may not begin (`undecided.ts`). */
  readonly held?: Held
}

export interface Ended {
  readonly operation: Operation
  readonly state: State
  readonly remoteId?: string
  /** Why it is not done; of a skipped one either this or `because`. */
  readonly error?: AppError
  /** What a skipped one was waiting for. */
  readonly because?: Key
  readonly ms: number
  /** As it was sent; for the proof. */
  readonly spec?: ValueObject
  /** When its last change was known to have settled, milliseconds since the epoch: a look that began later is its proof. */
  readonly settledAt?: number
  /** Such a look, which its readiness needed. */
  readonly seen?: Seen
}

/** What a look showed. */
export type Seen = LiveObject | 'gone'

export interface ApplyResult {
  readonly ended: readonly Ended[]
  readonly summary: Readonly<Record<State, number>>
  readonly residual: readonly Residual[]
  /** It ended before its time: it was told to stop before all was done and read back. */
  readonly stopped?: true
  /** The run was told to stop before what it did was read back. */
  readonly unproven?: true
  /** Ids and live fields as the run left them. */
  readonly objects: Objects
  /** Somebody said meanwhile that nothing more is sent. `sent`: something had left by then. */
  readonly closed?: {readonly by: AppError; readonly sent: boolean}
  readonly readyMs: number
  /** How long the run waited for its ledgers once all was ready, digests of secrets included; what is proven meanwhile goes on. */
  readonly recordedMs: number
  readonly provenMs: number
}

export interface Residual {
  readonly stack: string
  readonly address: string
  readonly key: Key
  readonly remoteId?: string
  readonly fields: readonly ResidualField[]
}

export interface ResidualField extends Change {
  readonly diagnosis: Diagnosis
  /** The rule that would make it agree. */
  readonly advice: string
}

export type Diagnosis =
  | 'not read'
  | 'missing'
  | 'still there'
  | 'failed at the API'
  | 'being deleted'
  | 'left for the next apply'
  | 'not returned'
  | 'ignored'
  | 'normalised'
  | 'another value'
