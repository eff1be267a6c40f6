/**
 * The file of one stack's audit on this machine: only ever written at its end, a line whole or not at all.
 *
 * Whoever writes takes a lock for the moment that it takes, because holds and freezes are written while an apply is. A
 * file need not have the whole chain: other machines write other parts of it, and the ledger knows how far it has come.
 * A line that goes on from there says what its file has before it (`here`), so that nobody can take lines away and have
 * them look like another machine's.
 */
import {closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, type Stats, statSync, writeSync} from 'node:fs'
import {dirname} from 'node:path'
import {syncFolder} from '../base/atomic-file.ts'
import {fileAt, NotAFileError} from '../base/file-place.ts'
import {makeFolder} from '../base/make-folder.ts'
import {largest} from '../base/many.ts'
import {type HolderState, type LockHolder, type ProcessLock, tryProcessLock} from '../base/process-lock.ts'
import {type ChainedLine, type ChainHead, chained, isOwn, NOTHING, readLine, type Seam, statedSeq, type UnchainedEntry} from './entry.ts'
import {AuditLockedError} from './errors.ts'
import {linesBack} from './lines.ts'

/** Twelve digits that name a file of the chain: the beginning of its first line's hash. */
const ID_DIGITS = 12
const FIRST_LINE = 64 * 1024

/** How lines begin: what is left of one that its writer died at, too. */
const BEGINNINGS = ['{"action":"', '{"actor":{"']
const ENOUGH = 64

/** Who writes, and how it sees others that do. */
export interface LockTools {
  readonly holder: () => LockHolder
  readonly stateOf: (holder: LockHolder) => HolderState
}

/** What is known of the chain beside what the file has. */
export interface KnownChain extends ChainHead {
  /** Those that are no more are `isHere` too. */
  readonly files: readonly ({readonly file: string; readonly isHere: boolean} & ChainHead)[]
}

/**
 * `rewritten`: another program wrote the ledger, and what it knew is lost. `silent`: it says nothing of an audit, and may
 * never have. `undefined`: there is none.
 */
export type Known = KnownChain | 'rewritten' | 'silent' | undefined

export interface Written {
  readonly file: string
  readonly head: ChainHead
  /** Those that were written, behind those that the file had beyond what was known. */
  readonly lines: readonly ChainedLine[]
}

interface Tail {
  /** Bytes up to the end of the last whole line. */
  readonly size: number
  /** Absent: there is no line. */
  readonly head?: ChainHead
  /** The last line is as it was written. */
  readonly intact: boolean
}

export class ChainFile {
  readonly path: string
  readonly lockPath: string
  readonly #tools: LockTools
  /** The file as this process left it: whoever finds it so need not read it. */
  #left: {readonly stats: Pick<Stats, 'dev' | 'ino' | 'size'>; readonly tail: Tail} | undefined
  #mine: ChainHead | undefined
  #id: string | undefined
  #file: number | undefined

  /** @throws NotAFileError */
  constructor(path: string, tools: LockTools) {
    this.path = fileAt(path, {kept: true})
    this.lockPath = `${this.path}.lock`
    this.#tools = tools
  }

  /**
   * Writes lines behind each other, if nobody else is writing just now; of none the answer says how far the chain has come.
   *
   * @returns `undefined` when somebody is
   * @throws the system's error, with the file as it was
   */
  append(entries: readonly UnchainedEntry[], known: Known): Written | undefined {
    makeFolder(dirname(this.path), 0o700)
    const lock = this.#lock()
    if (lock === undefined) return undefined
    try {
      return this.#append(entries, known)
    } finally {
      lock.release()
    }
  }

