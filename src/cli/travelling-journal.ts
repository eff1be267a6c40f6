/**
 * The head of a journal inside an http ledger: what is sent and not settled travels in the ledger before each create,
 * so that another machine can resume after this one and its disk are gone (design section 10, "CI without a disk").
 */
import {asJson, isJsonObject, type Json} from '../base/json.ts'
import {type Journal, type JournalEntry, readRun, type SentEntry} from '../engine/journal.ts'
import type {LedgerBook} from '../engine/ledger-book.ts'
import type {Operation, Plan} from '../engine/plan.ts'
import {keyOf} from '../engine/value.ts'

export interface PendingRun {
  readonly run: string
  readonly entries: readonly JournalEntry[]
  readonly operations: readonly Operation[]
}

/** What a ledger says of an unfinished run; `undefined` when it says nothing that can be read. */
export function pendingRun(pending: Json | undefined): PendingRun | undefined {
  if (!isJsonObject(pending) || typeof pending.run !== 'string' || typeof pending.text !== 'string') return undefined
  const {entries, operations}: Pick<PendingRun, 'entries' | 'operations'> = JSON.parse(pending.text)
  return {run: pending.run, entries, operations}
}

/** A journal that also keeps its open end in the ledgers of these stacks. */
export class TravellingJournal implements Journal {
  readonly #run: string
  readonly #inner: Journal
  readonly #book: LedgerBook
  readonly #stacks: ReadonlySet<string>
  readonly #operations: ReadonlyMap<string, Operation>
  /** Entries of operations that have not ended, by key. */
  readonly #open = new Map<string, JournalEntry[]>()

  constructor(run: string, inner: Journal, book: LedgerBook, stacks: ReadonlySet<string>, plan: Plan) {
    this.#run = run
    this.#inner = inner
    this.#book = book
    this.#stacks = stacks
    this.#operations = new Map(plan.operations.map(it => [keyOf(it.stack, it.address), it]))
  }

  append(entry: JournalEntry, durable: boolean): void {
    this.#inner.append(entry, durable)
    if (!('key' in entry)) return
    const entries = [...(this.#open.get(entry.key) ?? []), entry]
    // What still runs when its operation has ended (a wait that ran out) is for the next run to follow.
    if (entry.type === 'ended' && readRun(entries).loose.length === 0) this.#open.delete(entry.key)
    else this.#open.set(entry.key, entries)
  }

  async announce(entry: SentEntry, durable: boolean): Promise<void> {
    const before = this.#open.get(entry.key) ?? []
    this.#open.set(entry.key, [...before, entry])
    try {
      this.#pack()
      await this.#book.flush()
      // Last: what is not in the journal was not sent, wherever it may have travelled.
      this.#inner.append(entry, durable)
    } catch (error) {
      if (before.length > 0) this.#open.set(entry.key, before)
      else this.#open.delete(entry.key)
      this.#pack()
      throw error
    }
  }

  /** The run has ended: what is open goes on travelling, and nothing else. */
  ended(): void {
    this.#pack()
  }

  #pack(): void {
    for (const stack of this.#stacks) this.#book.setPending(stack, this.#head(stack))
  }

  #head(stack: string): Json | undefined {
    const keys = [...this.#open.keys()].filter(key => key.startsWith(`${stack}:`))
    if (keys.length === 0) return undefined
    const operations = keys.flatMap(key => this.#operations.get(key) ?? [])
    return asJson({run: this.#run, text: JSON.stringify({entries: keys.flatMap(key => this.#open.get(key) ?? []), operations})})
  }
}
