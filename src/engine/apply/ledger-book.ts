/** The ledgers of a run while it goes on: changed in memory at once, written now and then and at the end. */
import type {Clock} from '../../base/clock.ts'
import {formatDuration} from '../../base/duration.ts'
import {AppError, EXIT, type ExitCode} from '../../base/errors.ts'
import {canonicalJson, type Json} from '../../base/json.ts'
import {type Tried, tryAgain} from '../../base/try-again.ts'
import {deposedAddress, isDeposed} from '../model/deposed.ts'
import type {Emit} from '../model/events.ts'
import type {WrittenObjects} from '../model/journal.ts'
import {
  auditedOnly,
  type Ledger,
  type LedgerAudit,
  type LedgerEntry,
  type LedgerOutput,
  type LedgerStore,
  type LedgerVersion,
} from '../model/ledger.ts'
import {withoutInline} from '../model/made-inline.ts'
import {type Key, keyOf} from '../model/value.ts'
import type {KnownSecret} from './sent-secrets.ts'

/** Secrets of one stack whose digests are still to be made: by address, then by JSON pointer. */
export type StackSecrets = ReadonlyMap<string, ReadonlyMap<string, KnownSecret>>

/**
 * Puts digests of a stack's secrets into its ledger.
 * @param closing - `false` while the run goes on: what can be left to its end is
 */
export type SealSecrets = (ledger: Ledger, closing: boolean) => Promise<Ledger>

/** Told of secrets as soon as they are recorded, long before the ledger is written: their digests take time. */
export type SealAhead = (ledger: Ledger, entry: LedgerEntry, secrets: ReadonlyMap<string, KnownSecret>) => void

/** @param written - what the version has under the addresses that changed in it */
export type SavedListener = (stack: string, version: LedgerVersion, written: WrittenObjects) => void

/** 1, 2, 4, 8 and 16 s between them. */
const SAVE_TRIES = 6
/** No later try ends otherwise: the lock is somebody else's, the credentials are wrong, the ledger is another one. */
const FINAL: readonly ExitCode[] = [EXIT.locked, EXIT.unauthorized, EXIT.stale, EXIT.usage, EXIT.refused]
const isFinal = (error: unknown): boolean => error instanceof AppError && FINAL.includes(error.exit)

/** What the run did is done, and the ledger could not take it. The journal has it: the next run writes it down. */
export class LedgerUnsavedError extends AppError {
  constructor(run: string, unsaved: readonly Key[], cause: AppError) {
    super(`what run ${run} did could not be written into the ledger: ${cause.message}`, {
      code: 'E_LEDGER_UNSAVED',
      problems: unsaved.map(address => ({address, message: 'is as this run left it, and the ledger does not say so'})),
      suggestions: [
        'Once the ledger can be written again, run "svcctl apply" for these stacks here, in the same folder: the journal of this run has what is missing, and it is recorded first.',
        ...cause.suggestions,
      ],
      cause,
    })
  }
}

/** An object that goes by another address than before. */
export interface Renamed {
  readonly from: string
  readonly to: string
  readonly remoteId?: string
}

/** The same, of an object that its run does nothing else to. */
export interface GivingWay extends Renamed {
  readonly stack: string
  readonly remoteId: string
}

export class LedgerBook {
  readonly #ledgers: Map<string, Ledger>
  /** The maps of those that this book has made, and that nobody else writes. */
  readonly #entries = new Map<string, Map<string, LedgerEntry>>()
  /** Where each object of a stack was when that was asked first. */
  readonly #addresses = new Map<string, ReadonlyMap<string, string>>()
  readonly #stores: ReadonlyMap<string, LedgerStore>
  readonly #seal: SealSecrets
  readonly #ahead: SealAhead
  readonly #secrets = new Map<string, Map<string, ReadonlyMap<string, KnownSecret>>>()
  /** Stacks with changes that are not written, and the addresses among them. */
  readonly #dirty = new Map<string, Set<string>>()
  /** Those of them of which the audit alone has come further. */
  readonly #auditOnly = new Set<string>()
  /** Stacks that were written while the run went on, without what was left to its end. */
  readonly #unclosed = new Set<string>()
  /** What was written, and not seen where it is kept since: by stack, the addresses. */
  readonly #unseen = new Map<string, ReadonlySet<string>>()
  #flushFirst: (stack: string) => Promise<void> = () => Promise.resolve()
  #beforeSave: (stack: string) => void = () => {}
  #onSaved: SavedListener = () => {}
  #writing: Promise<unknown> = Promise.resolve()
  #queued: Promise<ReadonlyMap<string, unknown>> | undefined
  #closing = false

