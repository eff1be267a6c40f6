/** The locks of some ledgers, taken once nothing is on its way between them and any other one. */
import type {Clock} from '../base/clock.ts'
import type {Unlock} from '../engine/model/ledger.ts'
import {lockAll, type ManagedLedgerStore} from '../ledger/managed-store.ts'
import {type Arrived, finishTransfers, marksIn} from '../ledger/transfer.ts'
import type {Host} from './host.ts'
import type {OtherLedgers} from './other-ledgers.ts'

export interface LockWish {
  readonly stores: ReadonlyMap<string, ManagedLedgerStore>
  /** Reads the ledgers that are not locked. */
  readonly others: () => Promise<OtherLedgers>
  readonly timeoutMs: number
  readonly clock: Clock
  readonly signal?: AbortSignal
  /** Hears of a transfer whose run had died, once it has been brought to its end. */
  readonly finished: (arrived: readonly Arrived[]) => void
}

/** Somebody may begin a transfer each time the locks are given back for a moment; not for ever. */
const ROUNDS = 8

/** @throws what taking a lock throws */
export async function lockSettled({stores, others, timeoutMs, clock, signal, finished}: LockWish): Promise<Unlock> {
  const until = clock.now() + timeoutMs
  const lock = (all: readonly ManagedLedgerStore[]) =>
    lockAll(all, {timeoutMs: Math.max(0, until - clock.now()), clock, ...(signal ? {signal} : {})})
  for (let round = 0; ; round++) {
    const unlock = await lock([...stores.values()])
    const partners = new Map<string, ManagedLedgerStore>()
    try {
      const other = await others()
      const own = await Promise.all([...stores.values()].map(it => it.load()))
      const marks = marksIn([...own, ...other.ledgers]).filter(({stack, mark}) => stores.has(stack) || stores.has(mark.from.stack))
      const all = new Map([...other.stores, ...stores])
      const open = marks.filter(({stack, mark}) => all.has(stack) && all.has(mark.from.stack))
      for (const {stack, mark} of open)
        for (const name of [stack, mark.from.stack]) {
          const store = all.get(name)
          if (store !== undefined) partners.set(name, store)
        }
      if (open.length === 0 || round === ROUNDS) return unlock
    } catch (error) {
      await unlock()
      throw error
    }
    // Locks are taken in one order by everybody: those of the others cannot be added to these.
    await unlock()
    const unlockAll = await lock([...new Map([...stores, ...partners]).values()])
    try {
      finished(await finishTransfers(partners))
    } finally {
      await unlockAll()
    }
  }
}

/** What the command finished that it did not begin. */
export function sayArrived({log}: Pick<Host, 'log'>, arrived: readonly Arrived[]): void {
  for (const id of new Set(arrived.map(it => it.id))) {
    const count = arrived.filter(it => it.id === id).length
    log.warn(`transfer ${id} had not come to its end: ${count} object${count === 1 ? '' : 's'} now in the ledger it went to`)
  }
}
