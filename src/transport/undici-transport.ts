/**
 * Requests over the network. undici is loaded with the first request, so that commands that send none do not pay
 * for it; a pool per origin is kept until `close`.
 *
 * Nothing is followed, retried or decoded here: one request out, one answer or one ConnectionError back.
 */
import {Readable} from 'node:stream'
import type {Dispatcher} from 'undici'
import {LONGEST_TIMER_MS} from '../base/clock.ts'
import {AppError} from '../base/errors.ts'
import {formatSizeBytes} from '../base/units.ts'
import type {ConnectionAdvice} from './connection-advice.ts'
import {ConnectionError, type ConnectionFailure} from './connection-error.ts'
import {assertSendable} from './header-values.ts'
import {
  type HttpRequest,
  type HttpStreamRequest,
  type HttpStreamResponse,
  MAX_RESPONSE_BYTES,
  type OpenStream,
  type Transport,
} from './http.ts'
import {networkCode, OWN_LIMITS} from './network-code.ts'
import {type ProxyServer, type ProxySettings, proxyFor} from './proxy.ts'
import {readCertificates, type TrustedFile} from './trusted-file.ts'
import {NO_ANSWER, statusWord, tunnelErrorIn, tunnelling} from './tunnel.ts'

export interface NetworkOptions {
  /** Accept any certificate. Who sets this warns about it, every time. */
  readonly insecure?: boolean
  /** Certificates to trust beside the built-in ones. */
  readonly trust?: readonly TrustedFile[]
  /** Where relative paths of those begin; the folder of this process when nobody says it. */
  readonly cwd?: string
  /** What errors may advise; general words without it. */
  readonly advice?: ConnectionAdvice
  /** Absent: every server is reached directly. */
  readonly proxy?: ProxySettings
  readonly connectTimeoutMs?: number
  /** Of an answer that is held in memory; what is streamed has no bound. */
  readonly maxResponseBytes?: number
  /** For requests that name no time of their own. */
  readonly timeoutMs?: number
}

/** Sends at once: how many requests are on their way is `open-requests.ts`'s to say. */
export interface NetworkTransport {
  readonly send: Transport
  readonly openStream: OpenStream
  /** Ends idle connections at once; waits for nothing. */
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const FIRST_BYTE_TIMEOUT_MS = 600_000
const IDLE_TIMEOUT_MS = 60_000

/** @throws CaFileError with the first request, when a trusted file cannot be read or holds no certificate */
export function createTransport(options: NetworkOptions = {}): NetworkTransport {
  let opening: Promise<Network> | undefined
  const network = (): Promise<Network> => {
    opening ??= openNetwork(options)
    return opening
  }

  return {
    send: async request => {
      const {dispatcher} = await network()
      assertSendable(request.headers)
      const {timeoutMs = options.timeoutMs ?? REQUEST_TIMEOUT_MS} = request
      const proxy = proxyFor(request.url, options.proxy ?? {})
      const attempt = new Attempt(request, proxy, options.advice, timeoutMs)
      try {
        // One clock for the whole request is enough.
        const answer = await attempt.ask(dispatcher(proxy), {headersTimeout: 0, bodyTimeout: 0})
        const body = await bounded(answer.body, options.maxResponseBytes ?? MAX_RESPONSE_BYTES, request)
        return {status: answer.statusCode, headers: flat(answer.headers), body}
      } catch (error) {
        throw attempt.explain(error)
      } finally {
        attempt.end()
      }
    },

    openStream: async request => {
      const {dispatcher} = await network()
      const proxy = proxyFor(request.url, options.proxy ?? {})
      assertSendable(request.headers)
      const firstByteMs = Math.min(request.firstByteTimeoutMs ?? FIRST_BYTE_TIMEOUT_MS, LONGEST_TIMER_MS)
      // undici counts from the last word of the server, and one that only says "processing" has many. What is sent takes its own time.
      const attempt = new Attempt(request, proxy, options.advice, request.body === undefined ? firstByteMs : undefined)
      try {
        const answer = await attempt.ask(dispatcher(proxy), {
          headersTimeout: firstByteMs,
          bodyTimeout: Math.min(request.idleTimeoutMs ?? IDLE_TIMEOUT_MS, LONGEST_TIMER_MS),
        })
        attempt.answered()
        return {status: answer.statusCode, headers: flat(answer.headers), body: flow(answer.body, attempt)} satisfies HttpStreamResponse
      } catch (error) {
        attempt.end()
        throw attempt.explain(error)
      }
    },

    close: async () => {
      // A network that failed to open has failed its request, too.
      const opened = await opening?.catch(() => undefined)
      await opened?.destroy()
    },
  }
}

/** All of a body, or an error as soon as it is too much: nobody waits for the end of what has none. */
async function bounded(body: AsyncIterable<Uint8Array>, maxBytes: number, request: HttpRequest): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let room: Buffer | undefined
  let bytes = 0
  for await (const part of body) {
    const from = bytes
    bytes += part.length
    // Leaving the loop ends the connection.
    if (bytes > maxBytes) throw new ConnectionError('too-large', request, {detail: `more than ${formatSizeBytes(maxBytes)}`})
    if (room === undefined && bytes <= LARGE_BYTES && parts.length < MANY_PARTS) parts.push(part)
    else room = written(room, part, from, parts)
  }
  return room?.subarray(0, bytes) ?? Buffer.concat(parts, bytes)
}

