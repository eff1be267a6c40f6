/** The requests of Terraform's HTTP state protocol, with the tries it allows. What an answer means is `http-store.ts`. */
import {createHash} from 'node:crypto'
import type {Clock} from '../base/clock.ts'
import {formatDuration} from '../base/duration.ts'
import {type Tried, tryAgain} from '../base/try-again.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import type {HttpResponse, Transport} from '../transport/http.ts'
import {parseRetryAfter} from '../transport/retry.ts'
import {shownAddress} from './http-address.ts'
import type {HttpBackend} from './http-backend.ts'
import type {Notice} from './managed-store.ts'

export interface StateRequest {
  readonly method: string
  readonly url: string
  readonly body?: string
  /** Asked before each further try; what it throws ends them. */
  readonly again?: () => Promise<void>
}

/** However long a server wishes: nobody waits longer without a decision. */
const LONGEST_WISH_MS = 600_000

/** What was asked right before a write says nothing of later. */
const LEAVES_WITHIN_MS = 2_000

export interface StateAnswer extends HttpResponse {
  /** A try before this one got no answer, and may have taken effect. */
  readonly isRepeat: boolean
}

export type SendState = (request: StateRequest, signal?: AbortSignal) => Promise<StateAnswer>

/**
 * Every request of this protocol may be repeated: a state is replaced as a whole, and a lock carries its own id.
 *
 * @param notice - told before each pause
 */
export function stateRequests(backend: HttpBackend, transport: Transport, clock: Clock, notice: Notice): SendState {
  const {username, password = '', trusted, retryMax, retryWaitMinMs, retryWaitMaxMs} = backend
  const waitMs = (tries: number, wish = 0) => Math.max(Math.min(retryWaitMinMs * 2 ** (tries - 1), retryWaitMaxMs), wish)
  return async ({method, url, body, again}, signal) => {
    const headers = {
      accept: 'application/json',
      ...(username !== undefined &&
        trusted.has(shownAddress(url)) && {authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`}),
      ...(body !== undefined && {'content-type': 'application/json', 'content-md5': createHash('md5').update(body).digest('base64')}),
    }
    let isRepeat = false
    const once = async (tries: number): Promise<Tried<StateAnswer>> => {
      const isLast = tries > retryMax
      if (tries > 1) await again?.()
      const pause = (why: string, wish?: number): Tried<never> => {
        const ms = waitMs(tries, wish)
        notice(`The state server ${shownAddress(backend.address)} ${why}; tried again in ${formatDuration(ms)} (${tries} of ${retryMax}).`)
        return {waitMs: ms}
      }
      try {
        const leave = again && {leaveWithinMs: LEAVES_WITHIN_MS}
        const answer = await transport({method, url, headers, ...(body !== undefined && {body}), ...(signal && {signal}), ...leave})
        if (isLast || !isPassing(answer.status)) return {done: {...answer, isRepeat}}
        // A gateway may have lost the answer of what stands behind it.
        isRepeat ||= answer.status >= 500
        return pause(`answered ${answer.status}`, Math.min(parseRetryAfter(answer.headers, clock.now()) ?? 0, LONGEST_WISH_MS))
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error
        if (isLast || !error.transient) throw unreachable(error, isRepeat, {method, url}, backend.address)
        isRepeat ||= error.arrived
        return pause(`cannot be reached (${error.code})`)
      }
    }
    return tryAgain(once, {clock, signal})
  }
}

/**
 * The state server is none of the two APIs, and is found in another way.
 * @param isRepeat - a try before this one may have arrived
 */
function unreachable(error: ConnectionError, isRepeat: boolean, request: StateRequest, address: string): ConnectionError {
  const {failure} = error
  if (failure === 'aborted') return error
  const suggestions = [
    ...(failure === 'proxy' ? error.suggestions : []),
    `This is where a ledger is kept (${shownAddress(address)}): check that its server is up, and the address in the stack's http backend or in TF_HTTP_ADDRESS, TF_HTTP_LOCK_ADDRESS and TF_HTTP_UNLOCK_ADDRESS.`,
    ...(failure === 'tls'
      ? [
          "Trust the authority of its certificate with NODE_EXTRA_CA_CERTS; for a test server: skip_cert_verification in the stack's http backend, and TF_HTTP_SKIP_CERT_VERIFICATION=true where the environment has its credentials.",
        ]
      : []),
  ]
  return error.advising(suggestions, request, error.arrived || isRepeat)
}

const isPassing = (status: number): boolean => status === 429 || (status >= 500 && status !== 501)
