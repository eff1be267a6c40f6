/** `svcctl history`: who did what to which object, the newest first. No request is sent. */
import type {AuditEntry} from '../../audit/entry.ts'
import {inWrittenOrder, objectsOf} from '../../audit/history.ts'
import {type CheckedChain, type CheckedFile, checkChain, type Gap, type LedgerWord} from '../../audit/verify.ts'
import {kinds} from '../../backends/kinds.ts'
import {globPattern, isGlob} from '../../base/glob.ts'
import {parseMoment} from '../../base/moment.ts'
import {PathPartError, partOfPath} from '../../base/path-part.ts'
import {keyOf, keyOfOperation} from '../../engine/model/value.ts'
import {UnknownAddressError} from '../../engine/observe/choice.ts'
import {type Named, namedObjects, Words} from '../../engine/observe/selector.ts'
import type {LedgerDesk} from '../workspace/ledger-desk.ts'
import {type KnownStack, ledgerWords, readEntries} from './audit-read.ts'

/** One line of an audit, as it is shown. */
export interface HistoryEvent extends Omit<AuditEntry, 'v' | 'prev' | 'here' | 'actor' | 'ci' | 'plan' | 'lineage'> {
  /** Who did it. */
  readonly by: string
  readonly host: string
  readonly commit?: string
  /** The page of the CI job. */
  readonly url?: string
  /** The plan's hash, and who approved it in its review. */
  readonly plan?: string
  readonly approvedBy?: string
  readonly approvedAt?: string
  /** It is not in the chain. */
  readonly beside?: true
}

export interface History {
  readonly events: readonly HistoryEvent[]
  /** Lines that are not here. */
  readonly gaps: readonly ({readonly stack: string} & Gap)[]
}

export interface HistoryWish {
  readonly stacks: readonly string[]
  /** An object by any of its names; absent: everything. */
  readonly word: string | undefined
  /** A moment, or how long ago. */
  readonly since: string | undefined
  /** Who did or approved it, or a pattern of that. */
  readonly by: string | undefined
}

/** @throws UnknownAddressError, MomentError, AuditReadError */
export async function readHistory(desk: LedgerDesk, {stacks, word, since, by}: HistoryWish): Promise<History> {
  const from = since === undefined ? undefined : new Date(parseMoment('--since', since, desk.host.wallClock.now())).toISOString()
  const chosen = new Set(desk.chosen(stacks).map(it => it.name))
  // What came from another stack has its beginning there.
  const known = await ledgerWords(desk, desk.chosen([]))
  const {entries, files} = linesOf(desk, known)
  const all = inWrittenOrder(entries)
  const wanted = word === undefined ? all.filter(it => chosen.has(it.stack)) : about(desk, known, all, word, chosen)
  const shown = wanted.filter(it => (from === undefined || it.at >= from) && (by === undefined || isBy(it, by)))
  const named = new Set(word === undefined ? chosen : wanted.map(it => it.stack))
  const chains = known.filter(it => named.has(it.stack)).map(it => ({stack: it.stack, ...chainOf(files.get(it.stack), it.word)}))
  for (const {stack, fault} of chains)
    if (fault !== undefined)
      desk.host.log.warn(`the audit of stack ${stack} is not as it was written: ${fault.message} (svcctl audit verify)`)
  const gaps = chains.flatMap(({stack, gaps: own}) => own.map(it => ({stack, ...it})))
  const beside = new Set(chains.flatMap(it => it.beside?.map(({hash}) => hash) ?? []))
  return {events: shown.reverse().map(it => ({...shownEvent(it), ...(beside.has(it.hash) && {beside: true as const})})), gaps}
}

interface AllLines {
  readonly entries: readonly AuditEntry[]
  /** By stack. */
  readonly files: ReadonlyMap<string, CheckedFile>
}

