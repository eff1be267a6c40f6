/** The locks of some ledgers, taken once nothing is on its way between them and any other one. */
import type {Clock} from '../../base/clock.ts'
import {AppError} from '../../base/errors.ts'
import {lockNamed} from '../../base/standing-locks.ts'
import {Stopped} from '../../engine/apply/run-context.ts'
import type {Unlock} from '../../engine/model/ledger.ts'
import {afterFailure, type ChangeStop, lockAll, type ManagedLedgerStore} from '../../ledger/managed-store.ts'
import {type Arrived, finishTransfers, ledgerName, marksIn} from '../../ledger/transfer.ts'
import {auditArrivals} from '../audit/audit-arrivals.ts'
import type {Host} from '../host/host.ts'
import type {OpenedStores} from './ledger-stores.ts'
import type {LedgerOf, OtherLedgers} from './other-ledgers.ts'

export interface LockWish {
  readonly stores: ReadonlyMap<string, ManagedLedgerStore>
  /** Reads the ledgers that are not locked. */
  readonly host: Host
  readonly others: () => Promise<OtherLedgers>
  readonly marked: OpenedStores['marked']
  /** Which of these stacks are frozen: their ledgers are not written. */
  readonly areFrozen: (stacks: readonly LedgerOf[]) => Promise<ReadonlySet<string>>
  readonly timeoutMs: number
  readonly clock: Clock
  readonly signal?: AbortSignal
  /** Hears of a transfer whose run had died, once it has been brought to its end. */
  readonly finished: (arrived: readonly Arrived[]) => void
  /** Hears of a lock that stays, where something else went wrong. */
  readonly stillLocked: (error: unknown) => void
}

/** Somebody may begin a transfer each time the locks are given back for a moment; not for ever. */
const ROUNDS = 8

/** @throws what taking a lock throws; the signal's reason, with no lock held */
export async function lockSettled({
  host,
  stores,
  others,
  marked,
  areFrozen,
  timeoutMs,
  clock,
  signal,
  finished,
  stillLocked,
}: LockWish): Promise<Unlock> {
  const until = clock.now() + timeoutMs
  const lock = (all: readonly ManagedLedgerStore[]) =>
    lockAll(all, {timeoutMs: Math.max(0, until - clock.now()), clock, stillLocked, ...(signal ? {signal} : {})})
  for (let round = 0; ; round++) {
    const unlock = await lock([...stores.values()])
    const partners = await afterFailure(unlock, () => partnersOf(stores, others, marked, areFrozen), stillLocked)
    if (!signal?.aborted && (partners.size === 0 || round === ROUNDS)) return unlock
    // Locks are taken in one order by everybody: those of the others cannot be added to these.
    await unlock()
    signal?.throwIfAborted()
    const unlockAll = await lock([...new Map([...stores, ...partners]).values()])
    await underLock(unlockAll, async () => finished(await finishTransfers(partners, auditArrivals(host, partners))), stillLocked)
  }
}

/**
 * The ledgers that something is on its way between, from or to one of these. One that cannot be read waits for another time, and so
 * does that of a stack that is frozen: it is not changed.
 */
async function partnersOf(
  stores: LockWish['stores'],
  others: LockWish['others'],
  marked: LockWish['marked'],
  areFrozen: LockWish['areFrozen'],
): Promise<ReadonlyMap<string, ManagedLedgerStore>> {
  const other = await others()
  const own = await Promise.all([...stores.values()].map(it => it.load()))
  const all = new Map([...other.stores, ...stores])
  const partners = new Map<string, ManagedLedgerStore>()
  const marks = marksIn([...own, ...other.ledgers])
  const beside = other.places.filter(
    ({name}) => !stores.has(name) && marks.some(({stack, mark}) => [stack, mark.from.stack].includes(name)),
  )
  const frozen = await areFrozen(beside)
  for (const {stack, mark} of marks) {
    const {from} = mark
    if (frozen.has(stack) || frozen.has(from.stack)) continue
    const concerns = stores.has(stack) || (from.state === undefined && stores.has(from.stack))
    const name = ledgerName(from)
    const destination = all.get(stack)
    if (!concerns || destination === undefined) continue
    if (from.state !== undefined && !all.has(name)) {
      const store = marked(stack, from.state)
      if (store !== undefined && (await isReadable(store))) all.set(name, store)
    }
    const source = all.get(name)
    if (source !== undefined) partners.set(stack, destination).set(name, source)
  }
  return partners
}

