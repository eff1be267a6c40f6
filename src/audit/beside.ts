/**
 * Which lines are the chain, and which stand beside it.
 *
 * The chain is what leads back, `prev` by `prev`, from the lines that the ledger knows (or from `--head`). Another line with
 * a number that the chain has is no part of it. Machines write such lines too: holds, freezes and unlocks take no lock of
 * the ledger, and a run may die before its ledger knows of it. Nobody else does.
 */
import {type AuditEntry, type ChainHead, isOwn, NOTHING} from './entry.ts'

/** What a line is to the lines around it. */
export type Link = Pick<AuditEntry, 'seq' | 'hash' | 'prev' | 'run' | 'event' | 'state' | 'lineage' | 'here' | 'stack'>

export interface ChainFault {
  /** The first number that is not as it was written. */
  readonly seq: number
  readonly message: string
}

/** What is known to be in the chain. */
export interface Anchors {
  /** The surest first; the lines need not be here. */
  readonly heads: readonly ChainHead[]
  /** Of the ledger; another one's lines may have any numbers. */
  readonly lineage: string | undefined
  /** No other machine writes, and all of the chain is in one file. */
  readonly allHere: boolean
}

export interface Beside {
  /** By hash. */
  readonly lines: ReadonlySet<string>
  readonly fault?: ChainFault
}

/** Written without the ledger's lock. */
const LOOSE: ReadonlySet<Link['event']> = new Set(['hold', 'freeze', 'lift', 'force-unlock'])
/** Only ever written after the beginning of their run. */
const INNER: ReadonlySet<Link['event']> = new Set(['operation', 'apply-end'])

/** @param sorted - all lines, each once, by number */
export function linesBeside(sorted: readonly Link[], all: ReadonlyMap<string, Link>, anchors: Anchors): Beside {
  const chain = new Chain(all)
  for (const head of anchors.heads) chain.know(head)
  for (const {hash} of anchors.heads) chain.adopt(hash)
  const sure = new Set(chain.hashes)
  // Behind a gap, and without a ledger, the longest of what is here counts.
  for (const link of sorted.toReversed()) if (!LOOSE.has(link.event)) chain.adopt(link.hash)
  const lines = new Set<string>()
  const side = sorted.filter(link => {
    const isOther = chain.hasOther(link) || chain.hasOther({seq: link.seq - 1, hash: link.prev})
    const isSide = !chain.hashes.has(link.hash) && (lines.has(link.prev) || isOther)
    if (isSide) lines.add(link.hash)
    return isSide
  })
  const fault = misnumbered(sorted, all) ?? strangerIn(side, {all, chain, sure, sorted, anchors})
  return {lines, ...(fault === undefined ? {} : {fault})}
}

class Chain {
  readonly hashes = new Set<string>()
  readonly #all: ReadonlyMap<string, Link>
  /** The line with each number, known by itself or by the one behind it. */
  readonly #bySeq = new Map<number, string>()
  readonly #refused = new Set<string>()

  constructor(all: ReadonlyMap<string, Link>) {
    this.#all = all
  }

  at(seq: number): Link | undefined {
    return this.#all.get(this.#bySeq.get(seq) ?? '')
  }

  hasOther({seq, hash}: ChainHead): boolean {
    const known = this.#bySeq.get(seq)
    return known !== undefined && known !== hash
  }

