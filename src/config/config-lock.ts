/**
 * One edit of the configuration file at a time. The lock is a file beside it, for that is what all who edit it share.
 * An edit takes milliseconds: a lock whose holder cannot be asked (it runs in another container, or on another host that
 * shares the home folder) and that does not change hands for seconds is left over, and taken.
 */
import {removeLeftovers} from '../base/atomic-file.ts'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {
  type HolderState,
  type LockHolder,
  type ProcessIdentity,
  type ProcessLock,
  readLockHolder,
  tryProcessLock,
} from '../base/process-lock.ts'
import {type RandomBytes, randomHex} from '../base/random.ts'
import {shellWord} from '../base/shell-word.ts'
import {waitFor} from '../base/wait-for.ts'
import {ConfigAccessError, placeOf} from './config-file.ts'

/** The configuration file, and who edits it. */
export interface ConfigPlace {
  readonly file: string
  readonly clock: Clock
  readonly random: RandomBytes
  /** This process, and how it sees another one: `identityOf`, `holderState` of `base/process-lock.ts`. */
  readonly process: ProcessIdentity
  readonly stateOf: (holder: LockHolder) => HolderState
}

/** Another edit does not come to its end, or took our place. Nothing was written. */
export class ConfigLockedError extends AppError {
  constructor(file: string, holder: LockHolder | undefined) {
    const lock = `${file}.lock`
    const who = holder === undefined ? `${lock} cannot be read` : `process ${holder.pid} on ${holder.host}, since ${holder.since}`
    super(`${file} was not changed: another process is editing it (${who})`, {
      code: 'E_CONFIG_LOCKED',
      exit: EXIT.locked,
      suggestions: ['Run the command again when that process has ended.', `If it is gone for good: rm ${shellWord(lock)}`],
    })
  }
}

const PATIENCE_MS = 10_000
const ABANDONED_MS = 5_000

/**
 * Waits for the lock, then works under it.
 * @param work - is handed what tells, right before something is written, that the lock is still ours
 * @throws ConfigLockedError, ConfigAccessError
 */
export async function withConfigLock<T>(place: ConfigPlace, work: (assertHeld: () => void) => T): Promise<T> {
  const {target, lock} = await taken(place)
  try {
    removeLeftovers(target)
    return work(() => {
      const holder = readLockHolder(lockOf(target))
      if (typeof holder === 'string' || holder.id !== lock.holder.id) {
        throw new ConfigLockedError(target, typeof holder === 'string' ? undefined : holder)
      }
    })
  } finally {
    lock.release()
  }
}

const lockOf = (target: string): string => `${target}.lock`

async function taken({file, clock, random, process, stateOf}: ConfigPlace): Promise<{readonly target: string; readonly lock: ProcessLock}> {
  const mine: LockHolder = {...process, id: randomHex(random, 8), who: 'configuration', since: new Date(clock.now()).toISOString()}
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
        const attempt = tryProcessLock(lockOf(target), mine, stateNow)
        if (attempt.held) return {target, lock: attempt.lock}
        holder = attempt.holder
        return undefined
      },
      {clock, everyMs: () => pauseMs(random), timeoutMs: PATIENCE_MS},
    )
  } catch (error) {
    throw new ConfigAccessError(file, 'written', error)
  }
  if (found === undefined) throw new ConfigLockedError(file, holder)
  return found
}

/** A few milliseconds, and not the same for all who wait. */
const pauseMs = (random: RandomBytes): number => 2 + ((random(1)[0] ?? 0) % 16)