  constructor(
    ledgers: ReadonlyMap<string, Ledger>,
    stores: ReadonlyMap<string, LedgerStore>,
    seal: SealSecrets,
    ahead: SealAhead = () => {},
  ) {
    this.#ledgers = new Map(ledgers)
    this.#stores = stores
    this.#seal = seal
    this.#ahead = ahead
  }

  /** Told of every version that this run writes. */
  whenSaved(listener: SavedListener): void {
    this.#onSaved = listener
  }

  /** Awaited before each write of a stack, first of all: what the ledger is to name is on the disk when it resolves. */
  flushFirst(listener: (stack: string) => Promise<void>): void {
    this.#flushFirst = listener
  }

  /** Asked before each write of a stack: what has to say which version it stands in is put there now. */
  beforeSave(listener: (stack: string) => void): void {
    this.#beforeSave = listener
  }

  /** Nothing of it waits to be written. */
  isSaved(stack: string): boolean {
    return !this.#dirty.has(stack)
  }

  ledger(stack: string): Ledger | undefined {
    return this.#ledgers.get(stack)
  }

  /** What was sent, or taken for equal, in this run: in clear. */
  secretsOf(stack: string): StackSecrets {
    return this.#secrets.get(stack) ?? new Map()
  }

  /** Secrets of this run whose digests its ledgers are to have. */
  get secretsCount(): number {
    return [...this.#secrets.values()].flatMap(ofStack => [...ofStack.values()]).reduce((sum, it) => sum + it.size, 0)
  }

  /** @param secrets - those whose digests are made when the ledger is written; what the entry has of others stays */
  record(stack: string, entry: LedgerEntry, secrets: ReadonlyMap<string, KnownSecret>): void {
    this.#edit(stack, [entry.address], entries => entries.set(entry.address, entry))
    const ofStack = this.#secrets.get(stack) ?? new Map<string, ReadonlyMap<string, KnownSecret>>()
    this.#secrets.set(stack, ofStack)
    ofStack.set(entry.address, secrets)
    const ledger = this.#ledgers.get(stack)
    if (ledger !== undefined && secrets.size > 0) this.#ahead(ledger, entry, secrets)
  }

  /**
   * All change at once, so that they may be each other's. An object that came from another ledger may have the former
   * address by now: what gave way to it stands beside it.
   */
  rename(stack: string, renamed: readonly Renamed[]): void {
    const {entries: before} = this.#ledgers.get(stack) ?? {}
    const moved = renamed.flatMap(({from, to, remoteId}) => {
      const aside = remoteId === undefined ? undefined : before?.get(deposedAddress(from, remoteId))
      const there = before?.get(from)
      const entry = remoteId === undefined || there?.remoteId === remoteId ? there : aside
      return entry === undefined || entry.address === to ? [] : [{entry, to}]
    })
    if (moved.length === 0) return
    const addresses = moved.flatMap(({entry, to}) => [entry.address, to])
    this.#edit(stack, addresses, entries => {
      for (const {entry} of moved) entries.delete(entry.address)
      for (const {entry, to} of moved) entries.set(to, {...entry, address: to})
    })
    // What gives way to another object hangs on nothing new: whoever hung on it means that one now.
    const keys = new Map(renamed.flatMap(({from, to}) => (isDeposed(to) ? [] : [[keyOf(stack, from), keyOf(stack, to)] as const])))
    for (const it of this.#ledgers.keys()) this.#hangOn(it, keys)
  }

  /** What hangs on an object goes on hanging on it by its new key: that is the order in which they are deleted one day. */
  #hangOn(stack: string, keys: ReadonlyMap<Key, Key>): void {
    const hanging = [...(this.#ledgers.get(stack)?.entries.values() ?? [])].filter(it => it.dependsOn.some(key => keys.has(key)))
    if (hanging.length === 0) return
    this.#edit(
      stack,
      hanging.map(it => it.address),
      entries => {
        for (const it of hanging) entries.set(it.address, {...it, dependsOn: it.dependsOn.map(key => keys.get(key) ?? key)})
      },
    )
  }

