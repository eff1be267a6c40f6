/**
 * One account's budget for all processes of this machine: the bucket lies in a file of the state folder, and whoever
 * needs tokens takes a batch under a lock that is held for less than a millisecond. Nothing is touched before the
 * first request.
 *
 * Where the file cannot be locked this process counts for itself, and says so: that is worse than sharing and better
 * than not working.
 */
import {createHash} from 'node:crypto'
import {rmSync, statSync} from 'node:fs'
import {hostname} from 'node:os'
import {join} from 'node:path'
import type {Clock} from '../base/clock.ts'
import {makeFolder} from '../base/make-folder.ts'
import {
  type HolderState,
  holderState,
  identityOf,
  type LockHolder,
  type ProcessIdentity,
  removeOwn,
  tryProcessLock,
} from '../base/process-lock.ts'
import {type RandomBytes, randomHex} from '../base/random.ts'
import {
  type AccountBucket,
  available,
  effectivePerMinute,
  newBucket,
  pause,
  type RateLimits,
  type Settlement,
  settle,
  take,
  type Wish,
} from './account-bucket.ts'
import {type Budget, type BudgetWait, checkLimits, createBudget, memoryStore, type TokenStore} from './budget.ts'
import {type Member, readSharedBucket, writeSharedBucket} from './shared-bucket-file.ts'
import type {OnTransportEvent} from './transport-event.ts'

export interface SharedBudgetOptions {
  /** SVC_STATE_DIR or its default; made when it is not there. */
  readonly stateDir: string
  /** The API's base address. */
  readonly address: string
  /** A hash of the key id or user name: one account, one budget. */
  readonly keyHash: string
  readonly limits: RateLimits
  readonly clock: Clock
  readonly random: RandomBytes
  readonly maxInFlight?: number
  readonly onEvent?: OnTransportEvent
  /** This process, and how it sees others; the real system unless told. */
  readonly process?: ProcessIdentity
  readonly stateOf?: (holder: LockHolder) => HolderState
}

/** Where the budget of an account is kept. */
export function budgetFile(stateDir: string, address: string, keyHash: string): string {
  const account = createHash('sha256').update(`${address}\n${keyHash}`).digest('hex').slice(0, 24)
  return join(stateDir, 'budget', `${account}.json`)
}

/** A budget without a limit of our own is not shared: there is nothing to divide. */
export function createSharedBudget(options: SharedBudgetOptions): Budget {
  const {limits, clock, maxInFlight} = options
  checkLimits(limits)
  const inFlight = maxInFlight === undefined ? {} : {maxInFlight}
  if (!Number.isFinite(limits.perMinute) || !Number.isFinite(limits.burst)) return createBudget({limits, clock, ...inFlight})
  const file = budgetFile(options.stateDir, options.address, options.keyHash)
  const onWait = (wait: BudgetWait) => options.onEvent?.({type: 'waiting', ...wait, file})
  return createBudget({limits, clock, ...inFlight, store: new SharedStore(options), onWait})
}

/** Longer than any exchange takes, however slow the disk. */
const PATIENCE_MS = 2_000
/** A lock this old was left by a machine that is gone. */
const ABANDONED_MS = 60_000
/** How long a process of another host counts as running after its last sign. */
const UNSEEN_MS = 120_000
/** Answers are told to the others at the latest after this many. */
const UNTOLD = 8

type Change = (bucket: AccountBucket, limits: RateLimits) => AccountBucket

class SharedStore implements TokenStore {
  readonly #options: SharedBudgetOptions
  readonly #file: string
  /** What happened here and is not yet in the file. */
  #untold: Omit<Settlement, 'alone'>[] = []
  #pausedUntil = 0
  #inFlight = 0
  /** As last read or written. */
  #known: AccountBucket
  #inForce: RateLimits
  #self: LockHolder | undefined
  #blockedSince: number | undefined
  #alone: TokenStore | undefined

  constructor(options: SharedBudgetOptions) {
    this.#options = options
    this.#file = budgetFile(options.stateDir, options.address, options.keyHash)
    this.#known = newBucket(options.limits, options.clock.now())
    this.#inForce = options.limits
  }

