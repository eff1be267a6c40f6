/**
 * One edit of a file at a time. The lock is a file beside it, for that is what all who edit it share. An edit takes
 * milliseconds: a lock whose holder cannot be asked (it runs in another container, or on another host that shares the
 * folder) and that does not change hands for seconds is left over, and taken.
 */
import {removeLeftovers} from './atomic-file.ts'
import type {Clock} from './clock.ts'
import type {AppError} from './errors.ts'
import {type HolderState, type LockHolder, type ProcessIdentity, type ProcessLock, readLockHolder, tryProcessLock} from './process-lock.ts'
import {type RandomBytes, randomHex} from './random.ts'
import {waitFor} from './wait-for.ts'

/** A file, and who edits it. */
export interface EditedFile {
  readonly file: string
  readonly clock: Clock
  readonly random: RandomBytes
  /** This process, and how it sees another one: `processIdentityOf`, `holderState` of `base/process-lock.ts`. */
  readonly process: ProcessIdentity
  readonly stateOf: (holder: LockHolder) => HolderState
}

export interface EditLockWords {
  /** Of the holder, for whoever reads the lock: `configuration`. */
  readonly who: string
  /** Where the file really lies, with a folder to be written to. */
  readonly placeOf: (file: string) => string
  /** Another edit does not come to its end, or took our place. */
  readonly locked: (file: string, holder: LockHolder | undefined) => AppError
  /** The lock could not be written. */
  readonly unwritable: (file: string, cause: unknown) => AppError
}

const PATIENCE_MS = 10_000
const ABANDONED_MS = 5_000

/**
 * Waits for the lock, then works under it.
 * @param work - is handed the place to write to, and what tells, right before something is written, that the lock is still ours
 * @throws what `words` say
 */
export async function withEditLock<T>(
  edited: EditedFile,
  words: EditLockWords,
  work: (target: string, assertHeld: () => void) => T,
): Promise<T> {
  const {target, lock} = await taken(edited, words)
  try {
    removeLeftovers(target)
    return work(target, () => {
      const holder = readLockHolder(editLockOf(target))
      if (typeof holder === 'string' || holder.id !== lock.holder.id)
        throw words.locked(target, typeof holder === 'string' ? undefined : holder)
    })
  } finally {
    lock.release()
  }
}

export const editLockOf = (target: string): string => `${target}.lock`

async function taken(
  {file, clock, random, process, stateOf}: EditedFile,
  {who, placeOf, locked, unwritable}: EditLockWords,
): Promise<{readonly target: string; readonly lock: ProcessLock}> {
  const mine: LockHolder = {...process, id: randomHex(random, 8), who, since: new Date(clock.now()).toISOString()}
  const seen = new Map<string, number>()
  const stateNow = (holder: LockHolder): HolderState => {
    const state = stateOf(holder)
    if (state !== 'elsewhere') return state
    const since = seen.get(holder.id) ?? clock.now()
    seen.set(holder.id, since)
    return clock.now() - since >= ABANDONED_MS ? 'dead' : state
  }
  let holder: LockHolder | undefined
  let found: {readonly target: string; readonly lock: ProcessLock} | undefined
  try {
    found = await waitFor(
      async () => {
        const target = placeOf(file)
        const attempt = tryProcessLock(editLockOf(target), mine, stateNow)
        if (attempt.held) return {target, lock: attempt.lock}
        holder = attempt.holder
        return undefined
      },
      {clock, everyMs: () => pauseMs(random), timeoutMs: PATIENCE_MS},
    )
  } catch (error) {
    throw unwritable(file, error)
  }
  if (found === undefined) throw locked(file, holder)
  return found
}

/** A few milliseconds, and not the same for all who wait. */
const pauseMs = (random: RandomBytes): number => 2 + ((random(1)[0] ?? 0) % 16)
