/**
 * A ledger behind Terraform's HTTP state protocol: GET reads, POST (or PUT) with `?ID=<lock>` writes, LOCK and UNLOCK
 * carry the lock's description. GitLab and many small servers speak it; `terraform` reads the same address.
 *
 * Good servers refuse a write under a lock that is not the current one, and many take it where there is no lock: whether
 * the lock is still ours is asked before each (`http-fence.ts`). Before a write that no lock protects, or of a ledger read
 * before the lock was taken, the server's version is compared first.
 */

import {createHash} from 'node:crypto'
import {parseAnyJson} from '../base/bounded-json.ts'
import type {Clock} from '../base/clock.ts'
import {AppError} from '../base/errors.ts'
import type {JsonObject} from '../base/json.ts'
import {type RandomBytes, randomUuid} from '../base/random.ts'
import {shellWord} from '../base/shell-word.ts'
import {waitFor} from '../base/wait-for.ts'
import {emptyLedger, type Ledger, type Unlock} from '../engine/model/ledger.ts'
import type {HttpResponse, Transport} from '../transport/http.ts'
import {LedgerAccessError, LedgerAuthError, LedgerDamagedError, LedgerLockedError, LedgerLockLostError, type LedgerPlace} from './errors.ts'
import {type HttpBackend, withoutSecrets} from './http-backend.ts'
import {describeLock, HttpFence, isLocked, lockInfoIn, textOf} from './http-fence.ts'
import {LockIdError, type LockSeen, lockPauseMs, type ManagedLedgerStore, type Notice, sayWaiting} from './managed-store.ts'
import {assertVersion, type LedgerVersion, nextVersion} from './next-version.ts'
import {type SendState, stateRequests} from './state-requests.ts'
import {decodeLedger, encodeLedger} from './tfstate.ts'

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
}

/** `id` is absent where the server has no locks. */
interface HeldLock {
  readonly id?: string
  readonly fence?: HttpFence
  /** Whether the ledger was read after the lock was taken. */
  isFresh: boolean
}

export class HttpLedgerStore implements ManagedLedgerStore {
  readonly place: string
  readonly key: string
  readonly isRemote = true
  readonly lockKey?: string
  readonly #options: HttpStoreOptions
  readonly #where: LedgerPlace
  readonly #send: SendState
  #known: LedgerVersion | undefined
  #held: HeldLock | undefined
  /** A write of this run without an answer: the server may have it. */
  #tried: {readonly content: string} | undefined

