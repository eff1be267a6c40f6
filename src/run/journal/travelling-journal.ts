/**
 * The head of a journal inside an http ledger: what is sent and not settled travels in the ledger before each create,
 * so that another machine can resume after this one and its disk are gone (design section 10, "CI without a disk").
 */
import {z} from 'zod'
import {parseJson} from '../../base/bounded-json.ts'
import {asJson, type Json} from '../../base/json.ts'
import {judge} from '../../base/judge.ts'
import type {LedgerBook} from '../../engine/apply/ledger-book.ts'
import {type Journal, type JournalEntry, readRun, type SentEntry, stackOf, versionOn} from '../../engine/model/journal.ts'
import {journalEntrySchema} from '../../engine/model/journal-schema.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {operationSchema} from '../../engine/model/plan-schema.ts'
import {keyOfOperation} from '../../engine/model/value.ts'

export interface PendingRun {
  readonly run: string
  readonly entries: readonly JournalEntry[]
  readonly operations: readonly Operation[]
}

const runSchema = z.object({run: z.string(), text: z.string()})
const pendingSchema = runSchema.extend({earlier: z.array(runSchema).optional()})
const textSchema = z.object({entries: z.array(journalEntrySchema), operations: z.array(operationSchema)})

/** What a ledger says of unfinished runs, the newest first; a part that cannot be read is named in `damaged`. */
export function pendingRuns(pending: Json | undefined): {readonly runs: readonly PendingRun[]; readonly damaged: readonly string[]} {
  if (pending === undefined) return {runs: [], damaged: []}
  const parsed = judge(pendingSchema, pending)
  if (!parsed.success) return {runs: [], damaged: ['an unfinished run']}
  const {earlier = [], ...newest} = parsed.data
  const read = [newest, ...earlier].map(({run, text}) => ({run, content: textSchema.safeParse(jsonIn(text))}))
  return {
    runs: read.flatMap(({run, content}) => (content.success ? [{run, ...content.data}] : [])),
    damaged: read.flatMap(({run, content}) => (content.success ? [] : [`run ${run}`])),
  }
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** The same as it stands in a ledger; nothing, where there is none. */
export function packed(runs: readonly PendingRun[]): Json | undefined {
  const [newest, ...earlier] = runs.map(({run, entries, operations}) => ({run, text: JSON.stringify({entries, operations})}))
  return newest === undefined ? undefined : asJson({...newest, ...(earlier.length === 0 ? {} : {earlier})})
}

/** A journal that also keeps its open end in the ledgers of these stacks. */
export class TravellingJournal implements Journal {
  readonly #run: string
  readonly #inner: Journal
  readonly #book: LedgerBook
  readonly #stacks: ReadonlySet<string>
  readonly #operations: ReadonlyMap<string, Operation>
  /** Of earlier runs, by stack: what nobody can tell the end of yet goes on travelling with this one. */
  readonly #earlier: ReadonlyMap<string, readonly PendingRun[]>
  /** Entries of operations that have not ended, by key. */
  readonly #open = new Map<string, JournalEntry[]>()

  constructor(run: string, inner: Journal, book: LedgerBook, stacks: ReadonlySet<string>, plan: Plan) {
    this.#run = run
    this.#inner = inner
    this.#book = book
    this.#stacks = stacks
    this.#earlier = new Map([...stacks].map(stack => [stack, pendingRuns(book.ledger(stack)?.pending).runs]))
    book.beforeSave(stack => this.#packOf(stack))
    this.#operations = new Map(plan.operations.map(it => [keyOfOperation(it), it]))
  }

  append(entry: JournalEntry, durable: boolean): void {
    this.#inner.append(entry, durable)
    if (!('key' in entry)) return
    const entries = [...(this.#open.get(entry.key) ?? []), entry]
    // What still runs when its operation has ended (a wait that ran out) is for the next run to follow.
    if (entry.type === 'ended' && readRun(entries).loose.length === 0) this.#open.delete(entry.key)
    else this.#open.set(entry.key, entries)
  }

  async announce(entry: SentEntry, durable: boolean, last: () => Promise<void>): Promise<void> {
    const before = this.#open.get(entry.key) ?? []
    this.#open.set(entry.key, [...before, entry])
    try {
      this.#pack()
      await this.#book.flush({closing: false, stack: stackOf(entry.key)})
      await last()
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
    for (const stack of this.#stacks) this.#packOf(stack)
  }

  #packOf(stack: string): void {
    if (this.#stacks.has(stack)) this.#book.setPending(stack, packed([...this.#head(stack), ...(this.#earlier.get(stack) ?? [])]))
  }

  #head(stack: string): PendingRun[] {
    const keys = [...this.#open.keys()].filter(key => key.startsWith(`${stack}:`))
    if (keys.length === 0) return []
    // The version that it travels in: in a later one somebody else has written.
    const {serial = 0, lineage = ''} = this.#book.ledger(stack) ?? {}
    const saved: JournalEntry = {type: 'saved', stack, ...versionOn({serial: serial + 1, lineage})}
    const entries = [...keys.flatMap(key => this.#open.get(key) ?? []), saved]
    return [{run: this.#run, entries, operations: keys.flatMap(key => this.#operations.get(key) ?? [])}]
  }
}
