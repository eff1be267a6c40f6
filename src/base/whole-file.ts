/**
 * Files that are read into memory as a whole, up to a bound: what a path leads to may be larger than any memory, or have
 * no end at all. Files of a project have bounds of their own (`ReadAllowance`).
 *
 * A FIFO is opened without waiting for who writes into it: a thread that waits in the system keeps the process from ending.
 * What is no pipe and no terminal, and has nothing to give when it is asked, may never have: the kernel's own files below
 * `/proc` and `/sys`, which look like regular ones, and devices.
 */
import {closeSync, constants, promises as files, fstatSync, openSync, readSync, realpathSync, type Stats} from 'node:fs'
import {systemClock} from './clock.ts'
import {systemCode} from './system-code.ts'
import {waitFor} from './wait-for.ts'

const LARGEST_FILE_BYTES = 192 * 1_048_576
const PART_BYTES = 262_144
const READ_ONLY = constants.O_RDONLY | constants.O_NONBLOCK
const LOOK_MS = 20
/** Five seconds for somebody to open the other end of a FIFO. */
const LOOKS_FOR_WRITER = 250

/** With a code as the system's own errors have one, since who reads a file says in its own words that it cannot be read. */
export abstract class UnreadableFileError extends Error {
  abstract readonly code: string
}

class FileTooLargeError extends UnreadableFileError {
  readonly code = 'EFBIG'

  constructor(path: string, largest: number) {
    super(`${path} is larger than ${largest} bytes`)
  }
}

class NotAFileError extends UnreadableFileError {
  readonly code = 'EINVAL'

  constructor(path: string) {
    super(`${path} is no regular file`)
  }
}

class NoWriterError extends UnreadableFileError {
  readonly code = 'ETIMEDOUT'

  constructor(path: string) {
    super(`nobody writes into ${path}`)
  }
}

class NothingToReadError extends UnreadableFileError {
  readonly code = 'EAGAIN'

  constructor(path: string) {
    super(`${path} has nothing to read now, and is nothing to wait for`)
  }
}

/**
 * Its bytes, in parts. A FIFO is waited for until somebody writes into it (five seconds), and then for as long as that takes.
 *
 * @throws NoWriterError, NothingToReadError, and the system's errors
 */
export async function* partsOfFile(path: string): AsyncGenerator<Buffer> {
  const handle = await files.open(path, READ_ONLY)
  try {
    const source = new Source(path, handle.fd, await handle.stat())
    const look = () => handle.read(Buffer.allocUnsafe(PART_BYTES), 0, PART_BYTES, null).catch(error => source.notYet(error))
    for (;;) {
      const part = await waitFor(async () => source.taken(await look()), {
        clock: systemClock,
        everyMs: LOOK_MS,
        timeoutMs: Number.POSITIVE_INFINITY,
      })
      if (part === undefined || part.length === 0) return
      yield part
    }
  } finally {
    await handle.close()
  }
}

/** @throws FileTooLargeError, NoWriterError, NothingToReadError, and the system's errors */
export async function readWholeFile(path: string, largest = LARGEST_FILE_BYTES): Promise<Buffer> {
  const whole = new Whole(path, largest, await files.stat(path))
  for await (const part of partsOfFile(path)) whole.add(part)
  return whole.bytes()
}

/** As `readWholeFile`, of what is open already: standard input. @throws FileTooLargeError */
export async function readWholeStream(
  source: AsyncIterable<string | Uint8Array>,
  name: string,
  largest = LARGEST_FILE_BYTES,
): Promise<Buffer> {
  const whole = new Whole(name, largest)
  for await (const part of source) whole.add(Buffer.from(part))
  return whole.bytes()
}

/** @throws FileTooLargeError, NoWriterError, NothingToReadError, and the system's errors */
export function readWholeFileSync(path: string, largest = LARGEST_FILE_BYTES): Buffer {
  const file = openSync(path, READ_ONLY)
  try {
    const stats = fstatSync(file)
    const whole = new Whole(path, largest, stats)
    const source = new Source(path, file, stats)
    for (;;) {
      const part = source.taken(readOnce(file, source))
      if (part?.length === 0) return whole.bytes()
      if (part === undefined) pause()
      else whole.add(part)
    }
  } finally {
    closeSync(file)
  }
}

/**
 * Of a file that is written by this program, or by a tool beside it: a device or FIFO in its place (a link that a
 * repository brings along) has no end, or nobody who writes into it.
 *
 * @throws FileTooLargeError, NotAFileError, NothingToReadError, and the system's errors
 */
export function readKeptFileSync(path: string, largest = LARGEST_FILE_BYTES): Buffer {
  const file = openSync(path, READ_ONLY)
  try {
    const stats = kept(path, fstatSync(file))
    const source = new Source(path, file, stats)
    const whole = new Whole(path, largest, stats)
    for (
      let part = source.taken(readOnce(file, source));
      part !== undefined && part.length > 0;
      part = source.taken(readOnce(file, source))
    )
      whole.add(part)
    return whole.bytes()
  } finally {
    closeSync(file)
  }
}

