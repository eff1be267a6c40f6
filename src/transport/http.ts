/**
 * The one shape in which requests leave the program and answers come back. Real servers (undici) and the simulator
 * in process both are a `Transport`; budget, retries and the read-only guard are wrappers of one.
 */
export interface HttpRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
  /** Until the whole answer is there. */
  readonly timeoutMs?: number
  /** What was looked at right before it says nothing after this: to a connection that comes about later it is not written. */
  readonly leaveWithinMs?: number
}

/** The largest answer that is held in memory, unless somebody allows more. */
export const MAX_RESPONSE_BYTES = 64 * 2 ** 20

export interface HttpResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** @throws ConnectionError (see `transport/connection-error.ts`), which knows whether the request may have arrived */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>

/** A request or an answer too large to hold in memory. Bodies flow; only silence is timed, never the whole. */
export interface HttpStreamRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Bytes that flow need a `content-length` header, or go out chunked. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal
  /** Until status and headers are there, counted from the end of the request. */
  readonly firstByteTimeoutMs?: number
  /** The longest silence within the answer's body. */
  readonly idleTimeoutMs?: number
}

export interface HttpStreamResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Must be read to its end or left with `break`/`return`, or the connection stays taken. Throws ConnectionError. */
  readonly body: AsyncIterable<Uint8Array>
}

/** @throws ConnectionError */
export type OpenStream = (request: HttpStreamRequest) => Promise<HttpStreamResponse>
