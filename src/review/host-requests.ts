/** Requests to the API of a code host: JSON in and out, tried again where that can do no harm, read page by page. */
import {beginningOf} from '../base/beginning.ts'
import {parseJson} from '../base/bounded-json.ts'
import type {Clock} from '../base/clock.ts'
import type {Json} from '../base/json.ts'
import {isJsonObject} from '../base/json.ts'
import {addAll} from '../base/many.ts'
import {tryAgain} from '../base/try-again.ts'
import type {CodeHost} from '../config/ci-job.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import type {HttpResponse, Transport} from '../transport/http.ts'
import {isRetryableFailure, isRetryableStatus, parseRetryAfter, retryDelayMs} from '../transport/retry.ts'
import {ReviewAnswerError, ReviewDeniedError} from './errors.ts'
import {textField} from './json-fields.ts'

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the address of the API. */
  readonly path: string
  readonly body?: Json
  /** For errors: "list the comments". */
  readonly doing: string
}

export interface HostAnswer {
  readonly status: number
  readonly body: Json | undefined
  /** How long that was. */
  readonly bytes: number
}

/** Of one list nobody wants more pages than these, or more text: whoever may comment can make it longer. */
const MOST_PAGES = 100
const MOST_BYTES = 64 * 1_048_576
const PER_PAGE = 100
/** Nobody waits longer for a host without a decision. */
const LONGEST_WISH_MS = 120_000

export interface HostRequestsOptions {
  readonly host: CodeHost
  readonly apiUrl: string
  readonly headers: Readonly<Record<string, string>>
  readonly transport: Transport
  readonly clock: Clock
  readonly debug: (text: string) => void
}

export class HostRequests {
  readonly #options: HostRequestsOptions

  constructor(options: HostRequestsOptions) {
    this.#options = options
  }

  /** Whatever the answer is. @throws ConnectionError */
  async ask({method, path, body}: Omit<HostRequest, 'doing'>): Promise<HostAnswer> {
    const {apiUrl, headers, transport, clock, debug} = this.#options
    return tryAgain(
      async attempt => {
        const pause = (wish = 0) => retryDelayMs(attempt, Math.min(wish, LONGEST_WISH_MS))
        try {
          const answer = await transport({
            method,
            url: `${apiUrl}${path}`,
            headers: {
              accept: 'application/json',
              'user-agent': 'svcctl',
              ...headers,
              ...(body === undefined ? {} : {'content-type': 'application/json'}),
            },
            ...(body === undefined ? {} : {body: JSON.stringify(body)}),
          })
          debug(`${method} ${path}: ${answer.status}`)
          const wait = isRetryableStatus(method, answer.status) ? pause(parseRetryAfter(answer.headers, clock.now())) : undefined
          return wait === undefined ? {done: {status: answer.status, body: bodyOf(answer), bytes: answer.body.length}} : {waitMs: wait}
        } catch (error) {
          const wait = error instanceof ConnectionError && isRetryableFailure(method, error) ? pause() : undefined
          if (wait === undefined) throw error
          return {waitMs: wait}
        }
      },
      {clock},
    )
  }

  /** @throws ReviewDeniedError, ReviewAnswerError, ConnectionError */
  async send(request: HostRequest): Promise<Json | undefined> {
    return (await this.#answered(request)).body
  }

  async #answered(request: HostRequest): Promise<HostAnswer> {
    const answer = await this.ask(request)
    const {status, body} = answer
    if (status >= 200 && status < 300) return answer
    const {host} = this.#options
    if (status === 401 || status === 403) throw new ReviewDeniedError(host, request.doing, status, saidIn(body))
    throw new ReviewAnswerError(host, request.doing, status, saidIn(body))
  }

  /**
   * All rows of a list. One whose end nobody read may have taken back what its beginning says.
   * @throws ReviewAnswerError
   */
  async all(path: string, doing: string): Promise<readonly Json[]> {
    const odd = (said: string) => new ReviewAnswerError(this.#options.host, doing, 200, said)
    const rows: Json[] = []
    let read = 0
    for (let page = 1; page <= MOST_PAGES; page++) {
      const sign = path.includes('?') ? '&' : '?'
      const {body, bytes} = await this.#answered({method: 'GET', path: `${path}${sign}per_page=${PER_PAGE}&page=${page}`, doing})
      if (!Array.isArray(body)) throw odd('no list')
      addAll(rows, body as readonly Json[])
      if (body.length < PER_PAGE) return rows
      read += bytes
      if (read > MOST_BYTES) throw odd(`a list of more than ${MOST_BYTES / 1_048_576} MiB`)
    }
    throw odd(`a list of more than ${MOST_PAGES * PER_PAGE} rows`)
  }
}

function bodyOf({body}: HttpResponse): Json | undefined {
  try {
    return parseJson(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}

const saidIn = (body: Json | undefined): string =>
  isJsonObject(body) ? beginningOf(textField(body, 'message') ?? textField(body, 'error') ?? '', 300) : ''
