/** A request to be written, and what may come of it. */
import type {AppError} from '../../base/errors.ts'
import type {Json} from '../../base/json.ts'
import type {Backend, SeenTask} from '../model/backend.ts'
import type {Step} from '../model/events.ts'
import type {Journal, SentSecrets} from '../model/journal.ts'
import type {ApiRequest, Kind} from '../model/kind.ts'
import type {Key} from '../model/value.ts'
import type {Turn} from './gate.ts'

export interface Write extends Turn {
  readonly key: Key
  readonly stack: string
  readonly step: Step
  /** For messages: `create database cache`. */
  readonly what: string
  readonly kind: Kind
  readonly backend: Backend
  readonly request: ApiRequest
  readonly name?: string
  readonly remoteId?: string
  /** Digests of the secrets it carries, for the journal. */
  readonly secrets?: SentSecrets
  /** Its answer was lost before, and as far as could be seen nothing came of it. */
  readonly isAgain?: true
  /** A try of it has left, and may have taken effect: what says the same when it is said twice is not looked for. */
  readonly mayHaveArrived?: true
  /** Nothing of this operation is sent after it. */
  readonly last: boolean
  /** The object that the answer to a create names. */
  readonly madeBy: (answer: {readonly body?: Json}) => string | undefined
  /** What to do when nobody knows whether the request took effect. */
  readonly settleDoubt: (doubt: WriteDoubt) => Promise<DoubtSettled>
}

/**
 * Puts down that nothing came of a request. Whatever becomes of it when it is sent again says nothing of a try that may have
 * arrived: that one stays open in the journal until its operation is settled.
 */
export function nothingCame(
  journal: Journal,
  {key, step, mayHaveArrived}: Pick<Write, 'key' | 'step' | 'mayHaveArrived'>,
  why: string,
): void {
  if (!mayHaveArrived) journal.append({type: 'void', key, step, why}, false)
}

export type DoubtSettled =
  /** It happened. */
  | {readonly settled: 'happened'; readonly remoteId?: string}
  /** It provably did not: it may be sent again. */
  | {readonly settled: 'did not happen'}
  | {readonly settled: 'unknown'; readonly error: AppError}

/** What the API took on. */
export interface Accepted {
  readonly body?: Json
  readonly task?: SeenTask
  readonly taskId?: string
  readonly remoteId?: string
  readonly gone?: true
  /** When the answer came. */
  readonly acceptedAt: number
}

export interface WriteDoubt {
  /** Milliseconds since the epoch. */
  readonly sentAt: number
  readonly taskId?: string
  readonly cause?: AppError
  /** Sent again, it was refused, for what it asks for is there already: most likely the first one made it. */
  readonly isTaken?: true
  /** Its task is done, or it was taken on without one, and nobody said what was made: it is there, whatever a list that lags shows. */
  readonly isDone?: true
}
