/**
 * Whether an audit is as it was written. Each file is read line by line; a line must follow the one before it, or say
 * itself what stands before it because the chain went on elsewhere. Then all files together are held against what the
 * ledger knows: its head, and how far it has seen each file go.
 */
import {type ChainFault, type Link, linesBeside} from './beside.ts'
import {fileIdOf} from './chain-file.ts'
import {type AuditEntry, type ChainHead, NOTHING, readLine, statedSeq} from './entry.ts'

export interface ReadFile {
  readonly path: string
  readonly lines: Iterable<{readonly text: string; readonly torn: boolean}>
}

export interface CheckedFile {
  readonly path: string
  readonly id: string
  readonly links: readonly Link[]
  /** The last line was being written when its writer died. */
  readonly torn: boolean
  readonly fault?: ChainFault
}

/** Lines that no file here has. */
export interface Gap {
  readonly from: number
  readonly to: number
}

/** What the ledger says of a chain. */
export interface LedgerWord extends ChainHead {
  readonly lineage: string
  /** `isHere`: it is to be where the files are that are looked at; of no other one the absence says anything. */
  readonly files: readonly ({readonly file: string; readonly isHere: boolean} & ChainHead)[]
  /** Lines that it carries along. */
  readonly last: readonly string[]
}

export interface CheckedChain {
  readonly head?: ChainHead
  readonly lines: number
  readonly gaps: readonly Gap[]
  /** Lines that the ledger does not know yet. */
  readonly ahead: number
  /** Lines that are here and not in the chain; absent: there are none. They do not count. */
  readonly beside?: readonly ChainHead[]
  readonly fault?: ChainFault & {readonly path?: string}
}

/** One file by itself. */
export function checkFile({path, lines}: ReadFile): CheckedFile {
  const check = new FileCheck(path)
  for (const {text, torn} of lines) if (!check.take(text, torn ? 'torn' : readLine(text))) break
  return check.result
}

interface WrongLine {
  readonly text: string
  readonly entry?: AuditEntry
}

/** The same, line by line: for whoever wants the lines as well and reads none twice. */
export class FileCheck {
  readonly #path: string
  readonly #links: Link[] = []
  #before: ChainHead = {seq: 0, hash: NOTHING}
  #torn = false
  /** What comes behind the first fault says which kind it is. */
  readonly #wrong: WrongLine[] = []

  constructor(path: string) {
    this.#path = path
  }

