/**
 * One account's budget for all processes of this machine: the bucket lies in a file of the state folder, and whoever
 * needs tokens takes a lease of them under a lock that is held for less than a millisecond. A lease is what the rate
 * gives a process in a quarter of a second, so that a request more costs nothing but memory at high rates; at the usual
 * ones it is a single token. What is left of one is given back with the next exchange, and lost with its process. Nothing
 * is touched before the first request.
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
import {largest, smallest} from '../base/many.ts'
import {
  type HolderState,
  holderState,
  type LockHolder,
  type ProcessIdentity,
  processIdentityOf,
  removeOwn,
  tryProcessLock,
} from '../base/process-lock.ts'
import {type RandomBytes, randomHex} from '../base/random.ts'
import {
  type AccountBucket,
  available,
  corrected,
  type EndedRequest,
  effectivePerMinute,
  giveBack,
  newBucket,
  pause,
  type RateLimits,
  type Take,
  type TokenWish,
  take,
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
export const budgetFile = (stateDir: string, address: string, keyHash: string): string =>
  join(stateDir, 'budget', `${accountKey(address, keyHash)}.json`)

/** What files of an account are called by. */
export const accountKey = (address: string, keyHash: string): string =>
  createHash('sha256').update(`${address}\n${keyHash}`).digest('hex').slice(0, 24)

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
/** Answers are told to the others at the latest after this many, or after as many as two leases have. */
const UNTOLD = 8
/** What comes in this time is one lease. */
const LEASE_MS = 250
/** Older knowledge of the account, and of others, is none: what is left of a lease then goes back first. */
const LEASE_ENDS_MS = 1_000

/** Both ends count: a clock that was set back is in none. */
interface Span {
  readonly since: number
  readonly until: number
}
const NEVER: Span = {since: 0, until: 0}
const isIn = ({since, until}: Span, now: number): boolean => now >= since && now < until

type Change = (bucket: AccountBucket, limits: RateLimits) => AccountBucket

class SharedStore implements TokenStore {
  readonly #options: SharedBudgetOptions
  readonly #file: string
  /** What happened here and is not yet in the file. */
  #untold: Omit<EndedRequest, 'alone'>[] = []
  #pausedUntil = Number.NEGATIVE_INFINITY
  #inFlight = 0
  /** Tokens that were taken and not used yet. */
  #leased = 0
  #lease: Span = NEVER
  /** They may be of the reserve: whoever may not take from that gets none of them. */
  #ofReserve = false
  /** When the tokens of about one lease were used: whoever used them lately will want as many soon. */
  readonly #usedAt: number[] = []
  /** As long as this, another exchange would find nothing, or leave nothing to others. */
  #none: Span & {readonly interactive: boolean; readonly paused?: true} = {...NEVER, interactive: false}
  /** Others that had more to send than tokens when they were seen last, a moment ago. */
  #hungry = 0
  /** Whether we had. */
  #wants = false
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

