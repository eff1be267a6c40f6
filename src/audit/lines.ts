/** The lines of a file, without having all of it in memory: from its beginning, and from its end. */
import {closeSync, constants, fstatSync, openSync, readSync} from 'node:fs'
import {isAbsent} from '../base/system-code.ts'
import {AuditReadError} from './errors.ts'

const CHUNK = 64 * 1024
/** No line of ours is as long; what is, is not kept in memory. */
const LONGEST = 1024 * 1024

const BREAK = 0x0a

export interface OpenAudit {
  readonly file: number
  /** What it had when it was opened: what comes later is read another time. */
  readonly size: number
}

/** A FIFO or a device may have no end, or keep whoever opens it. @throws AuditReadError */
export function openAudit(path: string): OpenAudit {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new Error('it is no file')
    return {file, size: stats.size}
  } catch (error) {
    if (file !== undefined) closeSync(file)
    throw new AuditReadError(path, error)
  }
}

interface Line {
  /** Without its break. */
  readonly text: string
  /** It has none: its writer died. */
  readonly torn: boolean
}

/** @throws AuditReadError */
export function* linesOf(path: string): Generator<Line> {
  yield* linesIn(openAudit(path), path)
}

/** As `linesOf`; `undefined` where there is no file. To be read to the end. @throws AuditReadError */
export function linesIfThere(path: string): Iterable<Line> | undefined {
  try {
    return linesIn(openAudit(path), path)
  } catch (error) {
    if (error instanceof AuditReadError && isAbsent(error.cause)) return undefined
    throw error
  }
}

function* linesIn({file, size}: OpenAudit, path: string): Generator<Line> {
  const line = new LineParts()
  try {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size))
    for (let at = 0; at < size; ) {
      const count = readSync(file, chunk, 0, Math.min(chunk.length, size - at), at)
      if (count === 0) break
      at += count
      const bytes = chunk.subarray(0, count)
      let start = 0
      for (let end = bytes.indexOf(BREAK); end >= 0; end = bytes.indexOf(BREAK, start)) {
        yield {text: line.endedBy(bytes.subarray(start, end)), torn: false}
        start = end + 1
      }
      line.append(bytes.subarray(start))
    }
    if (!line.isEmpty) yield {text: line.endedBy(Buffer.of()), torn: true}
  } catch (error) {
    throw error instanceof AuditReadError ? error : new AuditReadError(path, error)
  } finally {
    closeSync(file)
  }
}

/** What is known of a line that goes on in another chunk: of one that is far too long the beginning, which says as much as the whole. */
class LineParts {
  #parts: Buffer[] = []
  #size = 0

  get isEmpty(): boolean {
    return this.#size === 0
  }

  /** The bytes are copied: the chunk is read into again. */
  append(bytes: Buffer): void {
    const part = bytes.subarray(0, LONGEST - this.#size)
    if (part.length > 0) this.#parts.push(Buffer.from(part))
    this.#size += part.length
  }

  prepend(bytes: Buffer): void {
    const part = Buffer.from(bytes.subarray(0, LONGEST))
    this.#parts.unshift(part)
    this.#size += part.length
    while (this.#size > LONGEST) {
      const last = this.#parts.pop() ?? Buffer.of()
      const rest = last.subarray(0, Math.max(0, LONGEST - this.#size + last.length))
      if (rest.length > 0) this.#parts.push(rest)
      this.#size -= last.length - rest.length
    }
  }

  /** The whole line, and the next one begins. */
  endedBy(bytes: Buffer): string {
    if (this.isEmpty) return bytes.toString()
    this.append(bytes)
    return this.#taken()
  }

  begunBy(bytes: Buffer): string {
    if (this.isEmpty) return bytes.toString()
    this.prepend(bytes)
    return this.#taken()
  }

  #taken(): string {
    const text = Buffer.concat(this.#parts).toString()
    this.#parts = []
    this.#size = 0
    return text
  }
}

/**
 * Whole lines, the last one first.
 * @param size - up to where the file counts
 * @returns each with the place where it ends, behind its break; a torn end is passed over
 */
export function* linesBack(file: number, size: number): Generator<{readonly text: string; readonly end: number}> {
  const line = new LineParts()
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size))
  let end: number | undefined
  for (let start = size; start > 0; ) {
    const count = Math.min(chunk.length, start)
    start -= count
    readSync(file, chunk, 0, count, start)
    let bytes = chunk.subarray(0, count)
    for (let at = bytes.lastIndexOf(BREAK); at >= 0; at = bytes.lastIndexOf(BREAK)) {
      if (end !== undefined) yield {text: line.begunBy(bytes.subarray(at + 1)), end}
      end = start + at + 1
      bytes = bytes.subarray(0, at)
    }
    if (end !== undefined) line.prepend(bytes)
  }
  if (end !== undefined) yield {text: line.begunBy(Buffer.of()), end}
}
