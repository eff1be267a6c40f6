/** What commands do goes into the audits of their stacks: first there, and then into the ledgers. */
import type {AuditEvent, ChainHead} from '../../audit/entry.ts'
import {AppError} from '../../base/errors.ts'
import {randomUuid} from '../../base/random.ts'
import type {LedgerBook} from '../../engine/apply/ledger-book.ts'
import {auditedOnly, emptyLedger, type Ledger} from '../../engine/model/ledger.ts'
import type {ManagedLedgerStore} from '../../ledger/managed-store.ts'
import type {Host} from '../host/host.ts'
import {doerOf, StackChain} from './audit-chain.ts'
import type {Doer} from './audit-words.ts'

/** The last line of a stack's audit. */
export interface AuditHead extends ChainHead {
  readonly stack: string
}

/** Names the ledger that is to be audited: one that was never written gets its name with the first line about it. */
const named = (host: Pick<Host, 'random'>, ledger: Ledger): Ledger =>
  ledger.lineage === '' ? {...ledger, lineage: randomUuid(host.random)} : ledger

/** The audits of the stacks whose ledgers a run keeps in a book. Each write of a ledger says how far its audit has come. */
export class BookAudit {
  readonly #host: Host
  readonly #book: LedgerBook
  readonly #isRemote: (stack: string) => boolean
  readonly #run: string
  readonly #doer: Doer
  readonly #chains = new Map<string, StackChain>()
  #failure: AppError | undefined