/** As `readKeptFileSync`, with what the system says of the very file that was read. @throws as that does */
export async function readKeptFile(path: string, largest = LARGEST_FILE_BYTES): Promise<{readonly bytes: Buffer; readonly stats: Stats}> {
  const handle = await files.open(path, READ_ONLY)
  try {
    const stats = kept(path, await handle.stat())
    const source = new Source(path, handle.fd, stats)
    const whole = new Whole(path, largest, stats)
    for (;;) {
      const read = await handle.read(Buffer.allocUnsafe(PART_BYTES), 0, PART_BYTES, null).catch(error => source.notYet(error))
      const part = source.taken(read)
      if (part === undefined || part.length === 0) return {bytes: whole.bytes(), stats}
      whole.add(part)
    }
  } finally {
    await handle.close()
  }
}

function kept(path: string, stats: Stats): Stats {
  if (!stats.isFile()) throw new NotAFileError(path)
  return stats
}

/** Whether a file is none that a program keeps, or one that is far too large: what stands there is somebody else's. */
export const isNotKept = (error: unknown): boolean =>
  error instanceof FileTooLargeError || error instanceof NotAFileError || error instanceof NothingToReadError

interface Read {
  readonly buffer: Buffer
  readonly bytesRead: number
}

function readOnce(file: number, source: Source): Read | undefined {
  const buffer = Buffer.allocUnsafe(PART_BYTES)
  try {
    return {buffer, bytesRead: readSync(file, buffer, 0, PART_BYTES, null)}
  } catch (error) {
    return source.notYet(error)
  }
}

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)

/** Few ever ask, and everybody starts: `node:tty` brings sockets with it. */
const isTerminal = (file: number): boolean => process.getBuiltinModule('node:tty').isatty(file)

/** Tells the end of a file from a FIFO that nobody has written into yet. */
class Source {
  readonly #path: string
  readonly #hasOtherEnd: boolean
  #mayStart: boolean
  #looks = 0

  constructor(path: string, file: number, stats: Stats) {
    this.#path = path
    this.#hasOtherEnd = stats.isFIFO() || stats.isSocket() || (stats.isCharacterDevice() && isTerminal(file))
    this.#mayStart = stats.isFIFO() && hasName(path)
  }

  /** The other end is open, and nothing has come. @throws the error, where it says anything else; NothingToReadError where there is no other end */
  notYet(error: unknown): undefined {
    if (systemCode(error) !== 'EAGAIN') throw error
    if (!this.#hasOtherEnd) throw new NothingToReadError(this.#path)
  }

  /**
   * @returns `undefined` for "not yet", an empty part for the end
   * @throws NoWriterError
   */
  taken(read: Read | undefined): Buffer | undefined {
    if (read === undefined) {
      this.#mayStart = false
      return undefined
    }
    if (read.bytesRead === 0 && this.#mayStart) {
      if (++this.#looks > LOOKS_FOR_WRITER) throw new NoWriterError(this.#path)
      return undefined
    }
    this.#mayStart = false
    return read.buffer.subarray(0, read.bytesRead)
  }
}

/** A pipe of `<(…)` has none: nobody opens its other end a second time. */
function hasName(path: string): boolean {
  try {
    realpathSync.native(path)
    return true
  } catch {
    return false
  }
}

class Whole {
  readonly #path: string
  readonly #largest: number
  /** As long as the file says it is, so that what is large is in memory once. */
  readonly #room: Buffer
  /** What did not fit there: of a pipe everything. */
  readonly #parts: Buffer[] = []
  #bytes = 0

  /**
   * @param stats - of a file that has its length before it is read
   * @throws FileTooLargeError without reading any of it
   */
  constructor(path: string, largest: number, stats?: Stats) {
    const size = stats?.isFile() ? stats.size : 0
    if (size > largest) throw new FileTooLargeError(path, largest)
    this.#path = path
    this.#largest = largest
    this.#room = Buffer.allocUnsafe(size)
  }

  add(part: Buffer): void {
    const before = this.#bytes
    this.#bytes += part.length
    if (this.#bytes > this.#largest) throw new FileTooLargeError(this.#path, this.#largest)
    if (before < this.#room.length) part.copy(this.#room, before)
    const fitted = Math.max(0, Math.min(part.length, this.#room.length - before))
    if (fitted < part.length) this.#parts.push(part.subarray(fitted))
  }

  bytes(): Buffer {
    if (this.#parts.length === 0) return this.#room.subarray(0, this.#bytes)
    return Buffer.concat([this.#room, ...this.#parts], this.#bytes)
  }
}
