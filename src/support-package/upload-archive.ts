/** A file sent to the upload service in parts, several at a time, and continued where an earlier try stopped. */
import {type FileHandle, open, stat} from 'node:fs/promises'
import {basename} from 'node:path'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {shellWord} from '../base/shell-word.ts'
import {tryAgain} from '../base/try-again.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import type {OpenStream} from '../transport/http.ts'
import {retryDelayMs} from '../transport/retry.ts'
import {type FilesApi, type PartTarget, UploadRefusedError, UploadServiceUnansweredError} from './files-api.ts'
import {MOST_PARTS, type UploadState, UploadStateFile} from './upload-state.ts'

/** Contract section 4, "Upload": `<uploads_dir>/<file_name>`. */
export const DEFAULT_UPLOAD_DIR = '/uploads'
const PARALLEL = 4
const TRIES = 3
const READ_BYTES = 256 * 1024
/** What a storage says to a part stands in the head of its answer. */
const LONGEST_ANSWER = 1024 * 1024

export class UploadFileError extends AppError {
  constructor(path: string, reason: string, cause?: unknown) {
    super(`${path} cannot be uploaded: ${reason}`, {
      code: 'E_UPLOAD_FILE',
      exit: EXIT.notFound,
      suggestions: ['Check the path of the archive.'],
      cause,
    })
  }
}

/** The command that sends what is still missing. */
export const uploadCommand = (file: string, keep = true): string =>
  `svcctl enterprise support-package upload ${shellWord(file)}${keep ? '' : ' --no-save'}`

/** Ctrl-C or SIGTERM: the file stays, and so does what has arrived of it. */
export class UploadInterruptedError extends AppError {
  constructor(file: string, keep: boolean) {
    super(`the upload was stopped; ${file} is kept, and what has arrived of it need not be sent again`, {
      code: 'E_UPLOAD_INTERRUPTED',
      exit: EXIT.interrupted,
      suggestions: [`Go on where it stopped: ${uploadCommand(file, keep)}`],
    })
  }
}

/** `--timeout` is over: the same is left as after an interruption. */
export class UploadTimeoutError extends AppError {
  constructor(file: string, keep: boolean, seconds: number) {
    super(`the upload is not done after ${seconds} s; ${file} is kept, and what has arrived of it need not be sent again`, {
      code: 'E_UPLOAD_TIMEOUT',
      exit: EXIT.timeout,
      suggestions: [`Go on where it stopped: ${uploadCommand(file, keep)}`],
    })
  }
}

/** A part that did not arrive, each time with a fresh address. */
export class UploadPartError extends AppError {
  constructor(part: number, file: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(`part ${part} of the upload failed ${TRIES} times: ${reason}`, {
      code: 'E_UPLOAD_PART',
      exit: EXIT.unreachable,
      suggestions: [`Go on where it stopped: ${uploadCommand(file)}`],
      cause,
    })
  }
}

/** The service has another number of bytes than we sent. */
export class UploadSizeError extends AppError {
  constructor(destination: string, file: string, sent: number, there: number | undefined) {
    super(`${destination} has ${there ?? 'an unknown number of'} bytes at the upload service, and ${sent} were sent`, {
      code: 'E_UPLOAD_SIZE',
      suggestions: [`Upload it again (the local file is kept): ${uploadCommand(file)}`],
    })
  }
}

export interface UploadProgress {
  readonly bytes: number
  readonly totalBytes: number
  readonly bytesPerSecond: number
  readonly elapsedMs: number
}

export interface UploadOptions {
  readonly api: FilesApi
  /** The service's address, for telling uploads apart. */
  readonly address: string
  /** For the parts: somebody else's storage, so that it carries no key. */
  readonly openStream: OpenStream
  readonly clock: Clock
  readonly stateDir: string
  readonly uploadDir: string
  readonly idleTimeoutMs: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: UploadProgress) => void
  readonly onResume?: (parts: number) => void
}

export interface Uploaded {
  readonly path: string
  readonly size: number
  readonly elapsedMs: number
}

/**
 * @param file - absolute
 * @throws UploadFileError, UploadRefusedError, UploadPartError, UploadSizeError, ConnectionError
 */
export async function uploadArchive(file: string, options: UploadOptions): Promise<Uploaded> {
  const {clock, address, stateDir, uploadDir} = options
  const began = clock.now()
  const found = await stat(file).catch(cause => {
    throw new UploadFileError(file, 'there is no such file', cause)
  })
  if (!found.isFile() || found.size === 0) throw new UploadFileError(file, found.isFile() ? 'it is empty' : 'it is no file')
  const {size, mtimeMs} = found
  const destination = `${uploadDir.replace(/\/+$/, '')}/${basename(file)}`
  const states = new UploadStateFile(stateDir, {address, destination, file, size, mtimeMs})
  const handle = await open(file, 'r')
  try {
    const upload = new Upload(options, {file, handle, size, mtimeMs, destination, states})
    const there = await upload.run(began)
    if (there !== size) throw new UploadSizeError(destination, file, size, there)
    states.remove()
  } finally {
    await handle.close()
  }
  return {path: destination, size, elapsedMs: clock.now() - began}
}

interface Sending {
  readonly file: string
  readonly handle: FileHandle
  readonly size: number
  readonly mtimeMs: number
  readonly destination: string
  readonly states: UploadStateFile
}

class Upload {
  readonly #options: UploadOptions
  readonly #sending: Sending
  #saving: Promise<void> = Promise.resolve()

  constructor(options: UploadOptions, sending: Sending) {
    this.#options = options
    this.#sending = sending
  }