  take(wish: Wish, now: number): ReturnType<TokenStore['take']> {
    let granted = 0
    let waitMs = 0
    let paused = {}
    const done = this.#exchange(now, (bucket, limits) => {
      const taken = take(bucket, limits, now, wish)
      granted = taken.granted
      waitMs = taken.waitMs
      paused = taken.paused ? {paused: true} : {}
      return taken.bucket
    })
    if (done) {
      this.#inFlight += granted
      return {granted, waitMs, ...paused, answered: this.#known.answered}
    }
    return this.#alone?.take(wish, now) ?? {granted: 0, waitMs: this.#pauseForLock(), answered: 0}
  }

  settle(settled: Omit<Settlement, 'alone'>, now: number): void {
    this.#inFlight -= 1
    if (this.#alone) this.#alone.settle(settled, now)
    else this.#untold.push(settled)
    // Not at once: the next take tells the others anyway, and until then they are a little too careful.
    if (this.#untold.length >= UNTOLD) this.#exchange(now)
  }

  pause(ms: number, now: number): void {
    if (this.#alone) this.#alone.pause(ms, now)
    else {
      this.#pausedUntil = Math.max(this.#pausedUntil, now + ms)
      this.#exchange(now)
    }
  }

  view(now: number): ReturnType<TokenStore['view']> {
    if (this.#alone) return this.#alone.view(now)
    const limits = this.#inForce
    return {available: available(this.#known, limits, now), perMinute: effectivePerMinute(this.#known, limits), burst: limits.burst}
  }

  close(now: number): void {
    // Who never began is not in the file.
    if (this.#self !== undefined) this.#exchange(now, undefined, true)
  }

  /** Reads, changes and writes the file under its lock; `false` when somebody else has the lock, or we are alone now. */
  #exchange(now: number, change?: Change, leaving = false): boolean {
    if (this.#alone) return false
    try {
      const self = this.#identify(now)
      const attempt = tryProcessLock(`${this.#file}.lock`, {...self, id: randomHex(this.#options.random, 8)}, this.#stateOf)
      if (!attempt.held) {
        this.#blocked(attempt.holder, now)
        return false
      }
      this.#blockedSince = undefined
      try {
        this.#rewrite(self, now, change, leaving)
      } finally {
        attempt.lock.release()
      }
      return true
    } catch (error) {
      this.#goAlone(error instanceof Error ? error.message : String(error))
      return false
    }
  }

  #rewrite(self: LockHolder, now: number, change: Change | undefined, leaving: boolean): void {
    const {limits: own, onEvent} = this.#options
    const read = readSharedBucket(this.#file)
    if (read.state === 'damaged') onEvent?.({type: 'budget-rebuilt', file: this.#file, because: read.because})
    const others = read.state === 'read' ? read.shared.members.filter(member => member.id !== self.id && this.#lives(member, now)) : []
    const limits = lowest([own, ...others])
    const alone = others.length === 0
    const elsewhere = others.reduce((sum, {outstanding}) => sum + outstanding, 0)
    const found = read.state === 'read' ? read.shared.bucket : newBucket(limits, now)
    // Counted anew each time, so that what a dead process had on its way is forgotten with it.
    let bucket: AccountBucket = {...found, outstanding: elsewhere + this.#inFlight + this.#untold.length}
    for (const settled of this.#untold) bucket = settle(bucket, limits, now, {...settled, alone})
    if (this.#pausedUntil > now) bucket = pause(bucket, limits, now, this.#pausedUntil - now)
    if (change) bucket = change(bucket, limits)
    const us: Member = {...self, ...own, outstanding: bucket.outstanding - elsewhere, seenAt: now}
    writeSharedBucket(this.#file, {bucket, members: leaving ? others : [...others, us]}, self.id)
    this.#untold = []
    this.#pausedUntil = 0
    this.#known = bucket
    this.#inForce = limits
  }

  #lives(member: Member, now: number): boolean {
    const state = this.#stateOf(member)
    return state === 'alive' || (state === 'elsewhere' && Math.abs(now - member.seenAt) < UNSEEN_MS)
  }

  #identify(now: number): LockHolder {
    if (this.#self === undefined) {
      makeFolder(join(this.#options.stateDir, 'budget'), 0o700)
      const identity = this.#options.process ?? identityOf(hostname(), process.pid)
      this.#self = {...identity, id: randomHex(this.#options.random, 8), who: 'budget', since: ''}
    }
    return {...this.#self, since: new Date(now).toISOString()}
  }

  readonly #stateOf = (holder: LockHolder): HolderState =>
    this.#options.stateOf ? this.#options.stateOf(holder) : holderState(holder, this.#self?.host ?? hostname())

  /** Somebody else has the lock. Normally that is over in a moment. */
  #blocked(holder: LockHolder | undefined, now: number): void {
    this.#blockedSince ??= now
    const lock = `${this.#file}.lock`
    if (holder !== undefined && now - Date.parse(holder.since) > ABANDONED_MS) removeOwn(lock, holder.id)
    else if (holder === undefined && now - (statSync(lock, {throwIfNoEntry: false})?.mtimeMs ?? now) > ABANDONED_MS)
      rmSync(lock, {force: true})
    else if (now - this.#blockedSince > PATIENCE_MS)
      this.#goAlone(`it stayed locked${holder === undefined ? '' : ` by process ${holder.pid} on ${holder.host}`}`)
  }

  /** A few milliseconds, and not the same for all who wait. */
  #pauseForLock(): number {
    return 2 + ((this.#options.random(1)[0] ?? 0) % 8)
  }

  #goAlone(because: string): void {
    const {limits, clock, onEvent} = this.#options
    if (this.#alone) return
    const store = memoryStore(limits, clock, {...this.#known, outstanding: this.#inFlight})
    this.#alone = store
    onEvent?.({type: 'budget-alone', file: this.#file, because})
  }
}

/** Of processes with different limits the lowest hold while they run, and the largest reserve. */
function lowest(all: readonly RateLimits[]): RateLimits {
  return {
    perMinute: Math.min(...all.map(limits => limits.perMinute)),
    burst: Math.min(...all.map(limits => limits.burst)),
    reserve: Math.max(...all.map(limits => limits.reserve)),
  }
}
