/**
 * A ledger behind Terraform's HTTP state protocol: GET reads, POST (or PUT) with `?ID=<lock>` writes, LOCK and UNLOCK
 * carry the lock's description. GitLab and many small servers speak it; `terraform` reads the same address.
 *
 * Good servers refuse a write under a lock that is not the current one, and many take it where there is no lock: whether
 * the lock is still ours is asked before each (`http-fence.ts`). Before a write that no lock protects, or of a ledger read
 * before the lock was taken, what the server has is compared first: by its content, since whoever writes past the lock
 * counts on from the same serial as this run.
 */

import {type Clock, cutBy} from '../base/clock.ts'
import {AppError} from '../base/errors.ts'
import type {JsonObject} from '../base/json.ts'
import {type RandomBytes, randomUuid} from '../base/random.ts'
import {shellWord} from '../base/shell-word.ts'
import {lockGone} from '../base/standing-locks.ts'
import {type Tried, tryAgain} from '../base/try-again.ts'
import {waitFor} from '../base/wait-for.ts'
import type {Ledger, LedgerVersion, Unlock} from '../engine/model/ledger.ts'
import type {HttpResponse, Transport} from '../transport/http.ts'
import {askLock} from './ask-lock.ts'
import {LedgerAccessError, LedgerLockedError, LedgerLockLostError, type LedgerPlace, LedgerStillLockedError, type OwnApp} from './errors.ts'
import {httpKeyOf, shownAddress} from './http-address.ts'
import {isRefusedAccess, isYes, type ReadState, StateAnswers, serverWords} from './http-answers.ts'
import type {HttpBackend} from './http-backend.ts'
import {describeLock, filledText, HttpFence, isLocked, lockIdOf, lockInfoIn, PROMPT_MS} from './http-fence.ts'
import {isAt, isVersionOf, type KnownVersion} from './known-version.ts'
import {LockIdError, type LockSeen, lockPauseMs, type ManagedLedgerStore, type Notice, sayWaiting} from './managed-store.ts'
import {assertVersion, changedError, nextVersion} from './next-version.ts'
import {type SendState, stateRequests} from './state-requests.ts'
import {encodeLedger} from './tfstate.ts'

export interface HttpStoreOptions {
  readonly backend: HttpBackend
  readonly stack: string
  /** Already verifying certificates or not, as the backend asks. */
  readonly transport: Transport
  /** `user@host`, for whoever waits. */
  readonly who: string
  /** Of this program, for whoever waits. */
  readonly version: string
  readonly clock: Clock
  readonly random: RandomBytes
  readonly notice: Notice
  /** Hears of each pause before another try. */
  readonly onWait: Notice
  readonly app?: OwnApp
  /** What lifts a lock that stays behind; of a ledger unless told. */
  readonly freeing?: (id: string) => string
}

/** `id` is absent where the server has no locks. */
interface HeldLock {
  readonly id?: string
  readonly fence?: HttpFence
  /** Whether the ledger was read after the lock was taken. */
  isFresh: boolean
  /** Whether this run has sent a write under it. */
  hasWritten: boolean
}

const MOST_LATE = 4

export class HttpLedgerStore implements ManagedLedgerStore {
  readonly place: string
  readonly key: string
  readonly isRemote = true
  readonly lockKey?: string
  readonly #options: HttpStoreOptions
  readonly #where: LedgerPlace
  readonly #send: SendState
  readonly #answers: StateAnswers
  #known: KnownVersion | undefined
  #held: HeldLock | undefined
  /** A write of this run without an answer: the server may have it. */
  #tried: KnownVersion | undefined
  /** Such writes before the last one, under one lock: a server that is slow may take them later. */
  #late: readonly KnownVersion[] = []

