/**
 * A journal: one JSON line per entry, each with its number and a checksum, only ever written at the end. An entry is
 * in it or not: after a failed write the file is cut back to the last whole one. What entries mean is the engine's.
 *
 * `{"sum":"<16 hex digits over the rest>","seq":1,"entry":{…}}`; the first line is the header.
 */
import {createHash} from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import {basename, dirname, join} from 'node:path'
import {writeFileAtomicSync} from '../base/atomic-file.ts'
import {parseJson} from '../base/bounded-json.ts'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {fileAt, NotAFileError} from '../base/file-place.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {makeFolder} from '../base/make-folder.ts'
import {partOfPath} from '../base/path-part.ts'
import {type RandomBytes, randomHex} from '../base/random.ts'
import {shellWord} from '../base/shell-word.ts'
import {isAbsent, systemCode} from '../base/system-code.ts'
import {readKeptFileSync} from '../base/whole-file.ts'

const FORMAT = 'svcctl.journal/1'
const FAMILY = /^svcctl\.journal\//
const RUN_FILE = /^(\d{8}T\d{9}-[0-9a-f]{6})\.jsonl$/
const SUM_DIGITS = 16

export interface JournalFile {
  readonly path: string
  /**
   * On the disk when it returns, unless `fsync` is false.
   *
   * @returns the entry's number, from 1
   * @throws JournalWriteError: the entry is not in the journal; also once it is closed
   */
  append(entry: JsonObject, options?: {readonly fsync?: boolean}): number
  /** Whoever still has something to say is not heard. */
  close(): void
}

export interface JournalContent {
  readonly header: JsonObject
  readonly entries: readonly JsonObject[]
  /** The last line was cut short: its writer died while writing it, before it acted on it. */
  readonly torn: boolean
  /** Lines in the middle that are missing or not what was written: `entries` has all the others. */
  readonly damage?: string
}

/** What a run whose journal cannot be written any more still knows: all there is to go on from. */
export interface ResumeRecord {
  readonly run: string
  /** Requests that are open: by `stack:address`, what was asked for and what is known of it. */
  readonly open: readonly {readonly address: string; readonly message: string}[]
}

/** Full disk, broken disk, folder gone. */
export class JournalWriteError extends AppError {
  readonly path: string

  /** @param record - absent: the run has not begun, and sent nothing */
  constructor(path: string, cause: unknown, record?: ResumeRecord) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error'
    const next = record === undefined ? 'then run the command again' : `then run "svcctl apply --resume ${record.run}"`
    super(`Could not write the journal ${path} (${code}); nothing more is sent.`, {
      code: 'E_JOURNAL_WRITE',
      suggestions: [
        code === 'ENOSPC'
          ? `Free space on the disk that holds ${dirname(path)}, ${next}.`
          : `Make sure that ${dirname(path)} is a folder you can write to, on a disk with free space, ${next}.`,
      ],
      ...(record === undefined ? {} : {problems: record.open}),
      cause,
    })
    this.path = path
  }
}

/** Written by another version. */
export class JournalVersionError extends AppError {
  constructor(path: string, format: string) {
    super(`The journal ${path} has the format ${format}; this version reads ${FORMAT}.`, {
      code: 'E_JOURNAL_VERSION',
      suggestions: [`Finish that run with the version of svcctl that began it: svcctl apply --resume ${basename(path, '.jsonl')}`],
    })
  }
}

/** Somebody else writes into it, which takes no longer than a moment. */
export class JournalLockedError extends AppError {
  constructor(path: string, holder: {readonly pid: number; readonly host: string} | undefined) {
    const who = holder === undefined ? 'Somebody' : `pid ${holder.pid} on ${holder.host}`
    super(`${who} has been writing the journal ${path} for longer than it takes; nothing was sent.`, {
      code: 'E_JOURNAL_LOCKED',
      exit: EXIT.locked,
      suggestions: ['Run the command again. If it ends so each time, look whether that process still runs, and end it if it hangs.'],
    })
  }
}

/** Its beginning cannot be read: nobody can tell which run it is of. */
export class JournalDamagedError extends AppError {
  readonly path: string

  constructor(path: string, what: string) {
    super(`The journal ${path} is damaged: ${what}.`, {
      code: 'E_JOURNAL_DAMAGED',
      suggestions: ['Run "svcctl apply": it sets the journal aside, and what that run created is found by its name.'],
    })
    this.path = path
  }
}

/** There is no such run here, or it may not be read. */
export class JournalMissingError extends AppError {
  constructor(path: string, cause: unknown) {
    const isThere = systemCode(cause) !== undefined && !isAbsent(cause)
    super(isThere ? `The journal ${path} cannot be read (${systemCode(cause)}).` : `There is no journal ${path}.`, {
      code: 'E_JOURNAL_MISSING',
      exit: EXIT.notFound,
      suggestions: isThere
        ? [
            'Make sure that it is a file that you can read: it may be of somebody else who ran svcctl here. Then run the command again.',
            `Where nobody can, move it away (what that run created is found by its name): mv ${shellWord(path)} ${shellWord(`${path}.old`)}`,
          ]
        : ['Run "svcctl runs list" in the folder of the stack to see the runs there are.'],
      cause,
    })
  }
}

