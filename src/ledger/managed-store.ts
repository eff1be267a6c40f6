/** What every kind of ledger store can do beyond the engine's `LedgerStore`, and what several of them need together. */
import type {Clock} from '../base/clock.ts'
import {formatDuration} from '../base/duration.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {shellWord} from '../base/shell-word.ts'
import type {LedgerStore, Unlock} from '../engine/model/ledger.ts'
import {LedgerStillLockedError} from './errors.ts'

export interface ManagedLedgerStore extends LedgerStore {
  /** Equal for equal places, whatever way they were named; see `stateKeyOf`. */
  readonly key: string
  /** It is behind an address: it outlives the disk of whoever writes it, and others write it too. */
  readonly isRemote: boolean
  /** Equal for ledgers that have one lock together; absent where the lock is the ledger's own. */
  readonly lockKey?: string
  /** Who has the lock now; `undefined` when nobody has. */
  lockSeen(): Promise<LockSeen | undefined>
  /**
   * Takes the lock away from whoever has it.
   *
   * @param lockId - as E_LOCKED named it. A file can be unlocked without; a state server needs it
   * @returns who held it, in words, or `undefined` when nobody did
   * @throws LockIdError when another lock is there, or the id is needed
   */
  forceUnlock(lockId?: string): Promise<string | undefined>
}

/** How whoever changes what stands behind locks is stopped. */
export interface ChangeStop {
  /** Ends the wait for a lock; once the first one is taken it is not asked any more. */
  readonly signal: AbortSignal
  /** A lock is taken. */
  readonly begun: () => void
}

export interface LockSeen {
  /** Absent where what is there says none. */
  readonly id?: string
  /** `pid 4711 on build-7 since …` */
  readonly holder: string
  /** Its process still runs, as far as can be seen from here. */
  readonly isAlive: boolean
  /** It is freed only by who names its id. */
  readonly needsId: boolean
}

/** Says something to the person, once, beside the result. */
export type Notice = (message: string) => void

/** Nobody wonders why nothing happens. */
export function sayWaiting(notice: Notice, place: string, holder: string, timeoutMs: number): void {
  if (timeoutMs > 0) notice(`Waiting up to ${formatDuration(timeoutMs)} for the lock on ${place}, which is held by ${holder}.`)
}

/** How long to wait between two looks at a lock that somebody holds: 0.1, 0.2, 0.4 … at most 2 s. */
export const lockPauseMs = (looks: number): number => Math.min(100 * 2 ** (looks - 1), 2_000)

/** The lock that was to be forced is not the one that is there, or it was not said which one is meant. */
export class LockIdError extends AppError {
  constructor(stack: string, place: string, {id, holder}: Pick<LockSeen, 'id' | 'holder'>, asked?: string) {
    super(
      asked === undefined
        ? `The lock on ${place} can only be forced by its id; it is held by ${holder}.`
        : `The lock on ${place} is ${id ?? 'another one'}, held by ${holder}, not ${asked}.`,
      {
        code: 'E_LOCK_ID',
        exit: EXIT.usage,
        suggestions: [`If that run is gone for good: svcctl force-unlock --stack ${shellWord(stack)} ${shellWord(id ?? 'ID')}`],
      },
    )
  }
}

/** Whoever takes it for one of them finds it held by itself for the other one. */
export class SharedLockError extends AppError {
  constructor(one: string, other: string) {
    super(`The ledgers ${one} and ${other} would take one and the same lock.`, {
      code: 'E_LOCK_SHARED',
      exit: EXIT.usage,
      suggestions: [
        'Give the backend of each stack a lock_address and an unlock_address of its own: TF_HTTP_LOCK_ADDRESS holds for all that have none.',
      ],
    })
  }
}

/** Several locks could not be given back. */
export class StillLockedError extends AppError {
  readonly lockIds: readonly string[]

  constructor(failures: readonly AppError[]) {
    super(failures.map(it => it.message).join(' '), {
      code: 'E_STILL_LOCKED',
      suggestions: [...new Set(failures.flatMap(it => it.suggestions))],
      cause: failures[0],
    })
    this.lockIds = failures.flatMap(it => (it instanceof LedgerStillLockedError ? it.lockIds : []))
  }
}

/**
 * Takes the locks of several stacks, always in the same order, so that two runs cannot wait for each other in a ring.
 * When one cannot be had, those taken so far are given back.
 *
 * @param timeoutMs - for all of them together
 * @param stillLocked - hears of one that cannot be given back either
 */
export async function lockAll(
  stores: readonly ManagedLedgerStore[],
  {
    timeoutMs,
    clock,
    signal,
    stillLocked,
  }: {readonly timeoutMs: number; readonly clock: Clock; readonly signal?: AbortSignal; readonly stillLocked?: (error: unknown) => void},
): Promise<Unlock> {
  const ordered = [...new Map(stores.map(store => [store.key, store])).values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  const locks = new Map<string, string>()
  for (const {lockKey, place} of ordered) {
    const other = lockKey === undefined ? undefined : locks.get(lockKey)
    if (other !== undefined) throw new SharedLockError(other, place)
    if (lockKey !== undefined) locks.set(lockKey, place)
  }
  const until = clock.now() + timeoutMs
  const held: Unlock[] = []
  // One that cannot be given back keeps none of the others.
  const unlockAll = async () => {
    const failures: unknown[] = []
    for (let unlock = held.pop(); unlock !== undefined; unlock = held.pop()) await unlock().catch(error => void failures.push(error))
    const known = failures.filter(it => it instanceof AppError)
    if (known.length > 1 && known.length === failures.length) throw new StillLockedError(known)
    if (failures.length > 0) throw failures[0]
  }
  const lockEach = async () => {
    for (const store of ordered) held.push(await store.lock(Math.max(0, until - clock.now()), signal))
    return unlockAll
  }
  return afterFailure(unlockAll, lockEach, stillLocked)
}

/** Gives the locks back where `work` fails. What it failed of is what is said, whatever becomes of the locks. */
export async function afterFailure<T>(
  unlock: Unlock,
  work: () => Promise<T>,
  unlockFailed: (error: unknown) => void = () => {},
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await unlock().catch(unlockFailed)
    throw error
  }
}
