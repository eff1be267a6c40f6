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
}

export interface HttpResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** @throws ConnectionError (see `transport/connection-error.ts`), which knows whether the request may have arrived */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>
