/** `svcctl force-unlock`: whose locks they are is looked at before anybody is asked, and nothing else is taken away then. */
import type {AuditEvent} from '../../audit/entry.ts'
import {LockIdError, type LockSeen, type ManagedLedgerStore} from '../../ledger/managed-store.ts'
import {audited} from '../audit/audit.ts'
import type {Host} from '../host/host.ts'

/** What has a lock. */
type Locked = Pick<ManagedLedgerStore, 'place' | 'lockSeen' | 'forceUnlock'>

export interface SeenLock {
  readonly stack: string
  readonly store: ManagedLedgerStore
  /** Whose lock it is: the ledger's, or that of the holds and freezes beside it. */
  readonly locked: Locked
  /** Absent: nobody has it. */
  readonly lock?: LockSeen
}

/**
 * @param id - of the lock that is meant; a lock that says which it is has to be that one
 * @param controls - beside the ledger of a stack: their lock is taken away by its id only, for whoever wants it takes it in time
 * @throws LockIdError
 */
export async function locksSeen(
  stores: ReadonlyMap<string, ManagedLedgerStore>,
  id: string | undefined,
  controls: (stack: string) => Locked | undefined,
): Promise<SeenLock[]> {
  const seen: SeenLock[] = []
  for (const [stack, store] of stores) {
    const lock = await store.lockSeen()
    const isOther = lock?.id !== undefined && id !== undefined && lock.id !== id
    if (id !== undefined && (lock === undefined || isOther)) {
      const beside = controls(stack)
      const its = await beside?.lockSeen()
      if (beside !== undefined && its !== undefined && (its.id ?? id) === id) {
        seen.push({stack, store, locked: beside, lock: {...its, id}})
        continue
      }
    }
    if (lock === undefined) {
      seen.push({stack, store, locked: store})
      continue
    }
    if (isOther || (lock.needsId && id === undefined)) throw new LockIdError(stack, store.place, lock, id)
    // Of one that does not say which it is, the server knows.
    seen.push({stack, store, locked: store, lock: lock.needsId && id !== undefined ? {...lock, id} : lock})
  }
  return seen
}

export interface Unlocked {
  readonly stack: string
  readonly place: string
  /** `null`: it was not locked. */
  readonly holder: string | null
}

const unlockEvent = ({id, holder}: LockSeen): AuditEvent => ({
  event: 'force-unlock',
  state: 'done',
  // Who holds a lock of a state server is told with its id.
  reason: `held by ${holder}${id === undefined || holder.includes(id) ? '' : `, lock ${id}`}`,
})

/** A lock that has passed to somebody else since it was looked at stays. @throws LockIdError, AuditWriteError */
export async function unlockAll(host: Host, seen: readonly SeenLock[]): Promise<Unlocked[]> {
  const unlocked: Unlocked[] = []
  for (const {stack, store, locked, lock} of seen) {
    const forced = lock && (await audited(host, {stack, store}, unlockEvent(lock), () => locked.forceUnlock(lock.id)))
    unlocked.push({stack, place: locked.place, holder: forced === undefined || lock === undefined ? null : lock.holder})
  }
  return unlocked
}