/** What lies where the runs of an app are kept is no folder, or nobody may look into it: whether a run died here is not known. */
export class RunsFolderError extends AppError {
  constructor(path: string, cause: unknown) {
    const isFile = systemCode(cause) === 'ENOTDIR'
    super(
      `${path}, where runs are kept, ${isFile ? 'is no folder' : `cannot be read (${systemCode(cause) ?? 'unknown error'})`}; nothing was sent.`,
      {
        code: 'E_RUNS_FOLDER',
        suggestions: [
          isFile
            ? `Move it away, then run the command again: mv ${shellWord(path)} ${shellWord(`${path}.old`)}`
            : `Make sure that you can read ${path}, then run the command again.`,
        ],
        cause,
      },
    )
  }
}

/** Two runs never share one, and their order as text is their order in time. */
export const createRunId = (clock: Pick<Clock, 'now'>, random: RandomBytes): string =>
  `${new Date(clock.now()).toISOString().replaceAll(/[-:.Z]/g, '')}-${randomHex(random, 3)}`

/** `.svcctl/runs/<run>.jsonl` below the folder of the ledger. @throws PathPartError: of a run that travels, the name is a server's */
export const runsFolder = (folder: string): string => join(folder, '.svcctl', 'runs')
export const journalPath = (runs: string, run: string): string => join(runs, `${partOfPath(run, 'a run')}.jsonl`)

/**
 * Begins a journal; header and name are on the disk when it returns.
 *
 * @throws JournalWriteError, also when there is one at this path
 */
export function createJournal(path: string, header: JsonObject): JournalFile {
  try {
    makeFolder(dirname(path), 0o700)
    if (existsSync(path)) throw Object.assign(new Error('a journal is never begun twice'), {code: 'EEXIST'})
    const line = lineOf(0, {...header, format: FORMAT})
    writeFileAtomicSync(path, line, {mode: 0o600})
    return new AppendedFile(path, 1, Buffer.byteLength(line))
  } catch (error) {
    if (error instanceof NotAFileError) throw error
    throw new JournalWriteError(path, error)
  }
}

/**
 * Reads a journal and goes on with it; a torn last line is cut off. It is another file from here on: a process that had
 * it open, was stopped and goes on later writes into the old one, and breaks no line of this. Of a damaged one there is
 * a copy from then on (`damagedCopyOf`), and the journal is what could be read of it.
 *
 * @throws JournalMissingError, JournalVersionError, JournalDamagedError, JournalWriteError
 */
export function continueJournal(path: string): JournalContent & {readonly journal: JournalFile} {
  const {wholeBytes, ...content} = read(path)
  const {header, entries, damage} = content
  try {
    if (damage !== undefined) copyFileSync(path, fileAt(damagedCopyOf(path), {kept: true}))
    const whole =
      damage === undefined
        ? contentOf(path).subarray(0, wholeBytes)
        : Buffer.from([header, ...entries].map((entry, seq) => lineOf(seq, entry)).join(''))
    writeFileAtomicSync(path, whole, {mode: 0o600})
    return {...content, journal: new AppendedFile(path, entries.length + 1, whole.length)}
  } catch (error) {
    if (error instanceof NotAFileError) throw error
    throw new JournalWriteError(path, error)
  }
}

export const damagedCopyOf = (path: string): string => `${path}.damaged`

/** @throws JournalMissingError, JournalVersionError, JournalDamagedError */
export function readJournal(path: string): JournalContent {
  const {wholeBytes: _, ...content} = read(path)
  return content
}

/**
 * The runs that have a journal in this folder, oldest first.
 * @throws RunsFolderError
 */
export function listRuns(runs: string): readonly {readonly run: string; readonly path: string}[] {
  return namesIn(runs)
    .flatMap(name => RUN_FILE.exec(name)?.[1] ?? [])
    .sort()
    .map(run => ({run, path: journalPath(runs, run)}))
}

/** When a run of this folder last began or ended, milliseconds since the epoch; absent where there was none, or nobody can tell. */
export const lastRunAt = (runs: string): number | undefined => writtenAt(runs)

/** When a journal, or the folder of them, was last written; absent where there is none, or nobody can tell. */
export function writtenAt(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs
  } catch {
    // Whoever reads or writes a run there says what is wrong.
    return undefined
  }
}

const ENDED_FILE = /^(\d{8}T\d{9}-[0-9a-f]{6})\.ended$/

/** Of a run that is over stands so beside its journal, which nobody needs to open again for it. */
export function markEnded(runs: string, run: string): void {
  writeFileSync(fileAt(join(runs, `${partOfPath(run, 'a run')}.ended`), {kept: true}), '', {mode: 0o600})
}

/** The runs that are marked as over. @throws RunsFolderError */
export const endedRuns = (runs: string): ReadonlySet<string> => new Set(namesIn(runs).flatMap(name => ENDED_FILE.exec(name)?.[1] ?? []))