  constructor(host: Host, book: LedgerBook, stores: ReadonlyMap<string, Pick<ManagedLedgerStore, 'isRemote'>>, run: string, by?: string) {
    this.#host = host
    this.#book = book
    this.#isRemote = stack => stores.get(stack)?.isRemote ?? false
    this.#run = run
    this.#doer = doerOf(host, by)
    book.flushFirst(stack => this.#flush(stack))
  }

  /**
   * Nothing may be sent or written before: a line in each of these audits, on the disk. What a run that died has left
   * there beyond its ledger the ledger gets to know first, so that it is never behind by more than one run.
   *
   * @throws AuditWriteError, AuditLockedError, and what writing a ledger throws
   */
  async begin(stacks: Iterable<string>, event?: AuditEvent): Promise<void> {
    const opened = [...new Set(stacks)].map(stack => this.#open(stack))
    let isBehind = false
    for (const chain of opened) if (await chain.catchUp()) isBehind = this.#tell(chain) || isBehind
    if (isBehind) await this.#book.flush()
    if (event === undefined) return
    for (const chain of opened) chain.note({...event, run: this.#run})
    for (const chain of opened) {
      await chain.flush()
      this.#tell(chain)
      chain.hasBegun(this.#run)
    }
  }

  /** @throws AuditWriteError: nothing more may be sent */
  note(stack: string, event: AuditEvent): void {
    this.#open(stack).note({run: this.#run, ...event})
  }

  /** All lines are on the disk when it resolves, and the book has what the ledgers are to say. @throws AuditWriteError, AuditLockedError */
  async flush(): Promise<void> {
    for (const chain of this.#chains.values()) {
      await chain.flush()
      this.#tell(chain)
    }
  }

  /** What went wrong with a line while a ledger was written: that is written all the same, and says nothing of the line. */
  get failure(): AppError | undefined {
    return this.#failure
  }

  get heads(): readonly AuditHead[] {
    return [...this.#chains.values()].flatMap(({stack, audit}) => (audit ? [{stack, seq: audit.seq, hash: audit.hash}] : []))
  }

  close(): void {
    for (const chain of this.#chains.values()) chain.close()
  }

  #open(stack: string): StackChain {
    const known = this.#chains.get(stack)
    if (known !== undefined) return known
    const ledger = named(this.#host, this.#book.ledger(stack) ?? emptyLedger(stack))
    this.#book.setLineage(stack, ledger.lineage)
    const chain = new StackChain(this.#host, ledger, {doer: this.#doer, isRemote: this.#isRemote(stack)})
    this.#chains.set(stack, chain)
    return chain
  }

  async #flush(stack: string): Promise<void> {
    const chain = this.#chains.get(stack)
    if (chain === undefined) return
    try {
      await chain.flush()
      this.#tell(chain)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#failure ??= error
    }
  }

  #tell({stack, audit}: StackChain): boolean {
    if (audit !== undefined) this.#book.setAudit(stack, audit)
    return audit !== undefined
  }
}

/** A line that is to be written, and in which audit. */
export interface StackEvent {
  readonly stack: string
  readonly event: AuditEvent
}

/**
 * Writes into the ledgers of a book what these lines say, which are written first; where one fails, more lines say so.
 * @throws AuditWriteError, AuditLockedError: the ledgers are as they were; and what `work` throws
 */
export async function auditedInBook<T>(
  {host, stores}: {readonly host: Host; readonly stores: ReadonlyMap<string, Pick<ManagedLedgerStore, 'isRemote'>>},
  book: LedgerBook,
  run: string,
  events: readonly StackEvent[],
  work: () => Promise<T>,
): Promise<T> {
  const audit = new BookAudit(host, book, stores, run)
  const note = (said: readonly StackEvent[], more: Partial<AuditEvent> = {}) => {
    for (const {stack, event} of said) audit.note(stack, {...event, ...more})
    return audit.flush()
  }
  try {
    await audit.begin(events.map(it => it.stack))
    await note(events)
    try {
      return await work()
    } catch (error) {
      const unsaved = events.filter(it => !book.isSaved(it.stack))
      // What failed before that is in none of them.
      await note(unsaved.length > 0 ? unsaved : events, failed(error)).catch(it => host.log.debug(String(it)))
      throw error
    }
  } finally {
    audit.close()
  }
}

export interface AuditedPlace {
  readonly stack: string
  readonly store: ManagedLedgerStore
}

type Events = AuditEvent | readonly AuditEvent[]
const listed = (events: Events): readonly AuditEvent[] => ('event' in events ? [events] : events)

/**
 * Lines about a stack, on the disk when it resolves. No lock of the ledger is needed: whoever writes that next finds the
 * line before its own.
 *
 * @throws AuditWriteError, AuditLockedError, AuditPlaceError: what it is about must not be done
 */
export async function appendAudit(host: Host, {stack, store}: AuditedPlace, events: Events, by?: string): Promise<void> {
  const ledger = await store.load().catch((error: unknown) => {
    // Of a ledger that cannot be read nothing is known, and what is done about it belongs here all the same.
    if (!(error instanceof AppError)) throw error
    return emptyLedger(stack)
  })
  const chain = new StackChain(host, ledger, {doer: doerOf(host, by), isRemote: store.isRemote})
  try {
    for (const event of listed(events)) chain.note(event)
    await chain.flush()
  } finally {
    chain.close()
  }
}

/**
 * Does something that one line says, or some, which are written first; where it fails, others say so.
 * @throws what `work` throws, and what `appendAudit` throws
 */
export async function audited<T>(host: Host, place: AuditedPlace, events: Events, work: () => Promise<T>, by?: string): Promise<T> {
  await appendAudit(host, place, events, by)
  try {
    return await work()
  } catch (error) {
    const ended = listed(events).map(it => ({...it, ...failed(error)}))
    await appendAudit(host, place, ended, by).catch(it => host.log.debug(String(it)))
    throw error
  }
}

/**
 * Before something begins that has several writes, and whose line comes behind the first of them: the ledger knows of all
 * that is in the audit so far. Needs its lock.
 *
 * @throws AuditWriteError, AuditLockedError, and what writing the ledger throws
 */
export async function assertAuditable(host: Host, ledger: Ledger, store: ManagedLedgerStore): Promise<void> {
  const chain = new StackChain(host, ledger, {doer: doerOf(host), isRemote: store.isRemote})
  try {
    await caughtUp(chain, ledger, store)
  } finally {
    chain.close()
  }
}

/** What a run that died has left in the audit its ledger gets to know, so that it is never behind by more than one run. */
async function caughtUp(chain: StackChain, ledger: Ledger, store: ManagedLedgerStore): Promise<Ledger> {
  const isBehind = await chain.catchUp()
  // One that is not there yet is not made for this alone.
  return isBehind && chain.audit !== undefined && ledger.condition === 'present' ? store.save(auditedOnly(ledger, chain.audit)) : ledger
}

/** How an event ended that did not end well. */
export const failed = (error: unknown): Pick<AuditEvent, 'state' | 'reason'> => ({
  state: 'failed',
  reason: reasonOf(error),
})

export const reasonOf = (error: unknown): string =>
  error instanceof AppError ? `${error.code}: ${error.message}` : 'an error that nobody had reckoned with'

/**
 * Writes a ledger with what is said of it in its audit, under the ledger's lock.
 *
 * @param ledger - as it was read
 * @throws AuditWriteError, AuditLockedError: the ledger is as it was; and what `save` throws
 */
export async function saveAudited(
  host: Host,
  store: ManagedLedgerStore,
  ledger: Ledger,
  events: readonly AuditEvent[],
  change: (ledger: Ledger) => Ledger,
): Promise<Ledger> {
  let now = named(host, ledger)
  const chain = new StackChain(host, now, {doer: doerOf(host), isRemote: store.isRemote})
  try {
    now = await caughtUp(chain, now, store)
    for (const event of events) chain.note(event)
    const audit = await chain.flush()
    try {
      return await store.save({...change(now), ...(audit && {audit})})
    } catch (error) {
      for (const event of events) chain.note({...event, ...failed(error)})
      await chain.flush().catch(it => host.log.debug(String(it)))
      throw error
    }
  } finally {
    chain.close()
  }
}