/** Of all stacks, and of those that theirs came from. */
function linesOf({host}: LedgerDesk, known: readonly KnownStack[]): AllLines {
  const words = new Map(known.map(it => [it.stack, it.word]))
  const open = [...words.keys()]
  const seen = new Set(open)
  const all: AuditEntry[] = []
  const files = new Map<string, CheckedFile>()
  let odd = 0
  for (let stack = open.pop(); stack !== undefined; stack = open.pop()) {
    const {entries, unread, file} = readEntries(host, stack, words.get(stack))
    if (file !== undefined) files.set(stack, file)
    if (unread > 0)
      host.log.warn(
        `${unread} line${unread === 1 ? '' : 's'} of the audit of stack ${stack} cannot be read: svcctl audit verify says which`,
      )
    for (const entry of entries) {
      all.push(entry)
      for (const other of [entry.from?.stack, entry.to?.stack]) {
        if (other === undefined || seen.has(other)) continue
        seen.add(other)
        const fault = faultOfName(other)
        if (fault === undefined) open.push(other)
        else if (++odd === 1) host.log.warn(`a line of the audit of stack ${stack} names another stack that cannot be: ${fault}`)
      }
    }
  }
  return {entries: all, files}
}

/** Why no stack can have this name: whoever wrote the line chose it. */
function faultOfName(stack: string): string | undefined {
  try {
    partOfPath(stack, 'a stack')
    return undefined
  } catch (error) {
    if (!(error instanceof PathPartError)) throw error
    return error.message
  }
}

/** @throws UnknownAddressError */
function about(
  desk: LedgerDesk,
  known: readonly KnownStack[],
  all: readonly AuditEntry[],
  word: string,
  chosen: ReadonlySet<string>,
): AuditEntry[] {
  const ledgers = new Map(known.flatMap(({stack, ledger}) => (ledger === undefined ? [] : [[stack, ledger] as const])))
  const named = [...namedObjects(desk.stacks, ledgers, kinds), ...namesIn(all)].filter(it => chosen.has(it.stack))
  const meaning = new Words([word], named, kinds)
  if (meaning.idle.length > 0) throw new UnknownAddressError([{flag: 'history', word}], named)
  const meant = new Set(named.filter(it => meaning.mean(it)).map(keyOfOperation))
  const objects = objectsOf(all)
  const wanted = new Set<number>()
  for (const [{stack, address = ''}, object] of objects) if (meant.has(keyOf(stack, address))) wanted.add(object)
  return all.filter(it => wanted.has(objects.get(it) ?? -1))
}

/** What objects were called when lines were written about them. */
function namesIn(all: readonly AuditEntry[]): Named[] {
  const names = new Map<string, Named>()
  for (const {stack, address, remoteId} of all) {
    if (address !== undefined)
      names.set(`${keyOf(stack, address)} ${remoteId ?? ''}`, {stack, address, kind: '', ...(remoteId === undefined ? {} : {remoteId})})
  }
  return [...names.values()]
}

/** A name before an @ is one, too. */
function isBy({actor, plan}: AuditEntry, by: string): boolean {
  const pattern = isGlob(by) ? globPattern(by) : undefined
  return [actor.name, plan?.approvedBy].some(it => it !== undefined && (pattern?.test(it) ?? (it === by || it.split('@')[0] === by)))
}

const chainOf = (file: CheckedFile | undefined, word: LedgerWord | undefined): CheckedChain =>
  checkChain(file ? [file] : [], word, undefined)

function shownEvent({v: _, prev: _prev, here: _here, lineage: _lineage, actor, ci, plan, ...rest}: AuditEntry): HistoryEvent {
  const commit = ci?.commit ?? plan?.commit
  return {
    ...rest,
    by: actor.name,
    host: actor.host,
    ...(commit === undefined ? {} : {commit}),
    ...(ci?.url === undefined ? {} : {url: ci.url}),
    ...(plan === undefined ? {} : {plan: plan.hash}),
    ...(plan?.approvedBy === undefined ? {} : {approvedBy: plan.approvedBy}),
    ...(plan?.approvedAt === undefined ? {} : {approvedAt: plan.approvedAt}),
  }
}