  /** @returns the size the service has in the end */
  async run(began: number): Promise<number | undefined> {
    const {states} = this.#sending
    const left = states.read(this.#options.clock.now())
    if (left !== undefined) {
      try {
        this.#options.onResume?.(left.parts.length)
        return await this.#send(left, undefined, began)
      } catch (error) {
        // The service has forgotten it, or does not agree about what is there: then from the beginning.
        if (!(error instanceof UploadRefusedError) || ![404, 410, 422].includes(error.status)) throw error
        states.remove()
      }
    }
    const {api, clock} = this.#options
    const {destination, size, mtimeMs} = this.#sending
    const first = await api.begin(destination, size)
    const partSize = partSizeFor(size, first.partSize, first.availableParts)
    const state: UploadState = {
      version: 1,
      ref: first.ref,
      partSize,
      parallel: first.parallel,
      startedAt: clock.now(),
      size,
      mtimeMs,
      parts: [],
    }
    return this.#send(state, first, began)
  }

  async #send(begun: UploadState, first: PartTarget | undefined, began: number): Promise<number | undefined> {
    const {clock, onProgress, api} = this.#options
    const {size, destination, states} = this.#sending
    let state = begun
    const lengthOf = (part: number): number => Math.min(state.partSize, size - (part - 1) * state.partSize)
    const there = new Set(state.parts.map(({part}) => part))
    const missing = Array.from({length: Math.ceil(size / state.partSize)}, (_, at) => at + 1).filter(part => !there.has(part))
    let bytes = [...there].reduce((sum, part) => sum + lengthOf(part), 0)
    const already = bytes
    await states.write(state)
    const worker = async (): Promise<void> => {
      for (let part = missing.shift(); part !== undefined; part = missing.shift()) {
        const etag = await this.#part(state.ref, part, (part - 1) * state.partSize, lengthOf(part), part === 1 ? first : undefined)
        state = {...state, parts: [...state.parts, {part, etag}]}
        bytes += lengthOf(part)
        const elapsedMs = clock.now() - began
        onProgress?.({bytes, totalBytes: size, elapsedMs, bytesPerSecond: ((bytes - already) * 1000) / Math.max(1, elapsedMs)})
        await this.#save(state)
      }
    }
    const failed = (error: unknown) => {
      // The other workers finish the part they are at and take no more.
      missing.length = 0
      throw error
    }
    const workers = Array.from({length: state.parallel ? PARALLEL : 1}, () => worker().catch(failed))
    const outcomes = await Promise.allSettled(workers)
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    const etags = state.parts.toSorted((a, b) => a.part - b.part).map(({etag, part}) => ({etag, part}))
    try {
      return (await api.end(destination, state.ref, etags)) ?? (await api.size(destination))
    } catch (error) {
      // It may have been put together although no answer came.
      if (!(error instanceof UploadServiceUnansweredError) || !error.arrived) throw error
      const size = await api.size(destination)
      if (size === undefined) throw error
      return size
    }
  }

  /** One after the other, or an older state could come last. */
  #save(state: UploadState): Promise<void> {
    this.#saving = this.#saving.then(() => this.#sending.states.write(state))
    return this.#saving
  }

  async #part(ref: string, part: number, from: number, length: number, given: PartTarget | undefined): Promise<string> {
    const {destination, file} = this.#sending
    return tryAgain(async attempt => {
      // After the first time its address may be spent or expired; a fresh one costs one request.
      const target = (attempt === 1 ? given : undefined) ?? (await this.#options.api.part(destination, ref, part))
      const tried = await this.#put(target, part, from, length)
      if (typeof tried === 'string') return {done: tried}
      if (attempt >= TRIES) throw new UploadPartError(part, file, tried)
      return {waitMs: retryDelayMs(attempt) ?? 0}
    }, this.#options)
  }

  /** @returns the part's etag, or why there is none */
  async #put(target: PartTarget, part: number, from: number, length: number): Promise<string | Error> {
    const {openStream, idleTimeoutMs, signal} = this.#options
    try {
      const response = await openStream({
        method: target.method,
        url: target.uri,
        headers: {...target.headers, 'content-length': String(length)},
        body: slice(this.#sending.handle, from, length),
        firstByteTimeoutMs: idleTimeoutMs,
        idleTimeoutMs,
        ...(signal && {signal}),
      })
      await endOf(response.body)
      const {etag} = response.headers
      if (response.status >= 200 && response.status < 300 && etag !== undefined) return etag
      return new Error(
        `the storage answered ${response.status}${etag === undefined && response.status < 300 ? ' without an ETag' : ''} to part ${part}`,
      )
    } catch (error) {
      if (error instanceof ConnectionError && error.failure !== 'aborted') return error
      throw error
    }
  }
}

/** Until all of it came, so that the connection can be used again; one that has no end is closed. */
async function endOf(body: AsyncIterable<Uint8Array>): Promise<void> {
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > LONGEST_ANSWER) return
  }
}

/** The service's size, grown so that its number of parts suffices, and no more than 10 000; whole mebibytes. */
export function partSizeFor(size: number, partSize: number, parts: number): number {
  const needed = Math.ceil(size / Math.min(parts, MOST_PARTS))
  const MIB = 1024 * 1024
  return needed <= partSize ? partSize : Math.ceil(needed / MIB) * MIB
}

async function* slice(file: FileHandle, from: number, length: number): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < length; ) {
    const piece = Buffer.allocUnsafe(Math.min(READ_BYTES, length - done))
    const {bytesRead} = await file.read(piece, 0, piece.length, from + done)
    if (bytesRead === 0) throw new UploadFileError('the archive', 'it became shorter while it was sent')
    yield piece.subarray(0, bytesRead)
    done += bytesRead
  }
}