  /** All that was appended is on the disk when it returns. */
  sync(): void {
    if (this.#file !== undefined) fsyncSync(this.#file)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
    this.#left = undefined
  }

  /** Whoever has the lock, for whoever waits too long. */
  locked(): AuditLockedError {
    const attempt = tryProcessLock(this.lockPath, this.#tools.holder(), this.#tools.stateOf)
    if (attempt.held) attempt.lock.release()
    const holder = attempt.held ? undefined : attempt.holder
    return new AuditLockedError(this.path, this.lockPath, holder ? `pid ${holder.pid} on ${holder.host}` : 'somebody')
  }

  #lock(): ProcessLock | undefined {
    const attempt = tryProcessLock(this.lockPath, this.#tools.holder(), this.#tools.stateOf)
    return attempt.held ? attempt.lock : undefined
  }

  #append(entries: readonly UnchainedEntry[], known: Known): Written {
    this.#open()
    const isNew = this.#file === undefined
    const tail = this.#tail()
    let {after, seam, ahead} = this.#next(tail, known)
    if (entries.length === 0) return {file: this.#id ?? '', head: {seq: after.seq, hash: after.hash}, lines: ahead}
    const lines: ChainedLine[] = []
    for (const entry of entries) {
      const line = chained(entry, after, seam)
      lines.push(line)
      after = line.entry
      seam = undefined
    }
    const file = this.#file ?? openSync(this.path, constants.O_RDWR | constants.O_CREAT, 0o600)
    this.#file = file
    const bytes = Buffer.from(lines.map(it => `${it.text}\n`).join(''))
    this.#assertOwnEnd(file, tail.size)
    try {
      if (fstatSync(file).size > tail.size) ftruncateSync(file, tail.size)
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, tail.size + done)
    } catch (error) {
      this.#left = undefined
      // What cannot be taken back is torn, and whoever writes next does it.
      try {
        ftruncateSync(file, tail.size)
      } catch {}
      throw error
    }
    if (isNew) syncFolder(dirname(this.path))
    const head = {seq: after.seq, hash: after.hash}
    this.#mine = head
    this.#id ||= this.#idOf(lines[0])
    this.#left = {stats: statSync(this.path), tail: {size: tail.size + bytes.length, head, intact: true}}
    return {file: this.#id, head, lines: [...ahead, ...lines]}
  }

  /** Of what is behind the last whole line only what a writer died at is taken back: anybody's file may be here. @throws NotAFileError */
  #assertOwnEnd(file: number, size: number): void {
    const bytes = Buffer.alloc(Math.min(fstatSync(file).size - size, ENOUGH))
    const end = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, size))
    // Zeros are what a disk may have of a line when the power went.
    if (!/[^\0]/.test(end) || BEGINNINGS.some(it => end.startsWith(it) || it.startsWith(end))) return
    throw new NotAFileError(this.path, 'ends with something that is no line of an audit, and it is not cut off', {kept: true})
  }

  /** What the next line follows, and what stands before it where that is another one. */
  #next({head, intact, size}: Tail, word: Known): {after: ChainHead; seam?: Seam; ahead: readonly ChainedLine[]} {
    const known = typeof word === 'string' ? undefined : word
    const base = this.#mine ?? (known && {seq: known.seq, hash: known.hash})
    const at = head ?? {seq: 0, hash: NOTHING}
    // Others may have gone further, and nobody can tell any more: the line says that it was so.
    const isLost = intact && (word === 'rewritten' || (word === 'silent' && head !== undefined))
    if (base === undefined) return {after: at, ...(isLost && {seam: at}), ahead: []}
    if (head !== undefined && intact) {
      const ahead = isSame(head, base) ? [] : this.#behind(base, size)
      if (ahead !== undefined) return {after: head, ahead}
    }
    const own = known?.files.filter(it => it.isHere || it.file === this.#id) ?? []
    const had = this.#mine?.seq ?? largest([0, ...own.map(it => it.seq)])
    return {after: base, seam: {...at, ...(had > at.seq ? {had} : {})}, ahead: []}
  }

  /** The lines behind one of the last ones, of a run that did not come to its end; `undefined` where that one is not there. */
  #behind(wanted: ChainHead, size: number): readonly ChainedLine[] | undefined {
    if (this.#file === undefined) return undefined
    const found: ChainedLine[] = []
    for (const {text} of linesBack(this.#file, size)) {
      const entry = readLine(text)
      if (entry !== undefined && isSame(entry, wanted)) return found.reverse()
      if (entry === undefined || entry.seq <= wanted.seq) return undefined
      found.push({entry, text})
      if (entry.prev === wanted.hash) return found.reverse()
      if (entry.here !== undefined && !isOwn(entry)) return undefined
    }
    return undefined
  }

  /** Opens the file where it is another one than before, or was written by somebody else. */
  #open(): void {
    const now = statSync(this.path, {throwIfNoEntry: false})
    const left = this.#left?.stats
    if (now !== undefined && left?.dev === now.dev && left.ino === now.ino && left.size === now.size) return
    this.close()
    this.#id = undefined
    if (now === undefined) return
    this.#file = openSync(this.path, 'r+')
    this.#id = now.size === 0 ? undefined : this.#idOf(undefined)
  }

  #tail(): Tail {
    const file = this.#file
    if (this.#left !== undefined) return this.#left.tail
    if (file === undefined) return {size: 0, intact: true}
    for (const {text, end} of linesBack(file, fstatSync(file).size)) {
      const entry = readLine(text)
      if (entry !== undefined) return {size: end, head: {seq: entry.seq, hash: entry.hash}, intact: true}
      return {size: end, head: {seq: statedSeq(text) ?? 0, hash: NOTHING}, intact: false}
    }
    return {size: 0, intact: true}
  }

  #idOf(first: ChainedLine | undefined): string {
    if (first !== undefined) return first.entry.hash.slice(0, ID_DIGITS)
    const bytes = Buffer.alloc(FIRST_LINE)
    const count = this.#file === undefined ? 0 : readSync(this.#file, bytes, 0, FIRST_LINE, 0)
    const end = bytes.subarray(0, count).indexOf('\n')
    return end < 0 ? '' : fileIdOf(readLine(bytes.toString('utf8', 0, end)))
  }
}

/** Of a file by its first line; empty where that is not as it was written. */
export const fileIdOf = (first: ChainHead | undefined): string => first?.hash.slice(0, ID_DIGITS) ?? ''

const isSame = (a: ChainHead, b: ChainHead): boolean => a.seq === b.seq && a.hash === b.hash
