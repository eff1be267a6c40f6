/**
 * One API connection: authentication, base address, budget, retries, redirects and the read-only guard around a
 * transport. Backends and the raw `api` command speak to servers through this and nothing else.
 */
import type {AppError} from '../base/errors.ts'
import type {Json} from '../base/json.ts'
import type {Spending} from '../engine/backend.ts'
import type {Method} from '../engine/kind.ts'

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

export interface CallOptions {
  /** One of PRIORITY, minus the length of the path behind it. */
  readonly priority?: number
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
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
}
