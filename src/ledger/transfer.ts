/**
 * Objects change ledgers without a request: two files (or states behind HTTP) are written, and a process may die between
 * any two writes. So the destination gets the entries first, each marked with where it comes from; then the source drops
 * them and keeps a tombstone; then the marks go. Whoever holds both locks next goes on from whatever is there, and the
 * mark says all there is to know for that.
 */
import {asJson, canonicalJson, type Json} from '../base/json.ts'
import {deposedAddress} from '../engine/model/deposed.ts'
import {
  FORMER_LEDGERS,
  type Ledger,
  type LedgerEntry,
  type LedgerStore,
  type LedgerVersion,
  type Tombstone,
  type TransferMark,
} from '../engine/model/ledger.ts'
import {type Key, keyOf, keyOfOperation} from '../engine/model/value.ts'
import {digestFrom, digestIn} from './secret-digests.ts'

export type StackAddress = TransferMark['from']

/** What the ledgers of a transfer go by: the stack, and where it is a former ledger of that, its place. */
export const ledgerName = ({stack, state}: Pick<StackAddress, 'stack' | 'state'>): string =>
  state === undefined ? stack : `${stack} at ${state}`

export interface EntryMove {
  readonly from: StackAddress
  readonly to: StackAddress
  /** How the destination declares it, where it does. */
  readonly declared?: Pick<LedgerEntry, 'dependsOn' | 'removal' | 'preventDestroy' | 'exclusive'>
}

/** An object that has come to its new ledger. */
export interface Arrived extends Pick<EntryMove, 'from' | 'to'> {
  readonly id: string
  readonly remoteId: string
}

/**
 * Told of what arrives before the last two writes about it, and again where these were not made.
 * @param ledgers - by `ledgerName`
 * @returns how far audits have come, by the same names
 */
export type Arriving = (
  arrived: readonly Arrived[],
  ledgers: ReadonlyMap<string, Ledger>,
) => Promise<ReadonlyMap<string, NonNullable<Ledger['audit']>>>

const nobodyHears: Arriving = () => Promise.resolve(new Map())

/** Tombstones that a ledger keeps: the newest ones. */
const TOMBSTONES = 1_000

/**
 * Carries entries over. Needs the locks of all the ledgers.
 *
 * @param id - of this transfer: without spaces
 * @returns what has arrived, of this transfer and of any that was under way
 */
export async function transferEntries(
  id: string,
  moves: readonly EntryMove[],
  stores: ReadonlyMap<string, LedgerStore>,
  arriving: Arriving = nobodyHears,
): Promise<Arrived[]> {
  if (moves.length === 0) return []
  const renamed = new Map(moves.map(({from, to}) => [keyOfOperation(from), keyOfOperation(to)]))
  const sources = new Map<string, Ledger>()
  for (const name of namesOf(moves.map(it => it.from))) sources.set(name, await storeOf(stores, name).load())
  for (const stack of namesOf(moves.map(it => it.to))) {
    const store = storeOf(stores, stack)
    const incoming = moves.filter(it => it.to.stack === stack)
    await store.save(withIncoming(await store.load(), incoming, sources, id, renamed))
  }
  return finishTransfers(stores, arriving)
}

/**
 * All that a former ledger of a stack has goes into the one it has now: objects, outputs, and what its runs left open.
 * Needs the locks of both.
 *
 * @param openEnds - of both together
 */