  constructor(options: HttpStoreOptions) {
    const {backend, stack, transport, clock, onWait, app} = options
    this.#options = options
    this.place = shownAddress(backend.address)
    this.key = httpKeyOf(backend.address)
    if (backend.lockAddress !== undefined) this.lockKey = `${backend.lockMethod} ${httpKeyOf(backend.lockAddress)}`
    this.#where = {
      place: this.place,
      stack,
      setAside: `Where it stays so: keep a copy of the state at ${this.place} and delete it there (the server's interface, or an HTTP DELETE)`,
      ...(app && {app}),
    }
    this.#send = stateRequests(backend, transport, clock, onWait)
    this.#answers = new StateAnswers(backend, this.#where, this.#send)
  }

  async load(): Promise<Ledger> {
    const found = await this.#read()
    // What this run wrote under its lock is not made good by what somebody else has put in its place.
    if (this.#held?.hasWritten && ![this.#known, this.#tried].some(it => isAt(found, it)))
      throw changedError(this.#where, this.#known ?? found.ledger, found.ledger)
    this.#tried = undefined
    this.#isKnown(found)
    return found.ledger
  }

  #isKnown({content, ledger: {serial, lineage}}: ReadState): void {
    this.#known = {serial, lineage, content: this.#held && content}
    if (this.#held) this.#held.isFresh = true
  }

  /** What the server has now. A copy that lags behind is asked again; what it says is no reason to go on, nor for a word about others. */
  #read(): Promise<ReadState> {
    const {backend, clock} = this.#options
    const once = async (attempt: number): Promise<Tried<ReadState>> => {
      const found = await this.#answers.read()
      if (!this.#isOlder(found.ledger)) return {done: found}
      if (attempt > backend.retryMax) throw this.#olderError(found.ledger)
      return {waitMs: backend.retryWaitMinMs}
    }
    return tryAgain(once, {clock})
  }

  /** Under its lock nobody else writes: what is older than what this run has seen, then or before, comes from a copy that lags behind. */
  #isOlder({serial, lineage, condition}: Ledger): boolean {
    const known = this.#held ? this.#known : undefined
    return known !== undefined && serial < known.serial && (condition === 'absent' || lineage === known.lineage)
  }

  #olderError({serial}: Ledger): LedgerAccessError {
    return new LedgerAccessError('read', this.#where, `the server answers serial ${serial}, and had ${this.#known?.serial ?? 0} before`, [
      'What it was given it does not give back: wait until its copies agree, or look at the server. Then run the command again.',
    ])
  }

  /** Hand the answer to the next `save`: it has the serial of what the server holds now. */
  async save(ledger: Ledger): Promise<Ledger> {
    const {backend, random, clock} = this.#options
    const held = this.#held
    if (held === undefined) throw new Error(`the ledger ${this.place} is saved without its lock`)
    await held.fence?.assertHeld()
    const lookedAt = clock.now()
    const isUnsure = held.id === undefined || !held.isFresh || this.#tried !== undefined
    const before = isUnsure ? await this.#compared(ledger) : ledger
    const saved = nextVersion(before, this.#known, this.#where, random)
    const content = encodeLedger(saved)
    const url = new URL(backend.address)
    if (held.id !== undefined) url.searchParams.set('ID', held.id)
    const version = {serial: saved.serial, lineage: saved.lineage, content}
    const again = () => this.#assertStill(held, before)
    // A large one takes a while to be written down, and the process may have stood still.
    if (clock.now() - lookedAt > PROMPT_MS) await again()
    if (this.#tried) this.#late = [...this.#late, this.#tried].slice(-MOST_LATE)
    this.#tried = version
    held.hasWritten = true
    const answer = await this.#send({method: backend.updateMethod, url: url.href, body: content, again})
    if (!isYes(answer)) await this.#assertTaken(held, answer, before)
    this.#known = version
    this.#tried = undefined
    return saved
  }

  async assertKept(): Promise<void> {
    if (this.#held?.hasWritten) await this.#read()
  }

  /**
   * Compares with what the server has right now.
   * @returns what is made from it: servers that keep count take no serial twice, and what arrived without an answer is one
   */
  async #compared(ledger: Ledger): Promise<Ledger> {
    const found = await this.#read()
    const {serial, lineage} = found.ledger
    const hasArrived = isAt(found, this.#tried)
    if (!hasArrived) this.#assertUnwritten(found, ledger)
    this.#isKnown(found)
    return hasArrived && ledger.serial + 1 === serial ? {...ledger, serial, lineage} : ledger
  }

  /** A try that comes after a pause is a write of its own: meanwhile the lock may have been forced, and the ledger written. */
  async #assertStill(held: HeldLock, before: LedgerVersion): Promise<void> {
    await held.fence?.assertHeld()
    this.#assertUnwritten(await this.#read(), before)
  }

  /** @throws LedgerChangedError where it is neither what this run knows nor what it may have written */
  #assertUnwritten(found: ReadState, expected: LedgerVersion): void {
    if (isAt(found, this.#tried)) return
    assertVersion(expected, found.ledger, this.#where)
    if (this.#known && isVersionOf(found, this.#known) && !this.#isOwn(found)) throw changedError(this.#where, expected, found.ledger)
  }

  /** @param known - what this run knew when it asked: it may have written since */
  #isOwn(found: ReadState, known = this.#known): boolean {
    return known === undefined || [known, this.#known, this.#tried, ...this.#late].some(it => isAt(found, it))
  }

  /**
   * What says no may be about a try whose own answer got lost, and what says yes may be a login: what the server has now
   * decides.
   */
  async #assertTaken(held: HeldLock, answer: HttpResponse, before: LedgerVersion): Promise<void> {
    const found = isRefusedAccess(answer) ? undefined : await this.#read().catch(passing)
    if (found !== undefined && isAt(found, this.#tried)) return
    if (isLocked(answer)) {
      const info = lockInfoIn(answer)
      const holder = filledText(info?.ID)
      if (holder !== undefined && holder !== held.id) throw new LedgerLockLostError(this.#where, `it is held by ${describeLock(info)}`)
    }
    // Servers that keep count have many words for it.
    if (found !== undefined) this.#assertUnwritten(found, before)
    // It may say so of anything that is under way there: whose the lock is is asked, and a write that was refused can be tried again.
    if (isLocked(answer)) await held.fence?.assertHeld()
    this.#answers.expectSuccess('write', answer)
  }

  async lock(timeoutMs: number, signal?: AbortSignal): Promise<Unlock> {
    const {backend, clock, notice, stack} = this.#options
    const {lockAddress, lockMethod} = backend
    if (lockAddress === undefined) {
      notice(`The ledger of stack "${stack}" at ${this.place} has no lock (lock_address is not set): two runs at once may undo each other.`)
      return this.#hold({isFresh: false, hasWritten: false}, async () => {})
    }
    const started = clock.now()
    const {id, body} = this.#newLock('svcctl apply')
    let holder: JsonObject | undefined
    let isUnheard = false
    /** A question that was not answered may have taken it, and the server does not say who has it. */
    let mayBeOurs = false
    const look = async (): Promise<true | undefined> => {
      isUnheard = true
      const request = {method: lockMethod, url: lockAddress, body}
      const answer = await askLock(this.#send, {id, words: this.#standingWords(id), request}, signal)
      isUnheard = false
      if (!isLocked(answer)) {
        this.#answers.expectSuccess('lock', answer)
        return true
      }
      const isFirst = holder === undefined
      holder = lockInfoIn(answer) ?? {}
      // A try whose answer got lost may have taken it.
      if (holder.ID === id) return true
      if (isFirst) mayBeOurs = answer.isRepeat && filledText(holder.ID) === undefined
      if (isFirst) sayWaiting(notice, this.place, describeLock(holder), timeoutMs)
      return undefined
    }
    let isHeld: true | undefined
    try {
      // The signal cuts the pauses; a question that may have taken it ends by itself, and says so.
      isHeld = await waitFor(look, {clock: cutBy(signal, clock), everyMs: lockPauseMs, timeoutMs})
    } catch (error) {
      // The last try may have taken it without an answer; where somebody else was seen to hold it, theirs stays untouched.
      if (holder === undefined || (isUnheard && (await this.#isOurs(id, body).catch(() => false)))) await this.#unlock(body).catch(() => {})
      if (!isUnheard && holder !== undefined) lockGone(id)
      throw error
    }
    if (!isHeld) {
      lockGone(id)
      const who = `${describeLock(holder)}${mayBeOurs ? ', or by this command, whose first question got no answer' : ''}`
      throw new LedgerLockedError(this.#where, who, mayBeOurs ? id : filledText(holder?.ID), clock.now() - started)
    }
    const fence = new HttpFence({
      id,
      clock,
      lock: () => this.#send({method: lockMethod, url: lockAddress, body}),
      giveBack: () => this.#unlock(body),
      isChanged: () => this.#isChanged(),
      expectAnswer: answer => this.#answers.expectSuccess('lock', answer),
      lost: found => new LedgerLockLostError(this.#where, found),
    })
    const held: HeldLock = {id, fence, isFresh: false, hasWritten: false}
    return this.#hold(held, () => this.#unlock(body, held.hasWritten))
  }

  /** Whether this lock is the one that is held, or is held now that it was asked for. */
  async #isOurs(id: string, body: string): Promise<boolean> {
    const {lockAddress, lockMethod} = this.#options.backend
    if (lockAddress === undefined) return false
    const answer = await this.#send({method: lockMethod, url: lockAddress, body})
    return isLocked(answer) ? lockInfoIn(answer)?.ID === id : isYes(answer)
  }

  #newLock(operation: string): {readonly id: string; readonly body: string} {
    const {who, version, clock, random, stack} = this.#options
    const id = randomUuid(random)
    const info = {
      ID: id,
      Operation: operation,
      Info: `stack ${stack}`,
      Who: who,
      Version: version,
      Created: new Date(clock.now()).toISOString(),
      Path: '',
    }
    return {id, body: JSON.stringify(info)}
  }

  /** The protocol has no question for that: the lock is asked for, and given back where it was free. */
  async lockSeen(): Promise<LockSeen | undefined> {
    const {lockAddress, lockMethod} = this.#options.backend
    if (lockAddress === undefined) return undefined
    const {id, body} = this.#newLock('svcctl force-unlock')
    const answer = await askLock(this.#send, {id, words: this.#standingWords(id), request: {method: lockMethod, url: lockAddress, body}})
    const info = isLocked(answer) ? (lockInfoIn(answer) ?? {}) : undefined
    if (info === undefined) this.#answers.expectSuccess('lock', answer)
    const holder = filledText(info?.ID)
    if (info === undefined || holder === id) {
      await this.#unlock(body)
      return undefined
    }
    lockGone(id)
    return {...(holder === undefined ? {} : {id: holder}), holder: describeLock(info), isAlive: false, needsId: true}
  }

  async assertHeld(): Promise<void> {
    if (this.#held === undefined) throw new Error(`the ledger ${this.place} is used without its lock`)
    await this.#held.fence?.assertHeld()
  }

  async forceUnlock(lockId?: string): Promise<string | undefined> {
    if (this.#options.backend.unlockAddress === undefined) return undefined
    const {stack} = this.#options
    if (lockId === undefined) throw new LockIdError(stack, this.place, {holder: 'whoever its run was told of'})
    const answer = await this.#askUnlock(JSON.stringify({ID: lockId}))
    if (answer !== undefined && isLocked(answer)) {
      const info = lockInfoIn(answer)
      const id = filledText(info?.ID)
      throw new LockIdError(stack, this.place, {...(id === undefined ? {} : {id}), holder: describeLock(info)}, lockId)
    }
    if (answer === undefined || answer.status === 404) return undefined
    this.#answers.expectSuccess('unlock', answer)
    return `whoever had lock ${lockId}`
  }

  #hold(lock: HeldLock, giveBack: () => Promise<void>): Unlock {
    this.#held = lock
    this.#late = []
    return async () => {
      if (this.#held !== lock) return
      this.#held = undefined
      await giveBack()
    }
  }

  async #unlock(body: string, hasWritten = false): Promise<void> {
    const stillLocked = (reason: string, cause?: unknown) => this.#stillLocked(reason, body, hasWritten, cause)
    const answer = await this.#askUnlock(body).catch((error: unknown) => {
      throw error instanceof AppError ? stillLocked(error.message, error) : error
    })
    if (answer === undefined) return
    const info = isLocked(answer) ? lockInfoIn(answer) : undefined
    const holder = filledText(info?.ID)
    const isOthers = holder !== undefined && holder !== lockIdOf(body)
    // 404: it is gone already.
    const isGone = isOthers || answer.status === 404 || isYes(answer)
    if (isGone) lockGone(lockIdOf(body))
    if (isOthers) throw new LedgerLockLostError(this.#where, `it is held by ${describeLock(info)}`, true)
    if (isGone) return
    throw stillLocked(serverWords(answer))
  }

  #stillLocked(reason: string, body: string, hasWritten: boolean, cause?: unknown): LedgerStillLockedError {
    const written = hasWritten ? 'The ledger itself is written. ' : ''
    const id = lockIdOf(body)
    return new LedgerStillLockedError(
      id,
      this.#where,
      reason,
      [`${written}Wait until its server can be reached.`, `Then free it: ${this.#freeing(id)}`],
      cause,
    )
  }

  #freeing(id: string): string {
    const {freeing, stack} = this.#options
    return freeing?.(id) ?? `svcctl force-unlock --stack ${shellWord(stack)} ${shellWord(id)}`
  }

  #standingWords(id: string): string {
    return `the lock ${id} on ${this.place} was not given back. Once its server can be reached, free it: ${this.#freeing(id)}`
  }

  async #askUnlock(body: string): Promise<HttpResponse | undefined> {
    const {unlockAddress, unlockMethod} = this.#options.backend
    return unlockAddress === undefined ? undefined : this.#send({method: unlockMethod, url: unlockAddress, body})
  }

  /** Whether the ledger on the server is another one than this run knows. */
  async #isChanged(): Promise<boolean> {
    const known = this.#known
    return known !== undefined && !this.#isOwn(await this.#read(), known)
  }
}

/** It cannot be told now. */
function passing(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
  return undefined
}
