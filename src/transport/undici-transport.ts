/**
 * Requests over the network. undici is loaded with the first request, so that commands that send none do not pay
 * for it; a pool per origin is kept until `close`.
 *
 * Nothing is followed, retried or decoded here: one request out, one answer or one ConnectionError back.
 */
import {readFileSync} from 'node:fs'
import {Readable} from 'node:stream'
import {rootCertificates} from 'node:tls'
import type {Agent, Dispatcher} from 'undici'
import {AppError, EXIT} from '../base/errors.ts'
import {ConnectionError, type ConnectionFailure} from './connection-error.ts'
import type {HttpRequest, HttpStreamRequest, HttpStreamResponse, OpenStream, Transport} from './http.ts'

export interface NetworkOptions {
  /** Accept any certificate. Who sets this warns about it, every time. */
  readonly insecure?: boolean
  /** PEM file with certificates to trust beside the system's own. */
  readonly caFile?: string
  /** Connections open at once, per origin; further requests wait their turn. */
  readonly connections?: number
  readonly connectTimeoutMs?: number
  /** For requests that name no time of their own. */
  readonly timeoutMs?: number
}

export interface NetworkTransport {
  readonly send: Transport
  /** Outside the connection limit: a download of minutes must not hold up what is short. */
  readonly openStream: OpenStream
  /** Ends idle connections at once; waits for nothing. */
  close(): Promise<void>
}

/** The certificate file of the configuration cannot be used. */
export class CaFileError extends AppError {
  constructor(path: string, reason: string, cause?: unknown) {
    super(`the certificate file ${path} ${reason}`, {
      code: 'E_CA_FILE',
      exit: EXIT.usage,
      suggestions: [
        'Set ca_file (or --ca-file, SVC_ENTERPRISE_CA_FILE) to a readable file with at least one "-----BEGIN CERTIFICATE-----".',
      ],
      cause,
    })
  }
}

const MAX_CONNECTIONS = 16
const CONNECT_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const FIRST_BYTE_TIMEOUT_MS = 600_000
const IDLE_TIMEOUT_MS = 60_000

/** @throws CaFileError with the first request, when `caFile` cannot be read or holds no certificate */
export function createTransport(options: NetworkOptions = {}): NetworkTransport {
  const {connections = MAX_CONNECTIONS} = options
  let opening: Promise<Network> | undefined
  const network = (): Promise<Network> => {
    opening ??= openNetwork(options, connections)
    return opening
  }

  return {
    send: async request => {
      const {queue, undici, short} = await network()
      const {timeoutMs = options.timeoutMs ?? REQUEST_TIMEOUT_MS} = request
      // The time runs from here and not from the queue: waiting for one's turn is no fault of the server.
      return queue.add(async () => {
        const attempt = new Attempt(request, timeoutMs)
        try {
          const answer = await attempt.first(
            undici.request(request.url, {
              dispatcher: attempt.watch(short),
              method: request.method as Dispatcher.HttpMethod,
              headers: request.headers,
              ...(request.body !== undefined && {body: request.body}),
              signal: attempt.signal,
              // One clock for the whole request is enough.
              headersTimeout: 0,
              bodyTimeout: 0,
            }),
          )
          return {status: answer.statusCode, headers: flat(answer.headers), body: await answer.body.bytes()}
        } catch (error) {
          throw attempt.explain(error)
        } finally {
          attempt.end()
        }
      })
    },

    openStream: async request => {
      const {undici, long} = await network()
      const attempt = new Attempt(request)
      try {
        const answer = await attempt.first(
          undici.request(request.url, {
            dispatcher: attempt.watch(long),
            method: request.method as Dispatcher.HttpMethod,
            headers: request.headers,
            ...(request.body !== undefined && {body: asBody(request.body)}),
            signal: attempt.signal,
            headersTimeout: request.firstByteTimeoutMs ?? FIRST_BYTE_TIMEOUT_MS,
            bodyTimeout: request.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
          }),
        )
        return {status: answer.statusCode, headers: flat(answer.headers), body: flow(answer.body, attempt)} satisfies HttpStreamResponse
      } catch (error) {
        attempt.end()
        throw attempt.explain(error)
      }
    },

    close: async () => {
      // Who could not be opened has told whoever asked.
      const opened = await opening?.catch(() => undefined)
      await Promise.all([opened?.short.destroy(), opened?.long.destroy()])
    },
  }
}

interface Network {
  readonly undici: typeof import('undici')['default']
  readonly queue: {add<T>(task: () => Promise<T>): Promise<T>}
  readonly short: Agent
  readonly long: Agent
}