export async function moveLedger(
  id: string,
  from: {readonly stack: string; readonly state: string},
  stores: ReadonlyMap<string, LedgerStore>,
  openEnds: (former: Json | undefined, now: Json | undefined) => Json | undefined,
  arriving: Arriving = nobodyHears,
): Promise<Arrived[]> {
  const former = await storeOf(stores, ledgerName(from)).load()
  const store = storeOf(stores, from.stack)
  const now = await store.load()
  const known = new Map([...now.entries.values()].map(it => [it.remoteId, it.address]))
  const moves = [...former.entries.values()].map(
    ({address, remoteId}): EntryMove => ({
      from: {...from, address},
      to: {stack: from.stack, address: known.get(remoteId) ?? address},
    }),
  )
  // A ledger without a salt takes the one that its digests come with, whether they come now or went before.
  const {secretSalt, secretsDigest, accounts} = former
  const salted = now.secretSalt === undefined && secretSalt !== undefined ? {secretSalt, ...(secretsDigest && {secretsDigest})} : {}
  const ready: Ledger = {...now, ...salted, accounts: {...accounts, ...now.accounts}}
  const {pending: _, ...incoming} = withIncoming(ready, moves, new Map([[ledgerName(from), former]]), id, new Map())
  const pending = openEnds(former.pending, now.pending)
  const outputs = {...former.outputs, ...now.outputs}
  // Whatever went from here to another place of the stack, and is no more: this is its place again.
  const stones = [...(former.gone ?? []), ...(incoming.gone ?? [])].filter(it => !known.has(it.remoteId) && it.to.stack !== from.stack)
  const gone = [...new Map(stones.map(it => [`${it.id} ${it.remoteId}`, it])).values()].slice(-TOMBSTONES)
  const audit = (former.audit?.seq ?? 0) > (now.audit?.seq ?? 0) ? former.audit && withoutSame(former.audit) : now.audit
  const after: Ledger = {
    ...incoming,
    madeFrom: withFormer(former, now),
    outputs,
    gone,
    ...(pending === undefined ? {} : {pending}),
    ...(audit && {audit}),
  }
  if (moves.length > 0 || restOf(after) !== restOf(now)) await store.save(after)
  if (moves.length > 0) return finishTransfers(stores, arriving)
  // What nothing goes with goes by itself: come twice it would say once more what was settled since.
  if (former.pending !== undefined || Object.keys(former.outputs).length > 0)
    await storeOf(stores, ledgerName(from)).save(withoutRest(former))
  return []
}

/** Which version has the same objects is told by serials, which another ledger counts for itself. */
const withoutSame = ({same: _, ...audit}: NonNullable<Ledger['audit']>): Ledger['audit'] => audit

/** What runs knew of the former ledger is a version that the one of now was made from, and so is what that one was made from. */
function withFormer({serial, lineage, madeFrom = []}: Ledger, now: Ledger): readonly LedgerVersion[] {
  const all = [...(now.madeFrom ?? []), ...madeFrom, {serial, lineage}].filter(it => it.lineage !== now.lineage)
  return [...new Map(all.map(it => [it.lineage, it])).values()].slice(-FORMER_LEDGERS)
}

const restOf = ({outputs, gone = [], pending = null, audit}: Ledger): string =>
  canonicalJson({outputs: asJson(outputs), gone: asJson(gone), pending, audit: audit?.seq})

/** What is under way between these ledgers. */
export const marksIn = (ledgers: Iterable<Ledger>): {readonly stack: string; readonly entry: LedgerEntry; readonly mark: TransferMark}[] =>
  [...ledgers].flatMap(({stack, entries}) =>
    [...entries.values()].flatMap(entry => (entry.transfer ? [{stack, entry, mark: entry.transfer}] : [])),
  )

/**
 * Goes on with what was begun: sources drop what destinations have, and then the marks go. Needs the locks of all of
 * `stores`; a source that is none of them stays as it is, and so does the mark.
 *
 * @returns what has arrived
 */