/** From here on what comes is written where it stays: put together in the end, a body takes twice its memory. */
const LARGE_BYTES = 8 * 1024 * 1024
/** Also from here on: each part takes a hundred bytes and more beside its own, and a server may send one byte at a time. */
const MANY_PARTS = 1000

/** @param parts - what came before there was room; taken out of the list */
function written(room: Buffer | undefined, part: Uint8Array, from: number, parts: Uint8Array[]): Buffer {
  const enough = room !== undefined && from + part.length <= room.length
  const result = enough ? room : roomier(room === undefined ? parts.splice(0) : [room])
  result.set(part, from)
  return result
}

/** What nothing is written into yet is a range of addresses, and no memory (Node fills what `concat` leaves over). */
function roomier(parts: readonly Uint8Array[]): Buffer {
  const [{length} = {length: 0}] = parts
  const result = Buffer.allocUnsafeSlow(Math.max(MAX_RESPONSE_BYTES, 2 * length))
  let at = 0
  for (const part of parts) {
    result.set(part, at)
    at += part.length
  }
  return result
}

/** An address as undici's dispatchers take it. */
function placeOf(url: string): {origin: string; path: string} {
  const {origin, pathname, search} = new URL(url)
  return {origin, path: `${pathname}${search}`}
}

interface Network {
  /** One for each way to a server: directly, or through this proxy with these credentials. */
  dispatcher(proxy: ProxyServer | undefined): Dispatcher
  destroy(): Promise<unknown>
}

async function openNetwork(options: NetworkOptions): Promise<Network> {
  // CommonJS: bundled, only its default is there.
  const [{default: undici}, {rootCertificates}] = await Promise.all([import('undici'), import('node:tls')])
  const connect = {
    timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    rejectUnauthorized: options.insecure !== true,
    // A list of authorities replaces the built-in one, so that has to be in it again.
    ...(options.trust !== undefined &&
      options.trust.length > 0 && {ca: [...rootCertificates, ...options.trust.flatMap(it => readCertificates(it, options.cwd))]}),
  }
  const opened = new Map<string, Dispatcher>()
  const open = (proxy: ProxyServer | undefined): Dispatcher => {
    const pool = {pipelining: 1}
    if (proxy === undefined) return new undici.Agent({...pool, connect})
    const {origin: uri, authorization: token} = proxy
    // What is trusted of a server is not trusted of the proxy before it: `insecure` is about the cluster.
    const proxyTls = {...connect, rejectUnauthorized: true}
    const clientFactory = (address: URL, settings: object) =>
      tunnelling(new undici.Pool(address, settings), options.timeoutMs ?? REQUEST_TIMEOUT_MS)
    const tunnel = {requestTls: connect, proxyTls, proxyTunnel: false, clientFactory}
    return new undici.ProxyAgent({...pool, uri, ...tunnel, ...(token !== undefined && {token})})
  }
  return {
    dispatcher: proxy => {
      const key = proxy === undefined ? '' : `${proxy.origin} ${proxy.authorization ?? ''}`
      const known = opened.get(key) ?? open(proxy)
      opened.set(key, known)
      return known
    },
    destroy: () => Promise.all([...opened.values()].map(it => it.destroy())),
  }
}

/** One request on its way: its time-out, its signal, and whether any of it was put on a connection. */
class Attempt {
  readonly #request: HttpRequest | HttpStreamRequest
  readonly #proxy: ProxyServer | undefined
  readonly #advice: ConnectionAdvice | undefined
  readonly #abort = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined
  readonly #stop = () => this.#abort.abort()
  #timedOut = false
  /** Milliseconds, by a clock that nobody sets and by the one that goes on while the machine sleeps. */
  readonly #began = times()
  /** Some of it may have been written to a connection. */
  #sent = false

