/** An archive's bytes from a server to their end, across broken connections where the server can go on from the middle. */
import {createHash, type Hash} from 'node:crypto'
import {ConnectionError} from '../transport/connection-error.ts'
import type {HttpStreamResponse} from '../transport/http.ts'
import {retryDelayMs} from '../transport/retry.ts'
import {ArchiveChangedError, DownloadBrokenError, DownloadStalledError} from './package-errors.ts'
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
 * @throws ArchiveChangedError, DownloadStalledError, DownloadBrokenError, ConnectionError
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
  const known = createHash('sha256')
  let bytes = 0
  let attempt = 0
  let current: AsyncIterable<Uint8Array> = body
  for (;;) {
    try {
      for await (const chunk of current) {
        bytes += chunk.length
        known.update(chunk)
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
    current = await rest(connection, path, {bytes, known: known.copy()}, validator, totalBytes)
  }
}

/** What is there already. */
interface Begun {
  readonly bytes: number
  readonly known: Hash
}

/** The body from where it broke on. What fails to open is thrown where it is read, so that it counts as a try. */
async function rest(
  connection: PackageConnection,
  path: string,
  begun: Begun,
  validator: string | undefined,
  totalBytes: number | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  let response: HttpStreamResponse
  try {
    response = await requestRange(connection, path, begun.bytes, validator)
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error
    return failing(error)
  }
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers['content-range'] ?? '')
  const sameWhole = totalBytes === undefined || range?.[2] === '*' || Number(range?.[2]) === totalBytes
  if (response.status === 206 && Number(range?.[1]) === begun.bytes && sameWhole) return response.body
  // The whole archive again: a server (or a proxy before it) need not know ranges.
  if (response.status === 200) return behind(response.body, begun)
  for await (const _ of response.body) break
  if (response.status === 206 || response.status === 416) throw new ArchiveChangedError(begun.bytes)
  throw new DownloadBrokenError(begun.bytes, `the server answered ${response.status} when asked for the rest`)
}

/** What comes after the bytes that are there already, where these are the same. @throws ArchiveChangedError */
async function* behind(body: AsyncIterable<Uint8Array>, {bytes, known}: Begun): AsyncGenerator<Uint8Array> {
  const again = createHash('sha256')
  let passed = 0
  for await (const chunk of body) {
    const head = chunk.subarray(0, Math.max(0, bytes - passed))
    if (head.length > 0) {
      again.update(head)
      passed += head.length
      if (passed === bytes && !again.digest().equals(known.digest())) throw new ArchiveChangedError(bytes)
    }
    if (head.length < chunk.length) yield chunk.subarray(head.length)
  }
  if (passed < bytes) throw new ArchiveChangedError(bytes)
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