async function openNetwork(options: NetworkOptions, connections: number): Promise<Network> {
  // CommonJS: bundled, only its default is there.
  const [{default: undici}, {default: PQueue}] = await Promise.all([import('undici'), import('p-queue')])
  const connect = {
    timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    rejectUnauthorized: options.insecure !== true,
    // A list of authorities replaces the built-in one, so that has to be in it again.
    ...(options.caFile !== undefined && {ca: [...rootCertificates, readCertificates(options.caFile)]}),
  }
  return {
    undici,
    queue: new PQueue({concurrency: connections}),
    short: new undici.Agent({connections, pipelining: 1, connect}),
    long: new undici.Agent({pipelining: 1, connect}),
  }
}

function readCertificates(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new CaFileError(path, 'cannot be read', error)
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new CaFileError(path, 'holds no certificate')
  return text
}

/** One request on its way: its time-out, its signal, and whether any of it was put on a connection. */
class Attempt {
  readonly #request: HttpRequest | HttpStreamRequest
  readonly #abort = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined
  readonly #stop = () => this.#abort.abort()
  #timedOut = false
  /** Some of it may have been written to a connection. */
  #sent = false

  constructor(request: HttpRequest | HttpStreamRequest, timeoutMs?: number) {
    this.#request = request
    if (request.signal?.aborted) this.#abort.abort()
    request.signal?.addEventListener('abort', this.#stop, {once: true})
    if (timeoutMs !== undefined) {
      this.#timer = setTimeout(() => {
        this.#timedOut = true
        this.#abort.abort()
      }, timeoutMs)
    }
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** undici starts a request only once it has a connection to write to: before that, nothing can have arrived. */
  watch(dispatcher: Dispatcher): Dispatcher {
    return dispatcher.compose(dispatch => (options, handler) => {
      const onRequestStart = handler.onRequestStart?.bind(handler)
      handler.onRequestStart = (controller, context) => {
        // A request that was given up meanwhile gets its connection, and is dropped there unwritten.
        this.#sent = !this.signal.aborted
        onRequestStart?.(controller, context)
      }
      return dispatch(options, handler)
    })
  }

  /** The answer, or the end of our patience: undici itself notices that only when it has a connection. */
  first<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      answer.then(resolve, reject)
      const cut = () => {
        if (!this.#sent) reject(this.signal.reason)
      }
      if (this.signal.aborted) cut()
      this.signal.addEventListener('abort', cut, {once: true})
    })
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#request.signal?.removeEventListener('abort', this.#stop)
  }

  explain(error: unknown): unknown {
    if (error instanceof AppError) return error
    const code = systemCode(error)
    // A header or an address that cannot be sent at all is a mistake of the caller, not of the network.
    if (code === 'UND_ERR_INVALID_ARG' || error instanceof TypeError) return error
    const {failure, transient} = this.#failure(code)
    return new ConnectionError(failure, this.#request, {
      arrived: this.#sent,
      cause: error,
      ...(transient !== undefined && {transient}),
      ...(code !== undefined && failure !== 'aborted' && failure !== 'timeout' && {detail: code}),
    })
  }

  #failure(code = ''): {failure: ConnectionFailure; transient?: boolean} {
    if (this.#timedOut || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
      return {failure: this.#sent ? 'timeout' : 'unreachable'}
    }
    if (this.#request.signal?.aborted) return {failure: 'aborted'}
    if (this.#sent) return {failure: 'lost'}
    if (code === 'ECONNREFUSED') return {failure: 'refused'}
    // EAI_AGAIN: the resolver could not say now; ENOTFOUND: it says there is no such name.
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return {failure: 'dns', transient: code === 'EAI_AGAIN'}
    return {failure: isTls(code) ? 'tls' : 'unreachable'}
  }
}

/** Before anything was sent, whatever OpenSSL says is about the handshake or the certificate. */
const isTls = (code: string): boolean =>
  /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/.test(code)

/** The code of an error, or of the first of several (a name with many addresses fails with one error for each). */
function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  return error instanceof AggregateError ? systemCode(error.errors[0]) : systemCode(error.cause)
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return result
}

async function* flow(body: AsyncIterable<Uint8Array>, attempt: Attempt): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw attempt.explain(error)
  } finally {
    attempt.end()
  }
}

/** Buffers one chunk at a time; whoever makes the bytes is held back by the connection. */
const asBody = (body: string | Uint8Array | AsyncIterable<Uint8Array>) =>
  typeof body === 'string' || body instanceof Uint8Array ? body : Readable.from(body, {objectMode: false, highWaterMark: 256 * 1024})