  drop(stack: string, address: string): void {
    this.#edit(stack, [address], entries => entries.delete(address))
    this.#secrets.get(stack)?.delete(address)
  }

  /** What has this name in an object counts as made along with it no longer. */
  dropInline(stack: string, parent: string, field: string, name: string): void {
    const {entries} = this.#ledgers.get(stack) ?? {}
    const known = this.#addresses.get(stack) ?? new Map([...(entries?.values() ?? [])].map(it => [it.remoteId, it.address]))
    this.#addresses.set(stack, known)
    const entry = entries?.get(known.get(parent) ?? '')
    const left = entry?.remoteId === parent ? withoutInline(entry, field, name) : entry
    if (left !== undefined && left !== entry) this.#edit(stack, [left.address], all => all.set(left.address, left))
  }

  setOutputs(stack: string, outputs: Readonly<Record<string, LedgerOutput>>): void {
    this.#replace(stack, ledger => ({...ledger, outputs}))
  }

  setAccounts(stack: string, accounts: Ledger['accounts']): void {
    this.#replace(stack, ledger => ({...ledger, accounts}))
  }

  /** The head of the running apply's journal, for ledgers that outlive the disk. */
  setPending(stack: string, pending: Json | undefined): void {
    this.#replace(stack, ({pending: _, ...ledger}) => (pending === undefined ? ledger : {...ledger, pending}))
  }

  /** How far its audit has come. */
  setAudit(stack: string, audit: LedgerAudit): void {
    const isOnly = this.#auditOnly.has(stack) || !this.#dirty.has(stack)
    this.#replace(stack, ledger => ({...ledger, audit: {...audit, ...(ledger.audit?.same && {same: ledger.audit.same})}}))
    if (isOnly) this.#auditOnly.add(stack)
  }

  /** A ledger that was never written is called so from now on. */
  setLineage(stack: string, lineage: string): void {
    const ledger = this.#ledgers.get(stack)
    if (ledger?.lineage === '') this.#ledgers.set(stack, {...ledger, lineage})
  }

  /** @throws LockLostError: somebody else may be changing this stack */
  async assertHeld(stack: string): Promise<void> {
    await this.#stores.get(stack)?.assertHeld()
  }

