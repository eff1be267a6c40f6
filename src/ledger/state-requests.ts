/** The requests of Terraform's HTTP state protocol, with the tries it allows. What an answer means is `http-store.ts`. */
import {createHash} from 'node:crypto'
import type {Clock} from '../base/clock.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import type {HttpResponse, Transport} from '../transport/http.ts'
import {parseRetryAfter} from '../transport/retry.ts'
import type {HttpBackend} from './http-backend.ts'

export interface StateRequest {
  readonly method: string
  readonly url: string
  readonly body?: string
}

export type SendState = (request: StateRequest, signal?: AbortSignal) => Promise<HttpResponse>

/** Every request of this protocol may be repeated: a state is replaced as a whole, and a lock carries its own id. */
export function stateRequests(backend: HttpBackend, transport: Transport, clock: Clock): SendState {
  const {username, password = '', retryMax, retryWaitMinMs, retryWaitMaxMs} = backend
  const waitMs = (tries: number, wish = 0) => Math.max(Math.min(retryWaitMinMs * 2 ** (tries - 1), retryWaitMaxMs), wish)
  return async ({method, url, body}, signal) => {
    const headers = {
      accept: 'application/json',
      ...(username !== undefined && {authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`}),
      ...(body !== undefined && {'content-type': 'application/json', 'content-md5': createHash('md5').update(body).digest('base64')}),
    }
    for (let tries = 1; ; tries++) {
      const isLast = tries > retryMax
      try {
        const answer = await transport({method, url, headers, ...(body !== undefined && {body}), ...(signal && {signal})})
        if (isLast || !isPassing(answer.status)) return answer
        await clock.sleep(waitMs(tries, parseRetryAfter(answer.headers['retry-after'], clock.now())), signal)
      } catch (error) {
        if (isLast || !(error instanceof ConnectionError) || !error.transient) throw error
        await clock.sleep(waitMs(tries), signal)
      }
    }
  }
}

const isPassing = (status: number): boolean => status === 429 || (status >= 500 && status !== 501)
