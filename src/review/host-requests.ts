/** Requests to the API of a code host: JSON in and out, tried again where that can do no harm, read page by page. */
import {beginningOf} from '../base/beginning.ts'
import {parseJson} from '../base/bounded-json.ts'
import type {Clock} from '../base/clock.ts'
import {formatDuration} from '../base/duration.ts'
import type {Json} from '../base/json.ts'
import {isJsonObject} from '../base/json.ts'
import {tryAgain} from '../base/try-again.ts'
import type {CodeHost} from '../config/ci-job.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import type {HttpResponse, Transport} from '../transport/http.ts'
import {isRetryableFailure, isRetryableStatus, parseRetryAfter, retryDelayMs} from '../transport/retry.ts'
import {hostUnreachable, NAMES, ReviewAnswerError, ReviewDeniedError} from './errors.ts'
import {textField} from './json-fields.ts'
import {pathSegment} from './path-segment.ts'

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the address of the API. */
  readonly path: string
  readonly body?: Json
  /** For errors: "list the comments". */
  readonly doing: string
  /** A longer answer is not read: its body is `undefined`. */
  readonly mostBytes?: number
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

const WHO = 'say whose this token is'

export interface HostRequestsOptions {
  readonly host: CodeHost
  readonly apiUrl: string
  readonly headers: Readonly<Record<string, string>>
  readonly transport: Transport
  readonly clock: Clock
  readonly debug: (text: string) => void
  /** Hears what is waited for. */
  readonly say: (text: string) => void
}

export class HostRequests {
  readonly #options: HostRequestsOptions

  constructor(options: HostRequestsOptions) {
    this.#options = options
  }

  /** Whatever the answer is. @throws ConnectionError */
  async ask({method, path, body, mostBytes}: Omit<HostRequest, 'doing'>): Promise<HostAnswer> {
    const {apiUrl, headers, transport, clock, debug, host, say} = this.#options
    return tryAgain(
      async attempt => {
        const paused = (waitMs: number, why: string) => {
          say(`${NAMES[host]} ${why}; tried again in ${formatDuration(waitMs)}`)
          return {waitMs}
        }
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
          if (wait !== undefined) return paused(wait, `answered ${answer.status}`)
          const {status, body: read} = answer
          return {done: {status, body: read.length > (mostBytes ?? read.length) ? undefined : bodyOf(answer), bytes: read.length}}
        } catch (error) {
          if (!(error instanceof ConnectionError)) throw error
          const wait = isRetryableFailure(method, error) ? pause() : undefined
          if (wait === undefined) throw hostUnreachable(host, error, {method, url: `${apiUrl}${path}`})
          return paused(wait, `cannot be reached (${error.code})`)
        }
      },
      {clock},
    )
  }

  /** @throws ReviewDeniedError, ReviewAnswerError, ConnectionError */
  async send(request: HostRequest): Promise<Json | undefined> {
    return (await this.#answered(request)).body
  }

  /** Where something is that an answer has named. @throws ReviewAnswerError */
  below(collection: string, id: string, doing: string): string {
    const segment = pathSegment(id)
    if (segment === undefined) throw new ReviewAnswerError(this.#options.host, doing, 200, 'an id that no address can have')
    return `${collection}/${segment}`
  }

  async #answered(request: HostRequest): Promise<HostAnswer> {
    return this.done(await this.ask(request), request.doing)
  }

  /** The same answer, where it says that it was done. @throws ReviewDeniedError, ReviewAnswerError */
  done(answer: HostAnswer, doing: string): HostAnswer {
    const {status, body} = answer
    if (status >= 200 && status < 300) return answer
    const {host} = this.#options
    if (status === 401 || status === 403) throw new ReviewDeniedError(host, doing, status, saidIn(body))
    throw new ReviewAnswerError(host, doing, status, saidIn(body))
  }

  /**
   * Who it is that asks: what it wrote is its own.
   *
   * @param name - the field that says it
   * @throws ReviewAnswerError where none does, and what `done` throws
   */
  nameIn(answer: HostAnswer, name: string): string {
    const who = textField(this.done(answer, WHO).body, name)
    if (who === undefined || who === '') throw new ReviewAnswerError(this.#options.host, WHO, answer.status, 'no name')
    return who
  }

  /**
   * What is wanted of the rows of a list. One whose end nobody read may have taken back what its beginning says.
   *
   * @param take - of a row: what others wrote is not kept, since there may be a lot of it
   * @throws ReviewAnswerError
   */
  async all<T>(path: string, doing: string, take: (row: Json) => T | undefined): Promise<readonly T[]> {
    const odd = (said: string) => new ReviewAnswerError(this.#options.host, doing, 200, said)
    const taken: T[] = []
    let left = MOST_BYTES
    for (let page = 1; page <= MOST_PAGES; page++) {
      const sign = path.includes('?') ? '&' : '?'
      const from = `${path}${sign}per_page=${PER_PAGE}&page=${page}`
      const {body, bytes} = await this.#answered({method: 'GET', path: from, doing, mostBytes: left})
      left -= bytes
      if (left < 0) throw odd(`a list of more than ${MOST_BYTES / 1_048_576} MiB`)
      if (!Array.isArray(body)) throw odd('no list')
      const rows = body as readonly Json[]
      for (const row of rows) {
        const wanted = take(row)
        if (wanted !== undefined) taken.push(wanted)
      }
      if (rows.length < PER_PAGE) return taken
    }
    throw odd(`a list of more than ${MOST_PAGES * PER_PAGE} rows`)
  }
}

function bodyOf({body}: HttpResponse): Json | undefined {
  try {
    return parseJson(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'))
  } catch {
    return undefined
  }
}

const saidIn = (body: Json | undefined): string =>
  isJsonObject(body) ? beginningOf(textField(body, 'message') ?? textField(body, 'error') ?? '', 300) : ''