  constructor(
    request: HttpRequest | HttpStreamRequest,
    proxy: ProxyServer | undefined,
    advice: ConnectionAdvice | undefined,
    timeoutMs?: number,
  ) {
    this.#advice = advice
    this.#request = request
    this.#proxy = proxy
    if (request.signal?.aborted) this.#abort.abort()
    request.signal?.addEventListener('abort', this.#stop, {once: true})
    if (timeoutMs !== undefined) {
      this.#timer = setTimeout(
        () => {
          this.#timedOut = true
          this.#abort.abort()
        },
        Math.min(timeoutMs, LONGEST_TIMER_MS),
      )
    }
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Sends it. @returns the answer as soon as its head is there */
  ask(dispatcher: Dispatcher, silences: {readonly headersTimeout: number; readonly bodyTimeout: number}): Promise<Dispatcher.ResponseData> {
    const {url, method, headers, body} = this.#request
    const asked = this.#watch(dispatcher).request({
      ...placeOf(url),
      method: method as Dispatcher.HttpMethod,
      headers,
      ...(body !== undefined && {body: asBody(body)}),
      signal: this.signal,
      ...silences,
    })
    return this.#first(asked)
  }

  /** undici starts a request only once it has a connection to write to: before that, nothing can have arrived. */
  #watch(dispatcher: Dispatcher): Dispatcher {
    return dispatcher.compose(dispatch => (options, handler) => {
      const onRequestStart = handler.onRequestStart?.bind(handler)
      handler.onRequestStart = (controller, context) => {
        // What is thrown here keeps the connection: the next try finds it open.
        if (this.#isLate)
          throw new ConnectionError('unreachable', this.#request, {detail: 'the connection came late, and nothing was sent'})
        // A request that was given up meanwhile gets its connection, and is dropped there unwritten.
        this.#sent = !this.signal.aborted
        onRequestStart?.(controller, context)
      }
      return dispatch(options, handler)
    })
  }

  get #isLate(): boolean {
    const {leaveWithinMs} = 'leaveWithinMs' in this.#request ? this.#request : {}
    return leaveWithinMs !== undefined && times().some((now, i) => Math.abs(now - (this.#began[i] ?? 0)) > leaveWithinMs)
  }

  /** The answer, or the end of our patience: undici itself notices that only when it has a connection. */
  #first<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      answer.then(resolve, reject)
      const cut = () => {
        if (!this.#sent) reject(this.signal.reason)
      }
      if (this.signal.aborted) cut()
      this.signal.addEventListener('abort', cut, {once: true})
    })
  }

  /** Its head is there: from now on only silence counts. */
  answered(): void {
    clearTimeout(this.#timer)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#request.signal?.removeEventListener('abort', this.#stop)
  }

  explain(error: unknown): unknown {
    if (error instanceof AppError) return error
    const ofTunnel = tunnelErrorIn(error)
    const code = networkCode(ofTunnel ?? error)
    // A header or an address that cannot be sent at all is a mistake of the caller, not of the network.
    if ((code === 'UND_ERR_INVALID_ARG' && !this.#proxyAsked(code)) || error instanceof TypeError) return error
    const {failure, transient} = this.#failure(code)
    const detail = this.#detail(failure, code)
    return new ConnectionError(failure, this.#request, {
      arrived: this.#sent && failure !== 'proxy',
      cause: error,
      ...(this.#advice && {advice: this.#advice}),
      ...(transient !== undefined && {transient}),
      ...(detail !== undefined && {detail}),
      ...(ofTunnel !== undefined && failure === 'tls' && {proxy: this.#proxy?.origin}),
    })
  }

  #detail(failure: ConnectionFailure, code: string | undefined): string | undefined {
    if (failure === 'aborted' || failure === 'timeout') return undefined
    if (failure !== 'proxy') return code
    const known = this.#timedOut ? NO_ANSWER : this.#proxyAsked(code) ? statusWord(407) : code
    // undici's own words for a refusal say nothing to a person.
    return known === undefined || known.startsWith('UND_ERR_') ? `${this.#proxy?.origin}` : `${this.#proxy?.origin}, ${known}`
  }

  /** How undici spells a proxy's 407 to a request that is not tunnelled: the server behind it has not seen anything. */
  #proxyAsked(code = ''): boolean {
    return this.#proxy !== undefined && this.#sent && code === 'UND_ERR_INVALID_ARG'
  }

  #failure(code = ''): {failure: ConnectionFailure; transient?: boolean} {
    if (this.#timedOut || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
      if (this.#sent) return {failure: 'timeout'}
      return {failure: this.#proxy === undefined ? 'unreachable' : 'proxy'}
    }
    if (this.#request.signal?.aborted) return {failure: 'aborted'}
    if (this.#proxyAsked(code)) return {failure: 'proxy', transient: false}
    if (this.#sent) return {failure: 'lost'}
    if (OWN_LIMITS.has(code)) return {failure: 'unreachable'}
    if (this.#proxy !== undefined && !isTls(code)) return {failure: 'proxy', transient: code === 'ECONNREFUSED' || code === NO_ANSWER}
    if (code === 'ECONNREFUSED') return {failure: 'refused'}
    // EAI_AGAIN: the resolver could not say now; ENOTFOUND: it says there is no such name.
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return {failure: 'dns', transient: code === 'EAI_AGAIN'}
    return {failure: isTls(code) ? 'tls' : 'unreachable'}
  }
}

const times = (): readonly number[] => [Number(process.hrtime.bigint()) / 1e6, Date.now()]

/** Before anything was sent, whatever OpenSSL says is about the handshake or the certificate. */
const isTls = (code: string): boolean =>
  /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/.test(code)

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
