/**
 * A module's archive to the cluster: streamed as the one part of a form, `POST /v2/modules`, and `/v1/modules` where
 * the server line has no such path (wire facts, "module upload").
 */

import {constants, createReadStream} from 'node:fs'
import {open} from 'node:fs/promises'
import {basename} from 'node:path'
import {answerBody} from '../backends/api/answer-body.ts'
import {type Asked, type ErrorVoice, errorOf, ServerError, UnknownOutcomeError, UnreadableError} from '../backends/api/api-errors.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {isJsonObject, type JsonObject} from '../base/json.ts'
import {isAbsent} from '../base/system-code.ts'
import {PRIORITY} from '../engine/model/backend.ts'
import type {ApiAnswer, ConnectedClient} from '../transport/api-client.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import {UnansweredWriteError} from './raw-answer.ts'

/** The file is not there, or is no zip archive. */
export class ModuleFileError extends AppError {
  constructor(path: string, reason: string, cause?: unknown) {
    super(`${path} ${reason}`, {
      code: 'E_MODULE_FILE',
      exit: EXIT.usage,
      suggestions: ['Give the zip archive of the module: --file <module>.zip'],
      cause,
    })
  }
}

/** 405 on the older path: modules of this server line come with its installation. */
export class ModuleUploadUnsupportedError extends AppError {
  constructor() {
    super('this server line takes no modules over the API (405)', {
      code: 'E_MODULE_UPLOAD_UNSUPPORTED',
      suggestions: ['See which modules it brings: svcctl enterprise module list'],
    })
  }
}

const PATHS = ['/v2/modules', '/v1/modules'] as const
/** `PK`, with which every zip archive begins. */
const ZIP = [0x50, 0x4b]
const ANSWER_BYTES = 1024 * 1024

export interface ModuleFile {
  readonly path: string
  readonly sizeBytes: number
}

/** @throws ModuleFileError, before anything is sent */
export async function checkModuleFile(path: string): Promise<ModuleFile> {
  try {
    // Opened without waiting for who writes into it, should it be a FIFO.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw new ModuleFileError(path, 'is no file')
      const {buffer} = await file.read(Buffer.alloc(ZIP.length), 0, ZIP.length, 0)
      if (ZIP.some((byte, at) => buffer[at] !== byte)) throw new ModuleFileError(path, 'is no zip archive')
      return {path, sizeBytes: stats.size}
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof ModuleFileError) throw error
    throw new ModuleFileError(path, isAbsent(error) ? 'does not exist' : 'cannot be read', error)
  }
}

export interface UploadModuleOptions {
  readonly client: ConnectedClient
  readonly voice: ErrorVoice
  readonly file: ModuleFile
  /** Separates the parts of the form: random, so that it does not occur in the archive. */
  readonly boundary: string
  readonly onPath: (path: string) => void
  /** Called when the first bytes leave. */
  readonly beforeSend?: () => Promise<unknown>
  /** A try was refused, and another one waits for its turn. */
  readonly onRefused?: () => void
  /** The command that shows whether it is there. */
  readonly look: string
}

/**
 * Sent once, unless it was refused before it was looked at: a module may be there although its answer was lost.
 * @returns the module as the server answers it
 * @throws ModuleUploadUnsupportedError, AnswerError, ConnectionError, UnansweredWriteError, UnknownOutcomeError
 */
export async function uploadModule(options: UploadModuleOptions): Promise<JsonObject> {
  for (const path of PATHS) {
    options.onPath(path)
    const answer = await post(path, options)
    if (answer.status === 405) throw new ModuleUploadUnsupportedError()
    if (answer.status === 404 && path !== PATHS.at(-1)) continue
    const asked = {method: 'POST', path} as const
    if (answer.status < 200 || answer.status > 299) throw failureOf(options.voice, asked, answer)
    const body = answerBody(answer.text)
    if (body.is === 'unreadable') {
      throw new UnknownOutcomeError(options.voice, asked, new UnreadableError(options.voice, asked, answer, body.cause))
    }
    return body.is === 'json' && isJsonObject(body.value) ? body.value : {}
  }
  throw new ModuleUploadUnsupportedError()
}

/** A server that failed may have taken the module in; 501 and 505 say that it did not. */
function failureOf(voice: ErrorVoice, asked: Asked, answer: ApiAnswer): AppError {
  const error = errorOf(voice, asked, answer)
  return error instanceof ServerError ? new UnknownOutcomeError(voice, asked, error) : error
}

async function post(path: string, {client, file, boundary, beforeSend, onRefused, look}: UploadModuleOptions): Promise<ApiAnswer> {
  const name = basename(file.path).replaceAll(/["\\\r\n]/g, '_')
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="module"; filename="${name}"\r\nContent-Type: application/zip\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  async function* body(): AsyncGenerator<Uint8Array> {
    await beforeSend?.()
    yield head
    // Exactly as many bytes as were announced, should the file grow meanwhile.
    yield* createReadStream(file.path, {end: file.sizeBytes - 1, highWaterMark: 256 * 1024})
    yield tail
  }
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(head.length + file.sizeBytes + tail.length),
    accept: 'application/json',
  }
  try {
    const response = await client.openStream(
      {method: 'POST', path, headers, body},
      {priority: PRIORITY.interactive, ...(onRefused && {onRefused})},
    )
    const bytes = await firstBytes(response.body)
    return {status: response.status, headers: response.headers, bytes, text: bytes.toString(), attempts: 1}
  } catch (error) {
    if (!(error instanceof ConnectionError) || !error.arrived) throw error
    throw new UnansweredWriteError({method: 'POST', path}, look, error)
  }
}

async function firstBytes(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    parts.push(part)
    size += part.length
    if (size > ANSWER_BYTES) break
  }
  return Buffer.concat(parts)
}
