/**
 * The one place that writes a file a person named (`--out`): a file is replaced as a whole or not at all, a device or a
 * FIFO is written to, as a shell would, and everything else is refused.
 */
import {constants, promises as files, openSync} from 'node:fs'
import {Socket} from 'node:net'
import {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import {writeFileAtomic} from './atomic-file.ts'
import type {Clock} from './clock.ts'
import {AppError} from './errors.ts'
import {placeToWrite} from './file-place.ts'
import {systemCode} from './system-code.ts'
import {waitFor} from './wait-for.ts'

/** The place is right and the system said no: a full disk, no permission, a reader that went away. */
export class NamedFileError extends AppError {
  constructor(path: string, cause: unknown) {
    const code = systemCode(cause)
    super(`${path} could not be written${code === undefined ? '' : ` (${code})`}`, {
      code: 'E_FILE_WRITE',
      suggestions: [
        code === 'ENOSPC'
          ? `Free some space where ${path} is, or name another file, then run the command again.`
          : code === 'EPIPE'
            ? `Whoever reads ${path} went away before the end: run the command again with a reader that stays.`
            : `Check that ${path} may be written, or name another file, then run the command again.`,
      ],
      cause,
    })
  }
}

export interface NamedFileHost {
  readonly clock: Clock
  /** Where a relative path begins. */
  readonly cwd: string
}

/**
 * @param data - a large text in parts
 * @throws NotAFileError, NamedFileError
 */
export async function writeNamedFile(path: string, data: string | Iterable<string>, {clock, cwd}: NamedFileHost): Promise<void> {
  try {
    const place = placeToWrite(path, cwd)
    if (place.is === 'file') await writeFileAtomic(place.path, data, {mode: 0o600})
    else await pourInto(place.path, place.fifo, bytesOf(data), clock)
  } catch (error) {
    throw error instanceof AppError ? error : new NamedFileError(path, error)
  }
}

/** As `writeNamedFile`, behind what a file has already. @throws as that does */
export async function appendToNamedFile(path: string, text: string, {clock, cwd}: NamedFileHost): Promise<void> {
  try {
    const place = placeToWrite(path, cwd)
    if (place.is === 'file') await files.appendFile(place.path, text)
    else await pourInto(place.path, place.fifo, bytesOf(text), clock)
  } catch (error) {
    throw error instanceof AppError ? error : new NamedFileError(path, error)
  }
}

function* bytesOf(data: string | Iterable<string>): Generator<Buffer> {
  if (typeof data === 'string') yield Buffer.from(data)
  else for (const part of data) yield Buffer.from(part)
}

const FIFO_LOOK_MS = 50

/** All of the bytes into a device or a FIFO. A FIFO waits for its reader for as long as that takes. @throws the system's error */
export async function pourInto(
  path: string,
  fifo: boolean,
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  if (fifo) {
    // Opened without waiting: a thread that waits in the system for a reader keeps the whole process from ending.
    const handle = await waitFor(async () => openForReader(path), {
      clock,
      everyMs: FIFO_LOOK_MS,
      timeoutMs: Number.POSITIVE_INFINITY,
      ...(signal && {signal}),
    })
    if (handle === undefined) throw new RangeError('a wait without an end has ended')
    const socket = new Socket({fd: handle, readable: false, writable: true})
    await pipeline(Readable.from(bytes, {objectMode: false}), socket, {...(signal && {signal})})
    return
  }
  const device = await files.open(path, constants.O_WRONLY)
  try {
    for await (const chunk of bytes) {
      for (let done = 0; done < chunk.length; ) done += (await device.write(chunk, done, chunk.length - done)).bytesWritten
    }
  } finally {
    await device.close()
  }
}

/** `undefined` while nobody reads. */
function openForReader(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (systemCode(error) === 'ENXIO') return undefined
    throw error
  }
}