  know({seq, hash}: ChainHead): void {
    if (!this.#bySeq.has(seq)) this.#bySeq.set(seq, hash)
  }

  /** This line and all before it, unless one of them contradicts what is known. */
  adopt(hash: string): void {
    const path: Link[] = []
    let link = this.#all.get(hash)
    while (link !== undefined && !this.hashes.has(link.hash)) {
      path.push(link)
      if (this.#refused.has(link.hash) || this.hasOther(link) || this.hasOther({seq: link.seq - 1, hash: link.prev})) {
        for (const it of path) this.#refused.add(it.hash)
        return
      }
      link = this.#all.get(link.prev)
    }
    for (const it of path) {
      this.hashes.add(it.hash)
      this.#bySeq.set(it.seq, it.hash)
      this.#bySeq.set(it.seq - 1, it.prev)
    }
  }
}

function misnumbered(sorted: readonly Link[], all: ReadonlyMap<string, Link>): ChainFault | undefined {
  for (const {seq, prev, stack} of sorted) {
    if (stack !== sorted[0]?.stack) return {seq, message: `line ${seq} was added: it is about another stack`}
    const before = prev === NOTHING ? 0 : all.get(prev)?.seq
    if (before === undefined ? seq < 2 : seq !== before + 1)
      return {seq, message: `line ${seq} was added: its number does not follow that of the line before it`}
  }
  return undefined
}

interface Known {
  readonly all: ReadonlyMap<string, Link>
  readonly sorted: readonly Link[]
  readonly chain: Chain
  /** What leads to what the ledger knows. */
  readonly sure: ReadonlySet<string>
  readonly anchors: Anchors
}

/** A branch beside the chain, from where it leaves it. */
interface Branch {
  /** Its first number. */
  readonly from: number
  readonly begun: Set<string>
}

/** The first line beside the chain that no machine of ours could have written there. */
function strangerIn(side: readonly Link[], {all, sorted, chain, sure, anchors}: Known): ChainFault | undefined {
  // Where nothing is here of what the ledger knows, nothing tells which of two histories it is.
  if (side.length === 0 || (sure.size === 0 && anchors.heads.length > 0)) return undefined
  const branches = new Map<string, Branch>()
  const runs = runsIn(sorted.filter(it => chain.hashes.has(it.hash)))
  const forgotten = forgottenFrom(
    sorted.find(it => sure.has(it.hash) && isOwn(it)),
    all,
  )
  for (const link of side) {
    const {seq, event, run = '', here, hash, prev} = link
    const branch = branches.get(prev) ?? {from: seq, begun: new Set()}
    branches.set(hash, branch)
    const added = {seq, message: `line ${seq} was added: another line has its place in the chain`}
    // Whoever goes on in a file knows what of the chain is in it.
    const late = here !== undefined && here.seq >= seq && sure.has(here.hash)
    if (late && anchors.allHere) return added
    // A ledger can have the chain of a former one.
    const lineage = chain.at(seq)?.lineage || anchors.lineage
    if (lineage !== undefined && link.lineage !== lineage && link.lineage !== '') continue
    if (late && !LOOSE.has(event)) return added
    if (LOOSE.has(event)) continue
    if (event === 'apply-begin') branch.begun.add(run)
    // The ledger is never behind by more than one run, for as long as it knows how far the chain is.
    if (branch.begun.size > 1 && sure.size > 0 && branch.from < forgotten) return added
    if (branch.from >= forgotten) continue
    const isLinked = prev === NOTHING || all.has(prev) || chain.hasOther({seq: seq - 1, hash: prev})
    if (INNER.has(event) && !branch.begun.has(run) && !couldDie(runs.get(run) ?? [], branch.from, isLinked)) return added
  }
  return undefined
}

/** From which number on others may have had more: whoever went on had one run at most that the ledger did not know. */
function forgottenFrom(first: Link | undefined, all: ReadonlyMap<string, Link>): number {
  let from = first?.seq ?? Number.POSITIVE_INFINITY
  let run: string | undefined
  for (let link = first && all.get(first.prev); link !== undefined; link = all.get(link.prev)) {
    if (!LOOSE.has(link.event)) run ??= link.run
    if (!LOOSE.has(link.event) && link.run !== run) break
    from = link.seq
  }
  return from
}

/** Where the runs of the chain begin and end, by run. */
function runsIn(chain: readonly Link[]): ReadonlyMap<string, readonly Link[]> {
  const runs = new Map<string, Link[]>()
  for (const it of chain) {
    if (it.run === undefined || it.event === 'operation') continue
    const own = runs.get(it.run) ?? []
    own.push(it)
    runs.set(it.run, own)
  }
  return runs
}

/** Whether a run that began in the chain could have gone on beside it from this number: it did not come to its own end in it. */
function couldDie(run: readonly Link[], from: number, isLinked: boolean): boolean {
  if (!run.some(it => it.seq < from)) return !isLinked
  const next = run.find(it => it.seq >= from)
  return next === undefined || next.event !== 'apply-end' || next.state === 'settled'
}