  /**
   * Writes what changed; one write at a time, and whoever asks while one waits for its turn shares that one.
   *
   * @param closing - `false` while requests wait for it: what can be left to the end of the run is
   * @param stack - the one whose ledger is waited for: that another one cannot be written is said to whoever waits for that
   */
  async flush({closing = true, stack}: {readonly closing?: boolean; readonly stack?: string} = {}): Promise<void> {
    this.#closing ||= closing
    this.#queued ??= this.#writing.then(() => {
      this.#queued = undefined
      const closes = this.#closing
      this.#closing = false
      return this.#write(closes)
    })
    // One that fails keeps nobody after it from writing.
    this.#writing = this.#queued.catch(() => {})
    const failures = await this.#queued
    const errors = stack === undefined ? [...failures.values()] : failures.has(stack) ? [failures.get(stack)] : []
    // As long as another try may help one of them, that is what is heard.
    if (errors.length > 0) throw errors.find(it => !isFinal(it)) ?? errors[0]
  }

  /**
   * What was written is asked for, and not written again: of a server whose copies lag behind that would be newer each time than what
   * they show.
   *
   * @param isLast - what is not given back now counts as not written
   */
  async #assertKept(isLast: boolean): Promise<void> {
    for (const [stack, addresses] of [...this.#unseen]) {
      try {
        await this.#stores.get(stack)?.assertKept?.()
        this.#unseen.delete(stack)
      } catch (error) {
        if (isLast) this.#touch(stack, addresses)
        throw error
      }
    }
  }

  /**
   * The same at the end of a run, when there is no later write: what may pass (a state server that restarts, a disk
   * that is full for a moment) is tried again for half a minute.
   *
   * @param readBack - whether servers are asked for what they were given: before a journal says that it is recorded
   * @throws LedgerUnsavedError naming what is not in the ledger
   */
  async save(run: string, clock: Clock, emit: Emit, readBack = true): Promise<void> {
    const once = async (tries: number): Promise<Tried<void>> => {
      try {
        await this.flush()
        return {done: readBack ? await this.#assertKept(tries === SAVE_TRIES) : undefined}
      } catch (error) {
        if (!(error instanceof AppError) || isFinal(error)) throw error
        if (tries === SAVE_TRIES) throw new LedgerUnsavedError(run, this.#unsaved(), error)
        const waitMs = 1_000 * 2 ** (tries - 1)
        const message = `what was done is not in the ledger yet: ${error.message} Tried again in ${formatDuration(waitMs)} (${tries} of ${SAVE_TRIES - 1})`
        emit({type: 'warning', message})
        return {waitMs}
      }
    }
    return tryAgain(once, {clock})
  }

  #unsaved(): Key[] {
    return [...this.#dirty].flatMap(([stack, addresses]) => [...addresses].map(it => keyOf(stack, it)))
  }

  /** @returns what went wrong, by stack */
  async #write(closing: boolean): Promise<ReadonlyMap<string, unknown>> {
    const failures = new Map<string, unknown>()
    if (closing) for (const stack of this.#unclosed) this.#touch(stack, [])
    for (const stack of [...this.#dirty.keys()]) await this.#flushFirst(stack)
    for (const stack of [...this.#dirty.keys()]) this.#beforeSave(stack)
    for (const [stack, addresses] of [...this.#dirty]) {
      const ledger = this.#ledgers.get(stack)
      const store = this.#stores.get(stack)
      if (ledger === undefined || store === undefined) continue
      this.#dirty.delete(stack)
      const isOnly = this.#auditOnly.delete(stack)
      try {
        const isSealed = ledger.secretSalt !== undefined || (this.#secrets.get(stack)?.size ?? 0) > 0
        const sealed = isSealed ? await this.#seal(ledger, closing) : ledger
        // Entries are edited in place: what is recorded while this is being written is in the next one.
        const written = writtenIn(sealed, addresses)
        const saved = await store.save(isOnly && sealed.audit ? auditedOnly(sealed, sealed.audit) : sealed)
        if (store.assertKept !== undefined) this.#unseen.set(stack, new Set([...(this.#unseen.get(stack) ?? []), ...addresses]))
        if (closing) this.#unclosed.delete(stack)
        else if (isSealed) this.#unclosed.add(stack)
        const now = this.#ledgers.get(stack)
        // What was recorded while it was being written stays; the rest is as written.
        const {serial, lineage, secretSalt} = saved
        this.#onSaved(stack, {serial, lineage}, written)
        this.#ledgers.set(
          stack,
          now === ledger || now === undefined
            ? saved
            : {...now, serial, lineage, condition: 'present', ...(secretSalt === undefined ? {} : {secretSalt})},
        )
      } catch (error) {
        this.#touch(stack, addresses)
        failures.set(stack, error)
      }
    }
    return failures
  }

  #touch(stack: string, addresses: Iterable<string>): void {
    this.#auditOnly.delete(stack)
    const known = this.#dirty.get(stack) ?? new Set<string>()
    this.#dirty.set(stack, known)
    for (const address of addresses) known.add(address)
  }

  #edit(stack: string, addresses: Iterable<string>, change: (entries: Map<string, LedgerEntry>) => void): void {
    const ledger = this.#ledgers.get(stack)
    if (ledger === undefined) return
    // Edited in place: copying it for each of thousands of objects would be quadratic. What others have is copied first, once.
    const known = this.#entries.get(stack)
    const entries = known !== undefined && known === ledger.entries ? known : new Map(ledger.entries)
    this.#entries.set(stack, entries)
    change(entries)
    this.#ledgers.set(stack, {...ledger, entries})
    this.#touch(stack, addresses)
  }

  #replace(stack: string, change: (ledger: Ledger) => Ledger): void {
    const ledger = this.#ledgers.get(stack)
    if (ledger === undefined) return
    const changed = change(ledger)
    const {entries: _, ...rest} = changed
    const {entries: _before, ...before} = ledger
    if (canonicalJson(rest) === canonicalJson(before)) return
    this.#ledgers.set(stack, changed)
    this.#touch(stack, [])
  }
}

function writtenIn({entries}: Ledger, addresses: ReadonlySet<string>): WrittenObjects {
  const written = [...addresses].flatMap(it => entries.get(it) ?? [])
  const sealed = written.filter(it => Object.keys(it.secrets).length > 0)
  return {
    objects: Object.fromEntries(written.map(it => [it.address, it.remoteId])),
    ...(sealed.length > 0 ? {secrets: Object.fromEntries(sealed.map(it => [it.address, it.secrets]))} : {}),
  }
}