  /**
   * @param entry - what `readLine` says of the text; `torn`: its writer died
   * @returns whether the next line matters
   */
  take(text: string, entry: AuditEntry | 'torn' | undefined): boolean {
    if (this.#torn || this.#wrong.length > MOST_WRONG) return false
    if (entry === 'torn') {
      this.#torn = true
      return false
    }
    if (entry !== undefined && this.#wrong.length === 0 && follows(entry, this.#before)) {
      const link = linkOf(entry, this.#links.at(-1))
      this.#links.push(link)
      this.#before = link
      return true
    }
    this.#wrong.push({text, ...(entry && {entry})})
    return this.#wrong.length <= MOST_WRONG
  }

  get result(): CheckedFile {
    const links = this.#links
    const fault = this.#wrong.length > 0 ? faultIn(this.#before, this.#wrong) : undefined
    return {path: this.#path, id: fileIdOf(links[0]), links, torn: this.#torn, ...(fault === undefined ? {} : {fault})}
  }
}

/** Behind the first one. */
const MOST_WRONG = 3

/** Texts that the line before has as well are the same texts in memory: lookups by a hash compare nothing then. */
const linkOf = ({seq, hash, prev, run, event, state, lineage, here, stack}: AuditEntry, before: Link | undefined): Link => ({
  seq,
  hash,
  prev: prev === before?.hash ? before.hash : prev,
  event,
  lineage: lineage === before?.lineage ? before.lineage : lineage,
  stack: stack === before?.stack ? before.stack : stack,
  ...(run === undefined ? {} : {run: run === before?.run ? before.run : run}),
  ...(state === undefined ? {} : {state}),
  ...(here === undefined ? {} : {here}),
})

const follows = ({seq, prev, here}: AuditEntry, before: ChainHead): boolean =>
  here === undefined ? seq === before.seq + 1 && prev === before.hash : here.seq === before.seq && here.hash === before.hash

function faultIn(before: ChainHead, [first, ...later]: readonly WrongLine[]): ChainFault {
  const expected = before.seq + 1
  const next = later.find(it => it.entry !== undefined)?.entry
  const {entry} = first ?? {}
  if (entry === undefined) {
    // A line that went on from elsewhere has a number of its own: the next one says which.
    const stated = statedSeq(first?.text ?? '')
    const seq = next !== undefined && stated === next.seq - 1 ? stated : expected
    return {seq, message: `line ${seq} was altered`}
  }
  if (entry.here !== undefined) {
    const {seq, hash} = entry.here
    if (seq > before.seq) return {seq: expected, message: `line ${expected} is missing`}
    if (seq === before.seq && hash !== before.hash) return {seq: before.seq, message: `line ${before.seq} was altered`}
    return {seq: entry.seq, message: `line ${entry.seq} stands in another place than it was written to`}
  }
  if (entry.seq === expected) return {seq: Math.max(1, before.seq), message: `line ${Math.max(1, before.seq)} was altered`}
  if (entry.seq < expected) return {seq: expected, message: `where line ${expected} was, line ${entry.seq} is`}
  const isLater = later.some(it => it.entry?.seq === expected)
  return isLater
    ? {seq: expected, message: `line ${expected} stands behind line ${entry.seq}`}
    : {seq: expected, message: `line ${expected} is missing`}
}

/**
 * The files of one stack together.
 *
 * @param head - a hash, or the beginning of one, that the chain must have
 */
export function checkChain(files: readonly CheckedFile[], ledger: LedgerWord | undefined, head: string | undefined): CheckedChain {
  const carried = carriedBy(ledger)
  const all = new Map<string, Link>()
  for (const {links} of [...files, carried]) for (const link of links) all.set(link.hash, link)
  const written = [...all.values()].sort((a, b) => a.seq - b.seq)
  const beside = linesBeside(written, all, anchorsOf(files, ledger, head, all))
  const sorted = written.filter(it => !beside.lines.has(it.hash))
  const others = written.filter(it => beside.lines.has(it.hash)).map(({seq, hash}) => ({seq, hash}))
  const last = sorted.at(-1)
  const base = {...(last && {head: {seq: last.seq, hash: last.hash}}), lines: sorted.length, ...(others.length > 0 && {beside: others})}
  const numbers = new Set(written.map(it => it.seq))
  const ahead = ledger === undefined ? [] : sorted.filter(it => it.seq > ledger.seq && it.lineage === ledger.lineage)
  const broken =
    faultOf(files, carried) ??
    cutIn(files, numbers) ??
    (ledger && behindLedger(files, ledger, all)) ??
    beside.fault ??
    (ledger && aheadOf(ahead, ledger))
  const missed = broken === undefined && head !== undefined ? behindHead(head, sorted) : undefined
  const fault = broken ?? missed
  return {...base, gaps: gapsIn(sorted, all, ledger), ahead: ahead.length, ...(fault === undefined ? {} : {fault})}
}

/** Whoever writes a ledger has its lock: all that it names is one chain. */
function anchorsOf(
  files: readonly CheckedFile[],
  ledger: LedgerWord | undefined,
  head: string | undefined,
  all: ReadonlyMap<string, Link>,
) {
  const known = ledger === undefined ? [] : [ledger, ...ledger.files]
  const carried = (ledger?.last ?? []).flatMap(it => readLine(it) ?? []).reverse()
  const named = head === undefined ? [] : [...all.values()].filter(it => it.hash.startsWith(head))
  const allHere = files.length === 1 && ledger !== undefined && ledger.files.length > 0 && ledger.files.every(it => it.isHere)
  return {heads: [...known, ...carried, ...named], lineage: ledger?.lineage, allHere}
}

/** What it carries along begins anywhere, and may leave lines out that a file has. */
function carriedBy(ledger: LedgerWord | undefined): CheckedFile {
  const links: Link[] = []
  for (const text of ledger?.last ?? []) {
    const entry = readLine(text)
    const before = links.at(-1)
    if (
      entry === undefined ||
      (before !== undefined && (entry.seq <= before.seq || (entry.seq === before.seq + 1 && entry.prev !== before.hash)))
    ) {
      const seq = entry?.seq ?? statedSeq(text) ?? (before?.seq ?? 0) + 1
      return {
        path: 'the ledger',
        id: '',
        links,
        torn: false,
        fault: {seq, message: `line ${seq}, which the ledger carries along, was altered`},
      }
    }
    links.push(entry)
  }
  return {path: 'the ledger', id: '', links, torn: false}
}

function faultOf(files: readonly CheckedFile[], carried: CheckedFile): CheckedChain['fault'] {
  for (const {path, fault} of [...files, carried]) if (fault !== undefined) return {...fault, path}
  return undefined
}

/** Lines that a file should have had when it was gone on with, and that no other file has. */
function cutIn(files: readonly CheckedFile[], numbers: ReadonlySet<number>): CheckedChain['fault'] {
  for (const {path, links} of files) {
    for (const {here} of links) {
      for (let seq = (here?.seq ?? 0) + 1; here?.had !== undefined && seq <= here.had; seq++)
        if (!numbers.has(seq)) return {seq, message: `line ${seq} is missing: the file was cut`, path}
    }
  }
  return undefined
}

function behindLedger(files: readonly CheckedFile[], ledger: LedgerWord, all: ReadonlyMap<string, Link>): CheckedChain['fault'] {
  for (const {path, id, links} of files) {
    const known = ledger.files.find(it => it.file === id)
    const fault = known && behind(links, known)
    if (fault !== undefined) return {...fault, path}
  }
  const lost = ledger.files.find(it => it.isHere && !all.has(it.hash))
  const fault = lost && behind([...all.values()], lost)
  return fault && {...fault, ...(files[0] && {path: files[0].path})}
}

/** Whether these lines end before one that they had, or have another one in its place. */
function behind(links: readonly Link[], known: ChainHead): ChainFault | undefined {
  if (links.some(it => it.hash === known.hash)) return undefined
  const last = links.reduce((most, it) => Math.max(most, it.seq), 0)
  if (last < known.seq)
    return {seq: last + 1, message: `it was cut short: line ${last + 1} is missing, and the ledger knows of ${known.seq}`}
  return {seq: known.seq, message: `line ${known.seq} is another one than the ledger knows`}
}

/** A run that did not end, or whose end the ledger could not take, is ahead of the ledger; two cannot be. */
function aheadOf(ahead: readonly Link[], {hash: head}: ChainHead): ChainFault | undefined {
  let run: string | undefined
  const behind = new Set([head])
  for (const {seq, run: of, event, hash, prev} of ahead) {
    // Beyond a gap it may be a history that the ledger was never told of.
    if (!behind.has(prev)) continue
    behind.add(hash)
    if (of === undefined || !BEGINS.has(event)) continue
    run ??= of
    if (of !== run) return {seq, message: `line ${seq} begins another run that the ledger knows nothing of: the ledger was put back`}
  }
  return undefined
}

const BEGINS: ReadonlySet<Link['event']> = new Set(['apply-begin', 'import', 'forget', 'transfer', 'absorb'])

function behindHead(head: string, sorted: readonly Link[]): ChainFault | undefined {
  if (sorted.some(it => it.hash.startsWith(head))) return undefined
  const seq = (sorted.at(-1)?.seq ?? 0) + 1
  return {seq, message: `it was cut short: the line with the hash ${head} is not there, and line ${seq - 1} is the last one`}
}

function gapsIn(sorted: readonly Link[], all: ReadonlyMap<string, Link>, ledger: LedgerWord | undefined): Gap[] {
  const gaps: Gap[] = []
  let before = 0
  for (const {seq, prev} of sorted) {
    if (prev !== NOTHING && !all.has(prev)) gaps.push({from: Math.min(before + 1, seq - 1), to: seq - 1})
    before = seq
  }
  if (ledger !== undefined && !all.has(ledger.hash)) gaps.push({from: Math.min(before + 1, ledger.seq), to: ledger.seq})
  return gaps
}
