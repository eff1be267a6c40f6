/** What happens during an apply, and while things are read for any command, as data. Every renderer reads this one stream. */
import type {AppError} from '../../base/errors.ts'
import type {Action, BoundTime} from './plan.ts'
import type {Key} from './value.ts'

export const STATES = ['done', 'no-op', 'failed', 'skipped', 'blocked', 'detached', 'unknown'] as const
/** How an operation ended; every one ends in exactly one. All but the first two say why. */
export type State = (typeof STATES)[number]

export type Step = 'create' | 'update' | 'delete'

/** What an operation may be busy with: a step, or an adoption that waits for what it has found. */
export type Stage = Step | 'adopt'

export type ApplyEvent =
  /** Before anything is begun: what is waited for, in words; absent: nothing any more. */
  | {readonly type: 'reading'; readonly doing?: string}
  | {readonly type: 'begin'; readonly run: string; readonly operations: number}
  | {readonly type: 'started'; readonly key: Key; readonly action: Action; readonly step: Stage}
  | {readonly type: 'accepted'; readonly key: Key; readonly step: Step; readonly taskId?: string}
  /** Something is in the way; it is waited for. */
  | {readonly type: 'held'; readonly key: Key; readonly reason: string; readonly waitMs: number}
  | {
      readonly type: 'waiting'
      readonly key: Key
      readonly for: 'task' | 'ready' | 'gone'
      readonly elapsedMs: number
      readonly status?: string
    }
  /** What is left and how long it will take, by what the changes so far took; once a second at most. */
  | ({readonly type: 'estimate'} & BoundTime)
  /** An answer was lost; what became of the request is being looked up. */
  | {readonly type: 'in doubt'; readonly key: Key; readonly step: Step; readonly why: string}
  | {
      readonly type: 'ended'
      readonly key: Key
      readonly action: Action
      readonly state: State
      readonly ms: number
      readonly remoteId?: string
      readonly error?: AppError
      readonly because?: Key
    }
  /** All has ended, and the ledgers are written; digests of so many secrets stand in them, made by now or not. */
  | {readonly type: 'recording'; readonly secrets: number}
  | {readonly type: 'proving'; readonly objects: number}
  | {readonly type: 'proved'; readonly objects: number; readonly residual: number}
  | {readonly type: 'warning'; readonly message: string}
  | {readonly type: 'end'; readonly ms: number}

export type Emit = (event: ApplyEvent) => void
