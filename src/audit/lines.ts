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

/** @returns lines without their breaks; the last one is `torn` where it has none: its writer died */
export function* linesOf(path: string): Generator<{readonly text: string; readonly torn: boolean}> {
  const {file, size} = openAudit(path)
  try {
    let rest: Buffer = Buffer.alloc(0)
    for (let at = 0; at < size; ) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size - at))
      const count = readSync(file, chunk, 0, chunk.length, at)
      if (count === 0) break
      at += count
      const bytes = rest.length === 0 ? chunk.subarray(0, count) : Buffer.concat([rest, chunk.subarray(0, count)])
      let start = 0
      for (let end = bytes.indexOf(BREAK); end >= 0; end = bytes.indexOf(BREAK, start)) {
        yield {text: bytes.toString('utf8', start, end), torn: false}
        start = end + 1
      }
      // Of a line that is far too long the beginning says as much as the whole: that it is none of ours.
      rest = bytes.subarray(start, start + LONGEST)
    }
    if (rest.length > 0) yield {text: rest.toString('utf8'), torn: true}
  } catch (error) {
    throw error instanceof AuditReadError ? error : new AuditReadError(path, error)
  } finally {
    closeSync(file)
  }
}

/** As `linesOf`; no lines where there is no file. @throws AuditReadError */
export function* linesIfThere(path: string): ReturnType<typeof linesOf> {
  try {
    yield* linesOf(path)
  } catch (error) {
    if (!(error instanceof AuditReadError && isAbsent(error.cause))) throw error
  }
}

/**
 * Whole lines, the last one first.
 * @param size - up to where the file counts
 * @returns each with the place where it ends, behind its break; a torn end is passed over
 */
export function* linesBack(file: number, size: number): Generator<{readonly text: string; readonly end: number}> {
  let start = size
  let bytes: Buffer = Buffer.alloc(0)
  let end: number | undefined
  for (;;) {
    let at = bytes.lastIndexOf(BREAK)
    while (at >= 0) {
      if (end !== undefined) yield {text: bytes.toString('utf8', at + 1), end}
      end = start + at + 1
      bytes = bytes.subarray(0, at)
      at = bytes.lastIndexOf(BREAK)
    }
    if (start === 0) break
    const count = Math.min(CHUNK, start)
    const chunk = Buffer.allocUnsafe(count)
    start -= count
    readSync(file, chunk, 0, count, start)
    bytes = Buffer.concat([chunk, end === undefined ? Buffer.alloc(0) : bytes.subarray(0, LONGEST)])
  }
  if (end !== undefined) yield {text: bytes.toString('utf8'), end}
}