export async function finishTransfers(stores: ReadonlyMap<string, LedgerStore>, arriving: Arriving = nobodyHears): Promise<Arrived[]> {
  const ledgers = new Map<string, Ledger>()
  for (const [name, store] of stores) ledgers.set(name, await store.load())
  // Nothing goes to a former ledger.
  const present = [...ledgers].flatMap(([name, ledger]) => (name === ledger.stack ? [ledger] : []))
  const marks = marksIn(present).filter(it => ledgers.has(ledgerName(it.mark.from)))
  if (marks.length === 0) return []
  const arrived = marks.map(({stack, entry, mark}) => ({
    id: mark.id,
    from: mark.from,
    to: {stack, address: entry.address},
    remoteId: entry.remoteId,
  }))
  for (const [name, audit] of await arriving(arrived, ledgers)) {
    const ledger = ledgers.get(name)
    if (ledger !== undefined) ledgers.set(name, {...ledger, audit})
  }
  const renamed = new Map(marks.map(({stack, entry, mark}) => [keyOfOperation(mark.from), keyOf(stack, entry.address)] as const))
  for (const source of namesOf(marks.map(it => it.mark.from))) {
    const ledger = ledgers.get(source)
    if (ledger === undefined) continue
    const going = marks.filter(it => ledgerName(it.mark.from) === source)
    const left = dropped(ledger, going, renamed)
    const after = source === ledger.stack || left === ledger ? left : withoutRest(left)
    if (after !== ledger) ledgers.set(source, await storeOf(stores, source).save(after))
  }
  for (const stack of namesOf(marks)) {
    const ledger = ledgers.get(stack)
    if (ledger === undefined) continue
    const here = marks.filter(it => it.stack === stack)
    await storeOf(stores, stack).save(
      unmarked(
        ledger,
        here.map(it => it.entry.address),
        renamed,
      ),
    )
  }
  return arrived
}

/**
 * The ledgers as they will be once what is under way has arrived: an object that two of them have for a moment is the
 * destination's. Marks stay.
 */
export function asArrived(ledgers: readonly Ledger[]): readonly Ledger[] {
  const marks = marksIn(ledgers)
  if (marks.length === 0) return ledgers
  return ledgers.map(ledger => {
    const going = marks.filter(it => ledgerName(it.mark.from) === ledger.stack && isThere(ledger, it.mark, it.entry))
    if (going.length === 0) return ledger
    const entries = new Map(ledger.entries)
    for (const {mark, entry} of going) entries.delete(addressThere(ledger, mark, entry) ?? '')
    return {...ledger, entries}
  })
}

/**
 * The destination with the entries that come. What it has at their addresses stays beside them as deposed: it goes to
 * another ledger or address, or is deleted, later than this is written. An object that it has already keeps its entry,
 * and only the source's goes.
 */
function withIncoming(
  ledger: Ledger,
  incoming: readonly EntryMove[],
  sources: ReadonlyMap<string, Ledger>,
  id: string,
  renamed: ReadonlyMap<Key, Key>,
): Ledger {
  const entries = new Map(ledger.entries)
  const known = new Map([...ledger.entries.values()].map(it => [it.remoteId, it.address]))
  const arrived = new Set<string>()
  let {accounts, secretSalt, secretsDigest} = ledger
  for (const {from, to, declared} of incoming) {
    const source = sources.get(ledgerName(from))
    const entry = source?.entries.get(from.address)
    if (source === undefined || entry === undefined) continue
    arrived.add(entry.remoteId)
    const twice = entries.get(known.get(entry.remoteId) ?? '')
    if (twice !== undefined) {
      entries.set(twice.address, {...twice, transfer: {id, from}})
      continue
    }
    // A ledger without secrets takes the salt, and the digest over all of them, that come with the first one.
    if (secretSalt === undefined && Object.keys(entry.secrets).length > 0) ({secretSalt, secretsDigest} = source)
    const api = apiOf(entry)
    const account = source.accounts[api]
    if (account !== undefined) accounts = {[api]: account, ...accounts}
    const former = entries.get(to.address)
    if (former !== undefined) {
      const aside = deposedAddress(to.address, former.remoteId)
      entries.set(aside, {...former, address: aside})
      known.set(former.remoteId, aside)
    }
    entries.set(to.address, {
      ...entry,
      address: to.address,
      secrets: secretsFor(secretSalt, source, entry),
      dependsOn: entry.dependsOn.map(key => renamed.get(key) ?? key),
      ...declared,
      transfer: {id, from},
    })
  }
  const {secretSalt: _, secretsDigest: _digest, ...rest} = ledger
  return {
    ...rest,
    entries,
    accounts,
    // What came back leaves no tombstone.
    ...(ledger.gone === undefined ? {} : {gone: ledger.gone.filter(it => !arrived.has(it.remoteId))}),
    ...(secretSalt === undefined ? {} : {secretSalt}),
    ...(secretsDigest === undefined ? {} : {secretsDigest}),
  }
}

