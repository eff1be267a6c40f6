/**
 * What an apply writes down before and after it acts, so that whoever comes next can tell what a dead run has done.
 * `sent` is on disk before the request leaves, `handle` right after a task id is known. No entry holds a secret.
 */
import type {State, Step} from './events.ts'
import type {Method} from './kind.ts'
import type {Key} from './value.ts'

export type JournalEntry =
  | {
      readonly type: 'sent'
      readonly key: Key
      readonly step: Step
      readonly kind: string
      readonly method: Method
      readonly path: string
      /** The natural key of what is created. */
      readonly name?: string
      /** Remote id of what is changed or deleted. */
      readonly remoteId?: string
      /** Milliseconds since the epoch. */
      readonly at: number
    }
  | {readonly type: 'handle'; readonly key: Key; readonly step: Step; readonly taskId: string}
  /** The API refused or could not be reached: nothing happened. */
  | {readonly type: 'void'; readonly key: Key; readonly step: Step; readonly why: string}
  | {
      readonly type: 'settled'
      readonly key: Key
      readonly step: Step
      readonly remoteId?: string
      readonly failed?: string
      readonly at?: number
    }
  | {readonly type: 'ended'; readonly key: Key; readonly state: State}
  | {readonly type: 'verified'; readonly keys: readonly Key[]}
  | {readonly type: 'end'; readonly summary: Readonly<Record<string, number>>}

export interface Journal {
  /**
   * On disk when it returns, where `durable` is asked for.
   * @throws AppError E_JOURNAL_WRITE: nothing may be sent any more
   */
  append(entry: JournalEntry, durable: boolean): void
  /** Awaited before a create is sent, where what was written must also be elsewhere (ledgers behind HTTP). */
  barrier?(): Promise<void>
}

/** A request of a run that died: sent, and no word of its end. */
export interface Loose {
  readonly key: Key
  readonly step: Step
  readonly kind: string
  readonly path: string
  readonly name?: string
  readonly remoteId?: string
  readonly sentAt: number
  readonly taskId?: string
}

export interface DeadRun {
  /** Requests whose end nobody wrote down. */
  readonly loose: readonly Loose[]
  /** Steps that ended well, with the object they made: what the ledger may not have heard of. */
  readonly settled: readonly {readonly key: Key; readonly step: Step; readonly remoteId?: string}[]
  /** Of every task the run started. */
  readonly taskIds: ReadonlySet<string>
  /** When the last of them ended; lists may not show it yet. */
  readonly lastSettledAt: number
  readonly ended: boolean
}

/** The story of a run, from its entries. */
export function readRun(entries: readonly JournalEntry[]): DeadRun {
  const open = new Map<string, Loose>()
  const settled: {key: Key; step: Step; remoteId?: string}[] = []
  const taskIds = new Set<string>()
  let lastSettledAt = 0
  let ended = false
  for (const entry of entries) {
    if (entry.type === 'sent') {
      const {type: _, method: _method, at, ...rest} = entry
      open.set(`${entry.key} ${entry.step}`, {...rest, sentAt: at})
    } else if (entry.type === 'handle') {
      taskIds.add(entry.taskId)
      const sent = open.get(`${entry.key} ${entry.step}`)
      if (sent) open.set(`${entry.key} ${entry.step}`, {...sent, taskId: entry.taskId})
    } else if (entry.type === 'void') open.delete(`${entry.key} ${entry.step}`)
    else if (entry.type === 'settled') {
      open.delete(`${entry.key} ${entry.step}`)
      lastSettledAt = Math.max(lastSettledAt, entry.at ?? 0)
      if (entry.failed === undefined)
        settled.push({key: entry.key, step: entry.step, ...(entry.remoteId === undefined ? {} : {remoteId: entry.remoteId})})
    } else if (entry.type === 'end') ended = true
  }
  return {loose: [...open.values()], settled, taskIds, lastSettledAt, ended}
}
