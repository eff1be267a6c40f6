/** What answers of a state server say of themselves, and of the ledger. What they mean for a run is `http-store.ts`. */
import {createHash} from 'node:crypto'
import {beginningOf} from '../base/beginning.ts'
import {maskedText} from '../base/secret-fields.ts'
import {emptyLedger, type Ledger} from '../engine/model/ledger.ts'
import type {HttpResponse} from '../transport/http.ts'
import {LedgerAccessError, LedgerAuthError, LedgerDamagedError, type LedgerPlace} from './errors.ts'
import {shownAddress} from './http-address.ts'
import type {HttpBackend} from './http-backend.ts'
import type {SendState} from './state-requests.ts'
import {decodeLedger} from './tfstate.ts'

/** A ledger as it came; without content where there is none. */
export interface ReadState {
  readonly content?: string
  readonly ledger: Ledger
}

export class StateAnswers {
  readonly #backend: HttpBackend
  readonly #where: LedgerPlace
  readonly #send: SendState

  constructor(backend: HttpBackend, where: LedgerPlace, send: SendState) {
    this.#backend = backend
    this.#where = where
    this.#send = send
  }

  /**
   * What the server has. Of an answer that says nothing of its length nobody can tell that it was cut short: what makes no
   * sense is asked for again.
   */
  async read(): Promise<ReadState> {
    const first = await this.#content()
    try {
      return this.#decoded(first)
    } catch (error) {
      if (!(error instanceof LedgerDamagedError)) throw error
      const again = await this.#content()
      if (again !== first) return this.#decoded(again)
      if (first === '') return this.#decoded(undefined)
      throw error
    }
  }

  /** @throws LedgerAuthError, LedgerAccessError */
  expectSuccess(doing: 'read' | 'write' | 'lock' | 'unlock', answer: HttpResponse): void {
    if (isYes(answer)) return
    if (isSuccess(answer)) throw this.#pageError(doing)
    if (isRefusedAccess(answer)) throw new LedgerAuthError(this.#where, answer.status, this.#withheld(doing))
    throw new LedgerAccessError(doing, this.#where, serverWords(answer), [
      'Check the address and the methods of the http backend, and the server, then run the command again.',
    ])
  }

  #pageError(doing: 'read' | 'write' | 'lock' | 'unlock'): LedgerAccessError {
    return new LedgerAccessError(doing, this.#where, 'the server answered with a page (text/html), as a login does', [
      'Open the address in a browser: it may want a login, or be that of a proxy. Check the address of the http backend, TF_HTTP_USERNAME and TF_HTTP_PASSWORD.',
    ])
  }

  #decoded(content: string | undefined): ReadState {
    return content === undefined ? {ledger: emptyLedger(this.#where.stack)} : {content, ledger: decodeLedger(content, this.#where)}
  }

  async #content(): Promise<string | undefined> {
    const answer = await this.#send({method: 'GET', url: this.#backend.address})
    if (this.#isAbsent(answer)) return undefined
    return this.#contentOf(answer)
  }

  #isAbsent(answer: HttpResponse): boolean {
    if (answer.status === 404 || answer.status === 204) return true
    this.expectSuccess('read', answer)
    // Else it may have been cut to nothing.
    return answer.body.byteLength === 0 && ('content-length' in answer.headers || 'transfer-encoding' in answer.headers)
  }

  #contentOf({body, headers}: HttpResponse): string {
    const promised = headers['content-md5']
    if (promised !== undefined && promised !== createHash('md5').update(body).digest('base64')) {
      throw new LedgerDamagedError(this.#where, 'what arrived does not fit its Content-MD5')
    }
    return Buffer.from(body).toString('utf8')
  }

  /** There is a password, and it is not for this address: the variable that would name it, and what that would say. */
  #withheld(doing: 'read' | 'write' | 'lock' | 'unlock'): {readonly variable: string; readonly address: string} | undefined {
    const {password, trusted, address, lockAddress = address, unlockAddress = address} = this.#backend
    const isAway = (it: string) => password !== undefined && !trusted.has(shownAddress(it))
    if (isAway(address)) return {variable: 'TF_HTTP_ADDRESS', address: shownAddress(address)}
    if (doing === 'lock' && isAway(lockAddress)) return {variable: 'TF_HTTP_LOCK_ADDRESS', address: shownAddress(lockAddress)}
    if (doing === 'unlock' && isAway(unlockAddress)) return {variable: 'TF_HTTP_UNLOCK_ADDRESS', address: shownAddress(unlockAddress)}
    return undefined
  }
}

export const isSuccess = ({status}: HttpResponse): boolean => status >= 200 && status < 300
export const isRefusedAccess = ({status}: HttpResponse): boolean => status === 401 || status === 403

/** Of an answer that may be as long as a ledger. */
const LONGEST_READ = 1_000_000

/** What it says of itself, without the secrets that it names. */
export function serverWords({status, body}: HttpResponse): string {
  const beginning = Buffer.from(body.subarray(0, LONGEST_READ)).toString('utf8').trim()
  const said = beginningOf(maskedText(beginning), 300)
  return `the server answered ${status}${said === '' ? '' : `: ${said}`}`
}

/** A login, or a proxy's own words, with a status as if all were well. Of what type it is said to be many servers do not care. */
const isPage = ({body}: HttpResponse): boolean => Buffer.from(body.subarray(0, 1_000)).toString('utf8').trimStart().startsWith('<')

/** The answer is the server's, and yes: what a login answers in its place is neither a ledger nor a lock, and gives none back. */
export const isYes = (answer: HttpResponse): boolean => isSuccess(answer) && !isPage(answer)