async function isReadable(store: ManagedLedgerStore): Promise<boolean> {
  try {
    await store.load()
    return true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return false
  }
}

/** Works, and gives the locks back; what the work failed of is what is said, and a lock that stays beside it. */
async function underLock<T>(unlock: Unlock, work: () => Promise<T>, stillLocked: LockWish['stillLocked']): Promise<T> {
  const result = await afterFailure(unlock, work, stillLocked)
  await unlock()
  return result
}

/** How a command that only writes ledgers is stopped; what stops it is the caller's. */
export interface Stoppable {
  /** While it waits for locks. @param end - gives back what it has by then; nothing was changed */
  waiting<T>(work: () => Promise<T>, end: () => Promise<void>): Promise<T>
  /**
   * From here on it goes on to its end, whoever wants it to stop.
   * @param until - what that is; the ledgers are written, unless told
   * @returns takes that back
   */
  finishing(until?: string): () => void
}

/**
 * Takes locks, works under them, and gives them back however that ends. Whoever stops the command while it waits for a
 * lock stops it with nothing changed; who stops it later waits until the ledgers are written, for it would only have to
 * be gone on with.
 */
export async function underLocks<T>(
  {log}: Pick<Host, 'log'>,
  stoppable: Stoppable,
  take: (stop: AbortSignal) => Promise<Unlock>,
  work: () => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const taking = take(stop.signal)
  const unlock = await stoppable.waiting(
    () => taking,
    () => givenBack(stop, taking),
  )
  const done = stoppable.finishing()
  try {
    const result = await afterFailure(unlock, work, sayStillLocked(log))
    // What was done is done, and is said.
    await unlock().catch(sayStillLocked(log))
    return result
  } finally {
    done()
  }
}

/** Whoever stops it before its first lock is taken stops it with nothing changed; who stops it later waits until all is. */
export async function changingEach<T>(stoppable: Stoppable, until: string, change: (stop: ChangeStop) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  let done: (() => void) | undefined
  const begun = () => {
    done ??= stoppable.finishing(until)
  }
  const changing = change({signal: stop.signal, begun})
  try {
    return await stoppable.waiting(
      () => changing,
      async () => {
        stop.abort(new Stopped())
        await changing.catch(() => undefined)
      },
    )
  } finally {
    done?.()
  }
}

/** Ends a wait for locks; those that it has by then are given back. */
export async function givenBack(stop: AbortController, taking: Promise<Unlock>): Promise<void> {
  stop.abort(new Stopped())
  const unlock = await taking.catch(() => undefined)
  await unlock?.()
}

/**
 * Locks that are being taken are given back when `work` has ended; what it failed of is what is said.
 * @param finishing - as in `Stoppable`: who stops the command while it gives them back would leave the rest of them behind
 */
export async function lockedUntil<T>(
  work: () => Promise<T>,
  taking: Promise<Unlock>,
  {log, finishing}: Pick<Host, 'log'> & Pick<Stoppable, 'finishing'>,
): Promise<T> {
  const giveBack = async (unlock: Unlock | undefined) => {
    const done = finishing()
    try {
      await unlock?.()
    } finally {
      done()
    }
  }
  const result = await afterFailure(async () => giveBack(await taking.catch(() => undefined)), work, sayStillLocked(log))
  await giveBack(await taking)
  return result
}

export const sayStillLocked =
  (log: Host['log']) =>
  (error: unknown): void => {
    if (!(error instanceof AppError)) throw error
    log.warn([error.message, ...error.suggestions].join(' '))
    lockNamed(error)
  }

/** What the command finished that it did not begin. */
export function sayArrived({log}: Pick<Host, 'log'>, arrived: readonly Arrived[]): void {
  for (const id of new Set(arrived.map(it => it.id))) {
    const count = arrived.filter(it => it.id === id).length
    log.warn(`transfer ${id} had not come to its end: ${count} object${count === 1 ? '' : 's'} now in the ledger it went to`)
  }
}
