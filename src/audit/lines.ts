/** The lines of a file, without having all of it in memory: from its beginning, and from its end. */
import {closeSync, openSync, readSync} from 'node:fs'
import {isAbsent} from '../base/system-code.ts'
import {AuditReadError} from './errors.ts'

const CHUNK = 64 * 1024
/** No line of ours is as long; what is, is not kept in memory. */
const LONGEST = 1024 * 1024

const BREAK = 0x0a

/** @returns lines without their breaks; the last one is `torn` where it has none: its writer died */
export function* linesOf(path: string): Generator<{readonly text: string; readonly torn: boolean}> {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    throw new AuditReadError(path, error)
  }
  try {
    let rest: Buffer = Buffer.alloc(0)
    for (let at = 0; ; ) {
      const chunk = Buffer.allocUnsafe(CHUNK)
      const count = readSync(file, chunk, 0, CHUNK, at)
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