/** Digests as a ledger with this salt can compare them: one made with another salt brings it along, until it is sealed anew. */
function secretsFor(salt: string | undefined, source: Ledger, {secrets}: LedgerEntry): LedgerEntry['secrets'] {
  return Object.fromEntries(
    Object.entries(secrets).map(([pointer, kept]) => {
      const {salt: madeWith = source.secretSalt, digest = kept} = digestIn(kept)
      return [pointer, madeWith === salt ? digest : digestFrom(madeWith, digest)]
    }),
  )
}

function dropped(ledger: Ledger, going: ReturnType<typeof marksIn>, renamed: ReadonlyMap<Key, Key>): Ledger {
  const leaving = going.filter(({mark, entry}) => isThere(ledger, mark, entry))
  if (leaving.length === 0) return ledger
  const entries = new Map(ledger.entries)
  for (const {mark, entry} of leaving) entries.delete(addressThere(ledger, mark, entry) ?? '')
  renameIn(entries, renamed)
  const stones = leaving.map(
    ({stack, entry, mark}): Tombstone => ({
      id: mark.id,
      address: mark.from.address,
      remoteId: entry.remoteId,
      to: {stack, address: entry.address},
    }),
  )
  return {...ledger, entries, gone: [...(ledger.gone ?? []), ...stones].slice(-TOMBSTONES)}
}

/** What hangs on something that has another key by now. What has come is named anew already. */
function renameIn(entries: Map<string, LedgerEntry>, renamed: ReadonlyMap<Key, Key>): void {
  for (const [address, it] of entries) {
    if (it.transfer === undefined && it.dependsOn.some(key => renamed.has(key)))
      entries.set(address, {...it, dependsOn: it.dependsOn.map(key => renamed.get(key) ?? key)})
  }
}

function unmarked(ledger: Ledger, addresses: readonly string[], renamed: ReadonlyMap<Key, Key>): Ledger {
  const entries = new Map(ledger.entries)
  // Of a key that is another object's by now nobody can tell here which of them is meant: sources know, and were written.
  const taken = new Set(renamed.values())
  renameIn(entries, new Map([...renamed].filter(([key]) => !taken.has(key))))
  for (const address of addresses) {
    const marked = entries.get(address)
    if (marked === undefined) continue
    const {transfer: _, ...entry} = marked
    entries.set(address, entry)
  }
  return {...ledger, entries}
}

const isThere = (ledger: Ledger, mark: TransferMark, entry: LedgerEntry): boolean => addressThere(ledger, mark, entry) !== undefined

/** Its address in the ledger that it leaves: the one it had, or beside that, where another object has come to it. */
const addressThere = ({entries}: Ledger, {from}: TransferMark, {remoteId}: LedgerEntry): string | undefined =>
  [from.address, deposedAddress(from.address, remoteId)].find(it => entries.get(it)?.remoteId === remoteId)

/** A remote path begins with it. */
export const apiOf = ({remoteId}: Pick<LedgerEntry, 'remoteId'>): string => remoteId.slice(0, remoteId.indexOf('/'))

const namesOf = (places: readonly Pick<StackAddress, 'stack' | 'state'>[]): string[] => [...new Set(places.map(ledgerName))].sort()

/** What went along with the objects of a former ledger. */
function withoutRest({pending: _, ...ledger}: Ledger): Ledger {
  return {...ledger, outputs: {}}
}

function storeOf(stores: ReadonlyMap<string, LedgerStore>, name: string): LedgerStore {
  const store = stores.get(name)
  if (store === undefined) throw new TypeError(`the ledger of ${name} is not open`)
  return store
}
