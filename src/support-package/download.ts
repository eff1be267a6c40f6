/** An archive's bytes from a server to their end, across broken connections where the server can go on from the middle. */
import {ConnectionError} from '../transport/connection-error.ts'
import type {HttpStreamResponse} from '../transport/http.ts'
import {retryDelayMs} from '../transport/retry.ts'
import {DownloadBrokenError, DownloadStalledError} from './package-errors.ts'
import {type PackageAnswer, type PackageConnection, requestRange} from './request-package.ts'

export interface DownloadProgress {
  readonly bytes: number
  /** Where the server said it beforehand. */
  readonly totalBytes?: number
  readonly bytesPerSecond: number
  readonly elapsedMs: number
}

export interface DownloadOptions {
  readonly onProgress?: (progress: DownloadProgress) => void
  readonly onResume?: (bytes: number, reason: string) => void
}

/**
 * @param path - where the archive came from, to ask for the rest of it
 * @throws DownloadStalledError, DownloadBrokenError, ConnectionError
 */
export async function* download(
  connection: PackageConnection,
  path: string,
  {headers, body}: Extract<PackageAnswer, {is: 'archive'}>,
  {onProgress, onResume}: DownloadOptions = {},
): AsyncGenerator<Uint8Array> {
  const {clock, signal, idleTimeoutMs} = connection
  const began = clock.now()
  const totalBytes = numberIn(headers['content-length'])
  const validator = validatorIn(headers)
  const resumable = headers['accept-ranges']?.toLowerCase() === 'bytes'
  let bytes = 0
  let attempt = 0
  let current: AsyncIterable<Uint8Array> = body
  for (;;) {
    try {
      for await (const chunk of current) {
        bytes += chunk.length
        attempt = 0
        const elapsedMs = clock.now() - began
        yield chunk
        onProgress?.({
          bytes,
          elapsedMs,
          bytesPerSecond: (bytes * 1000) / Math.max(1, elapsedMs),
          ...(totalBytes !== undefined && {totalBytes}),
        })
      }
      return
    } catch (error) {
      if (!(error instanceof ConnectionError) || error.failure === 'aborted') throw error
      const stopped = error.failure === 'timeout' ? new DownloadStalledError(idleTimeoutMs, bytes, error) : error
      if (!resumable) throw stopped instanceof ConnectionError ? new DownloadBrokenError(bytes, error.message, error) : stopped
      attempt += 1
      const delayMs = retryDelayMs(attempt)
      if (delayMs === undefined) throw stopped
      onResume?.(bytes, error.message)
      await clock.sleep(delayMs, signal)
    }
    current = await rest(connection, path, bytes, validator, totalBytes)
  }
}

/** The body from `from` on. What fails to open is thrown where it is read, so that it counts as a try. */
async function rest(
  connection: PackageConnection,
  path: string,
  from: number,
  validator: string | undefined,
  totalBytes: number | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  let response: HttpStreamResponse
  try {
    response = await requestRange(connection, path, from, validator)
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error
    return failing(error)
  }
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers['content-range'] ?? '')
  const sameWhole = totalBytes === undefined || range?.[2] === '*' || Number(range?.[2]) === totalBytes
  if (response.status === 206 && Number(range?.[1]) === from && sameWhole) return response.body
  for await (const _ of response.body) break
  const reason =
    response.status === 200 ? 'the server made a new archive meanwhile' : `the server answered ${response.status} when asked for the rest`
  throw new DownloadBrokenError(from, reason)
}

// biome-ignore lint/correctness/useYield: a flow that ends before its first byte
async function* failing(error: unknown): AsyncGenerator<Uint8Array> {
  throw error
}

/** What the rest must belong to. A weak tag promises nothing about bytes. */
function validatorIn(headers: Readonly<Record<string, string>>): string | undefined {
  const {etag} = headers
  return etag !== undefined && !etag.startsWith('W/') ? etag : headers['last-modified']
}

const numberIn = (text: string | undefined): number | undefined => (text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined)
