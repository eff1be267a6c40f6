/**
 * What the engine asks of an API. Each API implements it once (`backends/<api>/backend.ts`) on the transport, which
 * counts, paces and retries. Everything that can happen to a write is a value here, so that the engine decides what
 * it means without knowing a status code.
 */
import type {Api} from '../../base/apis.ts'
import type {AppError} from '../../base/errors.ts'
import type {Json, JsonObject} from '../../base/json.ts'
import type {ApiRequest} from './kind.ts'

/** Who goes first when requests wait for the budget; a lower number goes first. */
export const PRIORITY = {interactive: 0, overdue: 500_000, write: 1_000_000, read: 2_000_000, poll: 3_000_000, proof: 4_000_000} as const

export interface RequestOptions {
  /** One of PRIORITY, minus the length of the path that waits behind it. */
  readonly priority?: number
  readonly signal?: AbortSignal
  /** Gives a write up as long as it waits: for its turn, or to be tried again. One that is on its way is left to arrive. */
  readonly stop?: AbortSignal
  /** From when it fires the request goes before all but interactive ones. */
  readonly hurry?: AbortSignal
  /**
   * Awaited when the request's turn has come, right before it leaves; what it throws keeps the request from being sent.
   * @returns for how many milliseconds it may leave: to a connection that comes about later it is not written, and asked for
   * again. Not until when: whoever sends it may go by another clock, and one of the two was set, or stood still meanwhile.
   */
  readonly beforeSend?: () => Promise<number | undefined>
  /** This try was provably refused, and so were all before it; another one waits for its turn. */
  readonly onRefused?: () => void
  /** The same request was sent before, and may have taken effect: no refusal says that nothing happened. */
  readonly mayHaveArrived?: true
}

export interface ReadOptions extends RequestOptions {
  /** An answer that was read so already will do, until it is forgotten: the facts of one plan are those of the next. */
  readonly kept?: boolean
}

/** A list as far as it is known. */
export interface Listing {
  readonly rows: readonly JsonObject[]
  /** Rows without an id: something is there, and nobody can say which object it is. */
  readonly withoutId: readonly JsonObject[]
  /** Whether "not in it" means "does not exist". */
  readonly proven: boolean
  /** How it is known to be complete: an empty page, a shorter list than one seen whole, a repeated page, a 404. */
  readonly proof?: string
}

export interface ProveOptions extends RequestOptions {
  /** This list; all that were read, when absent. */
  readonly path?: string
  /** By its own pages: no other list vouches for it, whose cap may be another one. */
  readonly alone?: boolean
}

export interface Reader {
  /**
   * The collection at `request.path`, page by page. A list that another list of the same API may prove is answered
   * with `proven: false` until `prove`. A collection that does not exist is `undefined`.
   */
  list(request: ApiRequest, options?: RequestOptions): Promise<Listing | undefined>
  /**
   * Brings the lists read so far, or the one at `path`, to a proof with as few requests as possible (design section 10,
   * Paging); those that grew are answered anew by `list`.
   */
  prove(options?: ProveOptions): Promise<void>
  /** One object; `undefined` when there is none. */
  read(request: ApiRequest, options?: ReadOptions): Promise<JsonObject | undefined>
  /** Forgets what was read below this path, so that the next look is a new one. */
  forget(path: string): void
}

/** `mayHaveArrived`: a try before the one with this answer may have done what was asked for, whatever this one says. */
export type WriteOutcome = WriteAnswer & {readonly mayHaveArrived?: true}

export type WriteAnswer =
  | {readonly outcome: 'accepted'; readonly taskId?: string; readonly body?: Json}
  /** Something is changing this object or its parent: wait for it, then send again. */
  | {readonly outcome: 'busy'; readonly reason: string}
  /** Too many changes at once in this account: a running one must end first. */
  | {readonly outcome: 'crowded'; readonly reason: string}
  /** 404: on a delete that is success. */
  | {readonly outcome: 'gone'; readonly error: AppError}
  /** The API understood and refused; sending again cannot help. `taken`: what is asked for is there already. */
  | {readonly outcome: 'refused'; readonly error: AppError; readonly taken?: true}
  /** It never reached the API, and the tries are spent. */
  | {readonly outcome: 'unsent'; readonly error: AppError}
  /** Sent, and no answer tells what became of it. */
  | {readonly outcome: 'unknown'; readonly error: AppError}

export type TaskState = 'running' | 'done' | 'failed'

/** A task in either vocabulary. */
export interface SeenTask {
  readonly id: string
  readonly state: TaskState
  /** The status as the API spelled it. */
  readonly status: string
  readonly resourceId?: string
  readonly commandType?: string
  readonly description?: string
  /** Milliseconds since the epoch by the API's clock, where the task says when it began. */
  readonly startedAt?: number
  readonly error?: TaskFailure
}

/** The id of what a create's task made. Some servers name the parent there: that id says nothing of the object. */
export const idMadeBy = ({resourceId}: SeenTask, parent: readonly string[]): string | undefined =>
  resourceId !== undefined && parent.includes(resourceId) ? undefined : resourceId

export interface TaskFailure {
  readonly code?: string
  readonly message: string
  readonly field?: string
  /** The failure only means "not now" (SUBSCRIPTION_NOT_ACTIVE, TOO_MANY_PENDING_SUBSCRIPTIONS): wait and send again. */
  readonly transient: boolean
  readonly crowded?: boolean
  /** What is asked for is there already. */
  readonly taken?: true
}

export interface TaskList {
  readonly tasks: readonly SeenTask[]
  /** Neither filtered nor capped: a task that is not in it does not exist. */
  readonly complete: boolean
}

export interface Backend {
  readonly name: Api
  readonly reader: Reader
  write(request: ApiRequest, options?: RequestOptions): Promise<WriteOutcome>
  /** All recent tasks with one request where the API can; `undefined` where it has no such list. */
  tasks(options?: RequestOptions): Promise<TaskList | undefined>
  /** What a create makes is in its list as soon as the request was taken, and no task makes it later. */
  readonly createsAtOnce?: true
  /** One task; `undefined` for a 404. */
  task(id: string, options?: RequestOptions): Promise<SeenTask | undefined>
  readonly spending: Spending
  /** What time it is there: times that it names are by its clock, and what is compared with them is, too. */
  readonly now: () => number
}

/** The account's request budget as the engine sees it. */
export interface Spending {
  /** Requests sent so far by this process. */
  readonly used: number
  /** Requests waiting for a token. */
  readonly waiting: number
  readonly perMinute: number
  readonly burst: number
  /** Tokens there right now. */
  readonly available: number
}
