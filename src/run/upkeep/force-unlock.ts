/** `svcctl force-unlock`: whose locks they are is looked at before anybody is asked, and nothing else is taken away then. */
import type {AuditEvent} from '../../audit/entry.ts'
import {LockIdError, type LockSeen, type ManagedLedgerStore} from '../../ledger/managed-store.ts'
import {audited} from '../audit/audit.ts'
import type {Host} from '../host/host.ts'

export interface SeenLock {
  readonly stack: string
  readonly store: ManagedLedgerStore
  /** Absent: nobody has it. */
  readonly lock?: LockSeen
}

/**
 * @param id - of the lock that is meant; a lock that says which it is has to be that one
 * @throws LockIdError
 */
export async function locksSeen(stores: ReadonlyMap<string, ManagedLedgerStore>, id: string | undefined): Promise<SeenLock[]> {
  const seen: SeenLock[] = []
  for (const [stack, store] of stores) {
    const lock = await store.lockSeen()
    if (lock === undefined) {
      seen.push({stack, store})
      continue
    }
    const isOther = lock.id !== undefined && id !== undefined && lock.id !== id
    if (isOther || (lock.needsId && id === undefined)) throw new LockIdError(stack, store.place, lock, id)
    // Of one that does not say which it is, the server knows.
    seen.push({stack, store, lock: lock.needsId && id !== undefined ? {...lock, id} : lock})
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
  for (const {stack, store, lock} of seen) {
    const forced = lock && (await audited(host, {stack, store}, unlockEvent(lock), () => store.forceUnlock(lock.id)))
    unlocked.push({stack, place: store.place, holder: forced === undefined || lock === undefined ? null : lock.holder})
  }
  return unlocked
}