  take(wish: TokenWish, now: number, waiting: number): ReturnType<TokenStore['take']> {
    const {interactive} = wish
    const isFor = interactive || !this.#ofReserve
    if (this.#leased > 0 && isFor && isIn(this.#lease, now) && now >= this.#pausedUntil)
      return this.#use(Math.min(wish.wanted, this.#leased), now)
    const largest = this.#largestLease
    const {until, paused} = this.#none
    // An answer may bring a token earlier: where a lease is one token, that is worth another look.
    if (isIn(this.#none, now) && this.#none.interactive === interactive && (largest > 1 || this.#untold.length === 0))
      return {granted: 0, waitMs: until - now, answered: this.#known.answered, ...(paused ? {paused} : {})}
    const asked = this.#hungry > 0 && largest > 1 ? Math.min(wish.wanted, largest) : wish.wanted
    const wanted = Math.max(asked, Math.min(largest, Math.max(waiting, this.#usedLately(now))))
    // In a line of many nobody gains by one token at a time: all wait for as many as they will use at once.
    const least = interactive || this.#hungry > 0 ? 1 : Math.min(largest, waiting)
    let none: Pick<Take, 'waitMs' | 'paused'> = {waitMs: 0}
    const done = this.#exchange(now, (bucket, limits) => {
      const taken = take(bucket, limits, now, {...wish, wanted, least})
      this.#leased = taken.granted
      this.#ofReserve = interactive && limits.reserve > 0
      this.#lease = {since: now, until: now + LEASE_ENDS_MS}
      this.#wants = waiting > taken.granted
      none = {waitMs: taken.waitMs, ...(taken.paused ? {paused: true} : {})}
      // With a lease it is known as well when the next one is worth asking for.
      const next = taken.granted > 0 && largest > 1 ? take(taken.bucket, limits, now, {...wish, wanted: least, least}) : taken
      const waitMs = next.granted === 0 && Number.isFinite(next.waitMs) ? next.waitMs : 0
      const isShort = available(taken.bucket, limits, now) < inLeaseTime(taken.bucket, limits)
      const turnMs = taken.granted > 0 && largest > 1 && isShort && this.#hungry > 0 && !interactive ? LEASE_MS : 0
      this.#none = {since: now, until: now + Math.max(waitMs, turnMs), interactive, ...(next.paused ? {paused: true} : {})}
      return taken.bucket
    })
    if (done) return {...this.#use(Math.min(wish.wanted, this.#leased), now), ...none}
    return this.#alone?.take(wish, now, waiting) ?? {granted: 0, waitMs: this.#pauseForLock(), answered: 0}
  }

  #use(granted: number, now: number): {readonly granted: number; readonly waitMs: 0; readonly answered: number} {
    this.#leased -= granted
    this.#inFlight += granted
    for (let i = 0; i < granted; i++) this.#usedAt.push(now)
    this.#usedAt.splice(0, this.#usedAt.length - this.#largestLease)
    // Those who were answered meanwhile are in no other one's way any more.
    return {granted, waitMs: 0, answered: this.#known.answered + this.#untold.length}
  }

  #usedLately(now: number): number {
    return this.#usedAt.filter(it => Math.abs(now - it) <= LEASE_MS).length
  }

  /** This process' share of what comes in the time of a lease, and never more than a part of what can be there at all. */
  get #largestLease(): number {
    const limits = this.#inForce
    return Math.max(1, Math.ceil(Math.min(inLeaseTime(this.#known, limits), limits.burst / 2) / (this.#hungry + 1) - 0.5))
  }

  ended(request: Omit<EndedRequest, 'alone'>, now: number): void {
    this.#inFlight -= 1
    if (this.#alone) this.#alone.ended(request, now)
    else this.#untold.push(request)
    // Not at once: the next lease tells the others anyway, and until then they are a little too careful.
    if (this.#untold.length >= Math.max(UNTOLD, 2 * this.#largestLease)) this.#exchange(now)
  }

  pause(ms: number, now: number): void {
    if (this.#alone) this.#alone.pause(ms, now)
    else {
      this.#pausedUntil = Math.max(this.#pausedUntil, now + ms)
      this.#none = {...NEVER, interactive: false}
      this.#exchange(now)
    }
  }

  view(now: number): ReturnType<TokenStore['view']> {
    if (this.#alone) return this.#alone.view(now)
    const limits = this.#inForce
    return {
      available: this.#leased + available(this.#known, limits, now),
      perMinute: effectivePerMinute(this.#known, limits),
      burst: limits.burst,
    }
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
    const others = read.state === 'read' ? read.shared.members.filter(member => member.id !== self.id && this.#lives(member, now)) : []
    const limits = lowest([own, ...others])
    const alone = others.length === 0
    const elsewhere = others.reduce((sum, {outstanding}) => sum + outstanding, 0)
    const found = read.state === 'read' ? read.shared.bucket : newBucket(limits, now)
    this.#hungry = others.filter(it => it.wants && Math.abs(now - it.seenAt) <= 2 * LEASE_MS).length
    // Counted anew each time, so that what a dead process had on its way is forgotten with it.
    let bucket: AccountBucket = {...giveBack(found, limits, this.#leased), outstanding: elsewhere + this.#inFlight + this.#untold.length}
    this.#leased = 0
    for (const request of this.#untold) bucket = corrected(bucket, limits, now, {...request, alone})
    if (this.#pausedUntil > now) bucket = pause(bucket, limits, now, this.#pausedUntil - now)
    if (change) bucket = change(bucket, limits)
    const us: Member = {...self, ...own, outstanding: bucket.outstanding - elsewhere, wants: this.#wants, seenAt: now}
    writeSharedBucket(this.#file, {bucket, members: leaving ? others : [...others, us]}, self.id)
    // Where it cannot be written either, this process spends alone, and says that.
    if (read.state === 'damaged') onEvent?.({type: 'budget-rebuilt', file: this.#file, because: read.because})
    this.#untold = []
    this.#pausedUntil = Number.NEGATIVE_INFINITY
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
      const identity = this.#options.process ?? processIdentityOf(hostname(), process.pid)
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
    const now = clock.now()
    const store = memoryStore(limits, clock, {...this.#known, outstanding: this.#inFlight})
    this.#alone = store
    // What a server asked for holds, whether or not others could be told.
    if (this.#pausedUntil > now) store.pause(this.#pausedUntil - now, now)
    this.#leased = 0
    this.#none = {...NEVER, interactive: false}
    onEvent?.({type: 'budget-alone', file: this.#file, because})
  }
}

const inLeaseTime = (bucket: AccountBucket, limits: RateLimits): number => (effectivePerMinute(bucket, limits) * LEASE_MS) / 60_000

/** Of processes with different limits the lowest hold while they run, and the largest reserve. */
function lowest(all: readonly RateLimits[]): RateLimits {
  return {
    perMinute: smallest(all.map(limits => limits.perMinute)),
    burst: smallest(all.map(limits => limits.burst)),
    reserve: largest(all.map(limits => limits.reserve)),
  }
}