/** Nothing at all where there is no folder. */
function namesIn(runs: string): readonly string[] {
  try {
    return existsSync(runs) ? readdirSync(runs) : []
  } catch (error) {
    throw new RunsFolderError(runs, error)
  }
}

/** Removes all files of a run; its mark goes last, so that what is left of it is still known to be over. */
export function removeRun(runs: string, run: string): void {
  const own = readdirSync(runs).filter(name => name.startsWith(`${run}.`) && !ENDED_FILE.test(name))
  for (const name of [...own, `${run}.ended`]) rmSync(join(runs, name), {force: true})
}

class AppendedFile implements JournalFile {
  readonly path: string
  readonly #file: number
  #next: number
  #bytes: number
  #isBroken = false
  #isClosed = false

  constructor(path: string, next: number, bytes: number) {
    this.path = path
    this.#next = next
    this.#bytes = bytes
    this.#file = openSync(path, constants.O_WRONLY)
    ftruncateSync(this.#file, bytes)
  }

  append(entry: JsonObject, {fsync = true}: {readonly fsync?: boolean} = {}): number {
    const line = Buffer.from(lineOf(this.#next, entry))
    try {
      // Its number may be another file's by now.
      if (this.#isClosed) throw new Error('it is closed')
      if (this.#isBroken) throw new Error('an earlier write failed and could not be taken back')
      for (let done = 0; done < line.length; ) done += writeSync(this.#file, line, done, line.length - done, this.#bytes + done)
      if (fsync) fsyncSync(this.#file)
    } catch (error) {
      this.#takeBack()
      throw new JournalWriteError(this.path, error)
    }
    this.#bytes += line.length
    return this.#next++
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#file)
  }

  #takeBack(): void {
    if (this.#isClosed) return
    try {
      ftruncateSync(this.#file, this.#bytes)
    } catch {
      this.#isBroken = true
    }
  }
}

function lineOf(seq: number, entry: JsonObject): string {
  const rest = `"seq":${seq},"entry":${JSON.stringify(entry)}}`
  return `{"sum":"${sumOf(rest)}",${rest}\n`
}

const sumOf = (rest: string): string => createHash('sha256').update(rest).digest('hex').slice(0, SUM_DIGITS)

/** What every line begins with. */
const OPENING = 0x7b
const BREAK = 0x0a

function read(path: string): JournalContent & {readonly wholeBytes: number} {
  const bytes = contentOf(path)
  const lines: JsonObject[] = []
  let damage: string | undefined
  let torn = false
  let next = 0
  let start = 0
  while (start < bytes.length) {
    const end = bytes.indexOf(BREAK, start)
    const isLine = lines.length === 0 || bytes[start] === OPENING
    const text = isLine ? bytes.toString('utf8', start, end < 0 ? bytes.length : end) : ''
    if (lines.length === 0) refuseOtherFormat(path, text)
    const line = end < 0 || !isLine ? undefined : parseLine(text)
    if (lines.length === 0 && line?.seq !== 0) throw new JournalDamagedError(path, 'its first line is not what was written')
    if (line === undefined) {
      // Only what was written last can be torn: after it there is nothing.
      torn = end < 0 || end === bytes.length - 1
      if (torn) break
      damage ??= `the line of entry ${next} is not what was written`
    } else if (line.seq < next) damage ??= `entry ${line.seq} is there twice`
    else {
      if (line.seq > next) damage ??= `entry ${next} is missing before entry ${line.seq}`
      lines.push(line.entry)
      next = line.seq + 1
    }
    start = end + 1
  }
  const [header, ...entries] = lines
  if (header === undefined) throw new JournalDamagedError(path, 'it is empty')
  return {header, entries, torn, ...(damage === undefined ? {} : {damage}), wholeBytes: start}
}

/** Of a run that changed a hundred thousand objects it has a hundred megabytes. */
const LONGEST_JOURNAL = 512 * 1_048_576

function contentOf(path: string): Buffer {
  try {
    return readKeptFileSync(path, LONGEST_JOURNAL)
  } catch (error) {
    throw new JournalMissingError(path, error)
  }
}

/** Another version may write other lines: its name for the format comes before everything else. */
function refuseOtherFormat(path: string, firstLine: string): void {
  const format = /"format":"([^"]*)"/.exec(firstLine)?.[1]
  if (format !== undefined && format !== FORMAT && FAMILY.test(format)) throw new JournalVersionError(path, format)
}

function parseLine(text: string): {readonly seq: number; readonly entry: JsonObject} | undefined {
  const parts = /^\{"sum":"([0-9a-f]{16})",(.*)$/s.exec(text)
  if (parts?.[2] === undefined || sumOf(parts[2]) !== parts[1]) return undefined
  const line = jsonOf(text)
  return isJsonObject(line) && typeof line.seq === 'number' && isJsonObject(line.entry) ? {seq: line.seq, entry: line.entry} : undefined
}

/** The sum says that nothing was lost, and not that svcctl wrote it. */
function jsonOf(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