  constructor(options: HttpStoreOptions) {
    const {backend, stack, transport, clock, onWait} = options
    this.#options = options
    this.place = withoutSecrets(backend.address)
    this.key = httpKeyOf(backend.address)
    if (backend.lockAddress !== undefined) this.lockKey = `${backend.lockMethod} ${httpKeyOf(backend.lockAddress)}`
    this.#where = {
      place: this.place,
      stack,
      setAside: `Where it stays so: keep a copy of the state at ${this.place} and delete it there (the server's interface, or an HTTP DELETE)`,
    }
    this.#send = stateRequests(backend, transport, clock, onWait)
  }

  async load(): Promise<Ledger> {
    const {backend, clock} = this.#options
    let {ledger} = await this.#get()
    for (let tries = 1; this.#isOlder(ledger); tries++) {
      if (tries > backend.retryMax) throw this.#olderError(ledger)
      await clock.sleep(backend.retryWaitMinMs)
      ledger = (await this.#get()).ledger
    }
    this.#tried = undefined
    this.#known = {serial: ledger.serial, lineage: ledger.lineage}
    if (this.#held) this.#held.isFresh = true
    return ledger
  }

  /** Under its lock nobody else writes: what is older than what this run has seen there comes from a copy that lags behind. */
  #isOlder({serial, lineage, condition}: Ledger): boolean {
    const known = this.#held?.isFresh ? this.#known : undefined
    return known !== undefined && serial < known.serial && (condition === 'absent' || lineage === known.lineage)
  }

  #olderError({serial}: Ledger): LedgerAccessError {
    return new LedgerAccessError('read', this.#where, `the server answers serial ${serial}, and had ${this.#known?.serial ?? 0} before`, [
      'What it was given it does not give back: wait until its copies agree, or look at the server. Then run the command again.',
    ])
  }

  /**
   * The version on the server right now, before a write.
   * @returns the same where it is this run's: it arrived without an answer
   */
  async #refresh(): Promise<LedgerVersion | undefined> {
    const {content, ledger} = await this.#get()
    this.#known = {serial: ledger.serial, lineage: ledger.lineage}
    if (this.#held) this.#held.isFresh = true
    return content !== undefined && content === this.#tried?.content ? this.#known : undefined
  }

  /** Of an answer that says nothing of its length nobody can tell that it was cut short: what makes no sense is asked for again. */
  async #get(): Promise<{readonly content?: string; readonly ledger: Ledger}> {
    const first = await this.#content()
    try {
      return this.#read(first)
    } catch (error) {
      if (!(error instanceof LedgerDamagedError)) throw error
      const again = await this.#content()
      if (again !== first) return this.#read(again)
      if (first === '') return this.#read(undefined)
      throw error
    }
  }

  #read(content: string | undefined): {readonly content?: string; readonly ledger: Ledger} {
    return content === undefined ? {ledger: emptyLedger(this.#options.stack)} : {content, ledger: decodeLedger(content, this.#where)}
  }

  async #content(): Promise<string | undefined> {
    const answer = await this.#send({method: 'GET', url: this.#options.backend.address})
    if (this.#isAbsent(answer)) return undefined
    if (isPage(answer)) throw this.#pageError('read')
    return this.#contentOf(answer)
  }

  /** Hand the answer to the next `save`: it has the serial of what the server holds now. */
  async save(ledger: Ledger): Promise<Ledger> {
    const {backend, random} = this.#options
    const held = this.#held
    if (held === undefined) throw new Error(`the ledger ${this.place} is saved without its lock`)
    await held.fence?.assertHeld()
    const isUnsure = held.id === undefined || !held.isFresh || this.#tried !== undefined
    const arrived = isUnsure ? await this.#refresh() : undefined
    // Servers that keep count take no serial twice: what arrived without an answer is what this one is made from.
    const before = arrived !== undefined && ledger.serial + 1 === arrived.serial ? {...ledger, ...arrived} : ledger
    const saved = nextVersion(before, this.#known, this.#where, random)
    const content = encodeLedger(saved)
    const url = new URL(backend.address)
    if (held.id !== undefined) url.searchParams.set('ID', held.id)
    const version = {serial: saved.serial, lineage: saved.lineage}
    this.#tried = {content}
    const again = () => this.#assertUnwritten(held, content, before)
    const answer = await this.#send({method: backend.updateMethod, url: url.href, body: content, again})
    if (!isSuccess(answer) || isPage(answer)) await this.#assertTaken(answer, content, before)
    this.#known = version
    this.#tried = undefined
    return saved
  }

  /** A try that comes after a pause is a write of its own: meanwhile the lock may have been forced, and the ledger written. */
  async #assertUnwritten(held: HeldLock, content: string, before: LedgerVersion): Promise<void> {
    if (held.fence) return held.fence.assertHeld()
    const found = await this.#get()
    if (found.content !== content) assertVersion(before, found.ledger, this.#where)
  }

  /**
   * What says no may be about a try whose own answer got lost, and what says yes may be a login: what the server has now
   * decides.
   */
  async #assertTaken(answer: HttpResponse, content: string, before: LedgerVersion): Promise<void> {
    const found = isRefusedAccess(answer) ? undefined : await this.#get().catch(passing)
    if (found?.content === content) return
    if (isLocked(answer)) {
      const info = lockInfoIn(answer)
      // Nobody has the lock, and somebody wrote: some servers say 409 to that too.
      if (textOf(info?.ID) === undefined && found !== undefined) assertVersion(before, found.ledger, this.#where)
      throw new LedgerLockLostError(this.#where, `it is held by ${describeLock(info)}`)
    }
    if (isSuccess(answer)) throw this.#pageError('write')
    this.#expectSuccess('write', answer)
  }

  #pageError(doing: 'read' | 'write'): LedgerAccessError {
    return new LedgerAccessError(doing, this.#where, 'the server answered with a page (text/html), as a login does', [
      'Open the address in a browser: it may want a login, or be that of a proxy. Check the address of the http backend, TF_HTTP_USERNAME and TF_HTTP_PASSWORD.',
    ])
  }

  async lock(timeoutMs: number, signal?: AbortSignal): Promise<Unlock> {
    const {backend, clock, notice, stack} = this.#options
    const {lockAddress, lockMethod} = backend
    if (lockAddress === undefined) {
      notice(`The ledger of stack "${stack}" at ${this.place} has no lock (lock_address is not set): two runs at once may undo each other.`)
      return this.#hold({isFresh: false}, async () => {})
    }
    const started = clock.now()
    const {id, body} = this.#newLock('svcctl apply')
    let holder: JsonObject | undefined
    let isUnheard = false
    const look = async (): Promise<true | undefined> => {
      isUnheard = true
      const answer = await this.#send({method: lockMethod, url: lockAddress, body}, signal)
      isUnheard = false
      if (!isLocked(answer)) {
        this.#expectSuccess('lock', answer)
        return true
      }
      const isFirst = holder === undefined
      holder = lockInfoIn(answer) ?? {}
      // A try whose answer got lost may have taken it.
      if (holder.ID === id) return true
      if (isFirst) sayWaiting(notice, this.place, describeLock(holder), timeoutMs)
      return undefined
    }
    let isHeld: true | undefined
    try {
      isHeld = await waitFor(look, {clock, everyMs: lockPauseMs, timeoutMs, ...(signal && {signal})})
    } catch (error) {
      // The last try may have taken it without an answer; where somebody else was seen to hold it, theirs stays untouched.
      if (holder === undefined || (isUnheard && (await this.#isOurs(id, body).catch(() => false)))) await this.#unlock(body).catch(() => {})
      throw error
    }
    if (!isHeld) throw new LedgerLockedError(this.#where, describeLock(holder), textOf(holder?.ID), clock.now() - started)
    const fence = new HttpFence({
      id,
      clock,
      lock: () => this.#send({method: lockMethod, url: lockAddress, body}),
      giveBack: () => this.#unlock(body),
      isChanged: () => this.#isChanged(),
      expectAnswer: answer => this.#expectSuccess('lock', answer),
      lost: found => new LedgerLockLostError(this.#where, found),
    })
    return this.#hold({id, fence, isFresh: false}, () => this.#unlock(body))
  }

  /** Whether this lock is the one that is held, or is held now that it was asked for. */
  async #isOurs(id: string, body: string): Promise<boolean> {
    const {lockAddress, lockMethod} = this.#options.backend
    if (lockAddress === undefined) return false
    const answer = await this.#send({method: lockMethod, url: lockAddress, body})
    return isLocked(answer) ? lockInfoIn(answer)?.ID === id : isSuccess(answer)
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
    const answer = await this.#send({method: lockMethod, url: lockAddress, body})
    const info = isLocked(answer) ? (lockInfoIn(answer) ?? {}) : undefined
    if (info === undefined) this.#expectSuccess('lock', answer)
    const holder = textOf(info?.ID)
    if (info === undefined || holder === id) {
      await this.#unlock(body)
      return undefined
    }
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
      const id = textOf(info?.ID)
      throw new LockIdError(stack, this.place, {...(id === undefined ? {} : {id}), holder: describeLock(info)}, lockId)
    }
    if (answer === undefined || answer.status === 404) return undefined
    this.#expectSuccess('unlock', answer)
    return `whoever had lock ${lockId}`
  }

  #hold(lock: HeldLock, giveBack: () => Promise<void>): Unlock {
    this.#held = lock
    return async () => {
      if (this.#held !== lock) return
      this.#held = undefined
      await giveBack()
    }
  }

  async #unlock(body: string): Promise<void> {
    const answer = await this.#askUnlock(body).catch((error: unknown) => {
      throw error instanceof AppError ? this.#stillLocked(error.message, body, error) : error
    })
    if (answer === undefined) return
    if (isLocked(answer)) throw new LedgerLockLostError(this.#where, `it is held by ${describeLock(lockInfoIn(answer))}`)
    // 404: it is gone already.
    if (answer.status === 404 || isSuccess(answer)) return
    throw this.#stillLocked(wordsOf(answer), body)
  }

  #stillLocked(reason: string, body: string, cause?: unknown): LedgerAccessError {
    const {ID} = parseAnyJson(body) as {readonly ID: string}
    const free = `svcctl force-unlock --stack ${shellWord(this.#options.stack)} ${shellWord(ID)}`
    return new LedgerAccessError(
      'unlock',
      this.#where,
      reason,
      ['The ledger itself is written. Wait until its server can be reached.', `Then free it: ${free}`],
      cause,
    )
  }

  async #askUnlock(body: string): Promise<HttpResponse | undefined> {
    const {unlockAddress, unlockMethod} = this.#options.backend
    return unlockAddress === undefined ? undefined : this.#send({method: unlockMethod, url: unlockAddress, body})
  }

  /** Whether the ledger on the server is another version than the one this run knows. */
  async #isChanged(): Promise<boolean> {
    const known = this.#known
    if (known === undefined) return false
    const {content, ledger: now} = await this.#get()
    if (content !== undefined && content === this.#tried?.content) return false
    return now.serial !== known.serial || now.lineage !== known.lineage
  }

  #isAbsent(answer: HttpResponse): boolean {
    if (answer.status === 404 || answer.status === 204) return true
    this.#expectSuccess('read', answer)
    // Else it may have been cut to nothing.
    return answer.body.byteLength === 0 && ('content-length' in answer.headers || 'transfer-encoding' in answer.headers)
  }

  /** There is a password, and it is another server's. */
  get #withheld(): boolean {
    const {password, trusted, address} = this.#options.backend
    return password !== undefined && !trusted.has(new URL(address).origin)
  }

  #contentOf({body, headers}: HttpResponse): string {
    const promised = headers['content-md5']
    if (promised !== undefined && promised !== createHash('md5').update(body).digest('base64')) {
      throw new LedgerDamagedError(this.#where, 'what arrived does not fit its Content-MD5')
    }
    return Buffer.from(body).toString('utf8')
  }

  #expectSuccess(doing: 'read' | 'write' | 'lock' | 'unlock', answer: HttpResponse): void {
    if (isSuccess(answer)) return
    if (isRefusedAccess(answer)) throw new LedgerAuthError(this.#where, answer.status, this.#withheld)
    throw new LedgerAccessError(doing, this.#where, wordsOf(answer), [
      'Check the address and the methods of the http backend, and the server, then run the command again.',
    ])
  }
}

const isSuccess = ({status}: HttpResponse): boolean => status >= 200 && status < 300
const isRefusedAccess = ({status}: HttpResponse): boolean => status === 401 || status === 403

function wordsOf({status, body}: HttpResponse): string {
  const said = Buffer.from(body).toString('utf8').trim().slice(0, 300)
  return `the server answered ${status}${said === '' ? '' : `: ${said}`}`
}

/** A login, or a proxy's own words, with a status as if all were well. Of what type it is said to be many servers do not care. */
const isPage = ({body}: HttpResponse): boolean => Buffer.from(body.subarray(0, 1_000)).toString('utf8').trimStart().startsWith('<')

/** It cannot be told now. */
function passing(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
  return undefined
}

/** Two addresses are one ledger when they differ in credentials only. */
export function httpKeyOf(address: string): string {
  const {origin, pathname, search} = new URL(address)
  return `http:${origin}${pathname}${search}`
}
