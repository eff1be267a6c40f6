/** Asking for a package, and telling an archive from everything else a server may answer in its place. */

import {answerBody} from '../backends/api/answer-body.ts'
import {type ErrorVoice, errorOf} from '../backends/api/api-errors.ts'
import {saidIn} from '../backends/api/error-body.ts'
import {beginningOfName} from '../base/beginning.ts'
import type {Clock} from '../base/clock.ts'
import type {AppError} from '../base/errors.ts'
import {tryAgain} from '../base/try-again.ts'
import type {ConnectedClient} from '../transport/api-client.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import type {HttpStreamResponse} from '../transport/http.ts'
import {parseRetryAfter, retryDelayMs} from '../transport/retry.ts'
import {NotAnArchiveError} from './archive-errors.ts'
import {foreignBody, isGzip} from './gunzip.ts'
import {PackageTimeoutError} from './package-errors.ts'
import {type PackageStatus, packageStatusOf} from './package-status.ts'

export interface PackageConnection {
  readonly client: ConnectedClient
  readonly clock: Clock
  readonly voice: ErrorVoice
  /** Until the first byte: a server may collect for minutes before it sends one. */
  readonly firstByteTimeoutMs: number
  /** The longest silence after that. */
  readonly idleTimeoutMs: number
  readonly signal?: AbortSignal
}

export type PackageAnswer =
  | {readonly is: 'archive'; readonly headers: Readonly<Record<string, string>>; readonly body: AsyncGenerator<Uint8Array>}
  | {readonly is: 'task'; readonly status: PackageStatus}
  /** 404 or 410: this server line lacks the path, or the object does not exist. */
  | {readonly is: 'absent'; readonly error: AppError}

/** Enough for any error page or task; an archive shows itself with its second byte. */
const MAX_TEXT_BYTES = 256 * 1024

/** @throws NotAnArchiveError, PackageTimeoutError, ConnectionError, and the API's refusals */
export async function requestPackage(connection: PackageConnection, path: string): Promise<PackageAnswer> {
  const response = await openWhenReady(connection, path)
  const {status, headers} = response
  const {head, rest} = await peek(response.body).catch(error => {
    throw inTime(connection, error)
  })
  if (status === 200 && isGzip(head)) return {is: 'archive', headers, body: joined(head, rest)}
  const bytes = await textOf(head, rest)
  const text = bytes.toString()
  if (status < 200 || status > 299) {
    const error = errorOf(connection.voice, {method: 'GET', path}, {status, headers, text, bytes, attempts: 1})
    if (status === 404 || status === 410) return {is: 'absent', error}
    throw error
  }
  const body = answerBody(text)
  const task = body.is === 'json' ? packageStatusOf(body.value) : undefined
  if (task !== undefined) return {is: 'task', status: task}
  const what = foreignBody(bytes)
  throw new NotAnArchiveError(
    `the answer of GET ${path}`,
    what,
    what === 'html' || what === 'json' ? beginningOfName(saidIn(text).message) : undefined,
  )
}

/** A stream from the middle on, for a download that broke. Any status is an answer. */
export const requestRange = (connection: PackageConnection, path: string, from: number, validator: string | undefined) =>
  open(connection, path, {range: `bytes=${from}-`, ...(validator !== undefined && {'if-range': validator})})

/** 502 to 504 mean "not now" for a read (wire facts, cluster API). */
const openWhenReady = (connection: PackageConnection, path: string): Promise<HttpStreamResponse> =>
  tryAgain(async attempt => {
    const response = await open(connection, path, {})
    if (![502, 503, 504].includes(response.status)) return {done: response}
    const waitMs = retryDelayMs(attempt, parseRetryAfter(response.headers, connection.clock.now()))
    if (waitMs === undefined) return {done: response}
    for await (const _ of response.body) break
    return {waitMs}
  }, connection)

async function open(connection: PackageConnection, path: string, headers: Readonly<Record<string, string>>): Promise<HttpStreamResponse> {
  const {client, clock, firstByteTimeoutMs, idleTimeoutMs, signal} = connection
  const silence = new AbortController()
  // Not AbortSignal.any: what that makes may be collected before it is needed.
  const leave = () => silence.abort(signal?.reason)
  if (signal?.aborted) leave()
  signal?.addEventListener('abort', leave, {once: true})
  try {
    const response = await client.openStream(
      {method: 'GET', path, headers: {accept: 'application/x-gzip, application/json, */*', ...headers}},
      {
        firstByteTimeoutMs,
        // Headers may come long before the first byte; after that the watch below is the stricter one.
        idleTimeoutMs: Math.max(firstByteTimeoutMs, idleTimeoutMs),
        signal: silence.signal,
      },
    )
    const asked = {method: 'GET', url: `${client.address}${path}`}
    return {...response, body: watched(response.body, {clock, idleTimeoutMs, silence, asked})}
  } catch (error) {
    signal?.removeEventListener('abort', leave)
    throw inTime(connection, error)
  }
}

function inTime({firstByteTimeoutMs}: PackageConnection, error: unknown): unknown {
  const late = error instanceof ConnectionError && error.failure === 'timeout'
  return late ? new PackageTimeoutError(Math.round(firstByteTimeoutMs / 1000), undefined, error) : error
}

/** Why the watch ended a request. */
const SILENT = Symbol('silent')

interface Watch {
  readonly clock: Clock
  readonly idleTimeoutMs: number
  /** Ends the request. */
  readonly silence: AbortController
  readonly asked: {readonly method: string; readonly url: string}
}

/**
 * The same bytes, ended when none come for too long after the first. Only the time in which we wait for the server
 * counts: a slow disk of ours is no silence of the server.
 */
async function* watched(body: AsyncIterable<Uint8Array>, {clock, idleTimeoutMs, silence, asked}: Watch): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  const over = new AbortController()
  let waitingSince: number | undefined
  const watch = async () => {
    for (let ms = idleTimeoutMs; ; ) {
      await clock.sleep(ms, over.signal)
      const waited = waitingSince === undefined ? 0 : clock.now() - waitingSince
      if (waited >= idleTimeoutMs) return silence.abort(SILENT)
      ms = idleTimeoutMs - waited
    }
  }
  try {
    for (let first = true; ; first = false) {
      if (!first) waitingSince = clock.now()
      const {value, done} = await pieces.next()
      waitingSince = undefined
      if (done) return
      if (first) watch().catch(() => {})
      yield value
    }
  } catch (error) {
    throw silence.signal.reason === SILENT ? new ConnectionError('timeout', asked, {cause: error}) : error
  } finally {
    over.abort()
    await pieces.return?.()
  }
}

/** The first bytes, at least two unless there are fewer, and a way to the others. */
async function peek(body: AsyncIterable<Uint8Array>): Promise<{head: Buffer; rest: AsyncIterator<Uint8Array>}> {
  const rest = body[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < 2) {
    const {value, done} = await rest.next()
    if (done) break
    head = head.length === 0 ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.concat([head, value])
  }
  return {head, rest}
}

async function* joined(head: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield head
    for (;;) {
      const {value, done} = await rest.next()
      if (done) return
      yield value
    }
  } finally {
    await rest.return?.()
  }
}

async function textOf(head: Buffer, rest: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of joined(head, rest)) {
    pieces.push(Buffer.from(piece))
    size += piece.length
    if (size > MAX_TEXT_BYTES) break
  }
  return Buffer.concat(pieces)
}
