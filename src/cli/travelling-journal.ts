/**
 * The head of a journal inside an http ledger: what is sent and not settled travels in the ledger before each create,
 * so that another machine can resume after this one and its disk are gone (design section 10, "CI without a disk").
 */
import {asJson, isJsonObject, type Json} from '../base/json.ts'
import type {Journal, JournalEntry} from '../engine/journal.ts'
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
    if (entry.type === 'ended' && entry.state !== 'detached' && entry.state !== 'unknown') this.#open.delete(entry.key)
    else this.#open.set(entry.key, [...(this.#open.get(entry.key) ?? []), entry])
  }

  /** Resolves when what was appended so far has travelled. */
  async barrier(): Promise<void> {
    for (const stack of this.#stacks) this.#book.setPending(stack, this.#head(stack))
    await this.#book.flush()
  }

  /** The run has ended: nothing travels any more. */
  clear(): void {
    for (const stack of this.#stacks) this.#book.setPending(stack, undefined)
  }

  #head(stack: string): Json {
    const keys = [...this.#open.keys()].filter(key => key.startsWith(`${stack}:`))
    const operations = keys.flatMap(key => this.#operations.get(key) ?? [])
    return asJson({run: this.#run, text: JSON.stringify({entries: keys.flatMap(key => this.#open.get(key) ?? []), operations})})
  }
}
