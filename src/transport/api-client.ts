/**
 * One API connection: authentication, base address, budget, retries, redirects and the read-only guard around a
 * transport. Backends and the raw `api` command speak to servers through this and nothing else.
 */
import type {AppError} from '../base/errors.ts'
import type {Json} from '../base/json.ts'
import type {RequestOptions, Spending} from '../engine/model/backend.ts'
import type {Method} from '../engine/model/kind.ts'
import type {HttpStreamResponse} from './http.ts'

export interface ApiCall {
  readonly method: Method
  /** Begins with `/`, below the base address; may carry a query string. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON is serialized; text and bytes go out as they are. */
  readonly body?: Json | Uint8Array
  /** Sent as it is instead of `body`, with the caller's own content type. */
  readonly rawBody?: string | Uint8Array
}

export interface CallOptions extends RequestOptions {
  readonly timeoutMs?: number
  /** Statuses that would be retried but mean something here: a 503 of an availability check is its answer. */
  readonly answers?: readonly number[]
  /** Of a change: those of this account known to be running; tells "too many changes" from "too many requests". */
  readonly changesInFlight?: () => number
}

export interface ApiAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The raw text, always kept. */
  readonly text: string
  readonly bytes: Uint8Array
  /** How many times the request was sent. */
  readonly attempts: number
  /** The server may have done what an earlier try asked for, although this answer refuses it. */
  readonly mayHaveArrived?: true
}

/** What became of a call, when there is no answer to show. */
export type CallResult =
  | {readonly answered: true; readonly answer: ApiAnswer}
  /** `arrived`: whether the server may have seen the request. */
  | {readonly answered: false; readonly arrived: boolean; readonly error: AppError}

export interface ApiClient {
  readonly address: string
  /** Any status is an answer. Retries follow design section 4 (the retry table) by method. */
  call(call: ApiCall, options?: CallOptions): Promise<CallResult>
  readonly spending: Spending
  /** What time it is there, by the last answer that said so; ours until then. */
  readonly now: () => number
}

/** A request or an answer too large to hold in memory. */
export interface StreamCall {
  readonly method: Method
  /** Begins with `/`, below the base address; may carry a query string. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes that flow are made anew for every try. */
  readonly body?: string | Uint8Array | (() => AsyncIterable<Uint8Array>)
}

export interface StreamOptions {
  readonly priority?: number
  /** As of a call. */
  readonly onRefused?: () => void
  readonly signal?: AbortSignal
  /** Until status and headers are there; 10 minutes unless told. */
  readonly firstByteTimeoutMs?: number
  /** The longest silence within the body; one minute unless told. */
  readonly idleTimeoutMs?: number
}

/** What `createApiClient` gives: a client that can also stream. */
export interface ConnectedClient extends ApiClient {
  /**
   * Any status is an answer. Only what was provably refused (429, no connection) is tried again.
   * @throws AppError when there is no answer
   */
  openStream(call: StreamCall, options?: StreamOptions): Promise<HttpStreamResponse>
}
