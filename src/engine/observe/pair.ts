/**
 * Which live object a declaration means. In this order: the one whose id it says, the object the ledger has under its address (so that a rename
 * is followed), the one another program's state has for it, the one a `moved` or `import` block names, and then whoever
 * has its natural key.
 */
import type {Problem} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import {addAll, addTo} from '../../base/many.ts'
import {meantAmong} from '../model/by-traits.ts'
import type {Declaration, StackDeclarations} from '../model/declaration.ts'
import {type Identity, type Ids, idsIn, type Kind, remoteIdOf} from '../model/kind.ts'
import type {Ledger, LedgerEntry} from '../model/ledger.ts'
import type {Collection, LiveObject} from '../model/live.ts'
import {withSaidParts} from '../model/own-parts.ts'
import type {Owner, Ownership} from '../model/ownership.ts'
import {plainPart, saysWhich} from '../model/resolve.ts'
import {type Key, keyOf, type ValueObject} from '../model/value.ts'
import {formerAddresses} from './former-addresses.ts'

export type Found = 'ledger' | 'moved' | 'import' | 'name'

export interface Match {
  readonly live: LiveObject
  readonly found: Found
  /** The address the ledger has it under, when that is another one. */
  readonly formerAddress?: string
  /** The other stack whose ledger has it, where this one's does not. */
  readonly owner?: Owner
}

export interface PairInput {
  readonly kind: Kind
  readonly collection: Collection
  readonly declarations: readonly Declaration[]
  readonly ledgers: ReadonlyMap<string, Ledger>
  /** Remote paths that the state of another program has for declarations. */
  readonly meant: ReadonlyMap<Key, string>
  readonly ownership: Ownership
  readonly stacks: ReadonlyMap<string, StackDeclarations>
  /** What is declared, with what the objects that were read already answer of it. */
  readonly specOf: (declaration: Declaration) => ValueObject
  /** Every key declared anywhere in the app, with its kind. */
  readonly declared: ReadonlyMap<Key, string>
  /** Whether this run reads a declaration: what `--target` leaves out still has its object. */
  readonly read: (key: Key) => boolean
}

/**
 * What the ledger says of the very object that a pair means, or of the one it meant where it means none now. An entry
 * under the same address for another object says nothing of this one: neither whose it is nor what was applied to it.
 */
export function entryOf(
  ledgers: ReadonlyMap<string, Ledger>,
  {declaration, match}: {readonly declaration: Declaration; readonly match?: Match},
): LedgerEntry | undefined {
  if (match?.owner) return match.owner.entry.kind === declaration.kind ? match.owner.entry : undefined
  const entry = ledgers.get(declaration.stack)?.entries.get(match?.formerAddress ?? declaration.address)
  if (entry === undefined || entry.kind !== declaration.kind) return undefined
  return match === undefined || entry.remoteId === match.live.remoteId ? entry : undefined
}

export interface Pairing {
  readonly matches: ReadonlyMap<Key, Match>
  readonly ambiguous: readonly Problem[]
  readonly problems: readonly Problem[]
}

/** Pairs the declarations of one collection with its live objects. */
export function pairCollection(input: PairInput): Pairing {
  const {kind, collection, declarations} = input
  const byId = new Map(collection.objects.map(it => [it.remoteId, it]))
  const claimed = new Map<string, Key>()
  const matches = new Map<Key, Match>()
  const [ambiguous, problems]: [Problem[], Problem[]] = [[], []]
  const claim = (declaration: Declaration, match: Match) => {
    const other = claimed.get(match.live.remoteId)
    if (other !== undefined) {
      problems.push({
        address: declaration.key,
        message: `means ${match.live.remoteId}, which ${other} has already; one object can have one declaration`,
      })
      return
    }
    claimed.set(match.live.remoteId, declaration.key)
    matches.set(declaration.key, match)
  }

  const open: Declaration[] = []
  for (const declaration of declarations) {
    const match = knownMatch(input, declaration, byId)
    const holder = match && leftOut(input, declaration, match.live)
    const said = match && contradicted(input, declaration, match)
    if (said !== undefined)
      problems.push({
        address: declaration.key,
        message: `import of ${declaration.importId ?? ''}: the declaration names ${said} itself; take the import block away, or name the same object in both`,
      })
    else if (holder !== undefined) problems.push(heldBy(declaration, match?.live.remoteId, holder))
    else if (match) claim(declaration, match)
    else if (declaration.importId !== undefined && collection.proven) {
      problems.push({
        address: declaration.key,
        message: `import of ${declaration.importId}: ${whyNotImported(kind, declaration.importId, collection)}`,
      })
    } else open.push(declaration)
  }

  const fitting = fittingIn(input)
  const byKey = new Map(declarations.map(it => [it.key, it]))
  for (const declaration of open) {
    const spec = plainPart(input.specOf(declaration))
    const candidates = fitting(declaration)
    const free = candidates.filter(it => !claimed.has(it.remoteId))
    const [first, second] = free
    if (first === undefined) {
      // No other name makes room for who says which object is meant.
      const isSaid = kind.identity.declaredId?.(spec) !== undefined
      const holders = candidates.map(live => ({live, key: claimed.get(live.remoteId) ?? ''}))
      const holder = holders.find(({live, key}) => isSaid || staysAs(input, byKey.get(key), live))
      if (holder)
        problems.push({
          address: declaration.key,
          message: `means ${holder.live.remoteId}, which ${holder.key} has already; one object can have one declaration`,
        })
      continue
    }
    if (second !== undefined) {
      ambiguous.push({
        address: declaration.key,
        message: `${free.length} live ${kind.noun}s fit ${JSON.stringify(kind.identity.key(spec) ?? declaration.address)}: ${free.map(it => it.remoteId).join(', ')}`,
      })
      continue
    }
    const holder = leftOut(input, declaration, first)
    if (holder !== undefined) {
      problems.push(heldBy(declaration, first.remoteId, holder))
      continue
    }
    const owner = input.ownership.of(declaration.stack, kind.api, first.remoteId)
    const former = owner?.stack === declaration.stack ? owner.entry.address : undefined
    if (owner && owner.stack !== declaration.stack) claim(declaration, {live: first, found: 'name', owner})
    else if (former !== undefined && former !== declaration.address)
      claim(declaration, {live: first, found: 'moved', formerAddress: former})
    else claim(declaration, {live: first, found: 'name'})
  }
  addAll(ambiguous, taken(input, matches, claimed))
  return {matches, ambiguous, problems}
}

/** The live objects that a declaration may mean. */
function fittingIn(input: PairInput): (it: Declaration) => readonly LiveObject[] {
  const {
    kind: {identity},
    collection: {objects},
    specOf,
  } = input
  if (identity.matches === undefined) {
    const byName = groupByName(objects)
    return declaration => byName.get(identity.key(plainPart(specOf(declaration))) ?? '\0') ?? []
  }
  const known = objects.map(live => ({live, shown: recorded(live, input.ownership, input.collection)}))
  const among = meantAmong(identity, known, ({shown}) => shown.fields)
  return declaration => {
    const whole = specOf(declaration)
    const spec = plainPart(whole)
    // What is to be computed may be all that tells it from another one.
    if (!saysWhich(identity, whole)) return []
    return among(spec).flatMap(({live, shown}) => (fits(identity, spec, shown) ? live : []))
  }
}

/** With what whoever has it knows of it. */
export const recorded = (live: LiveObject, ownership: Ownership, {backend}: Pick<Collection, 'backend'>): LiveObject =>
  withSaidParts(live, ownership.at(backend, live.remoteId)?.entry.applied)

function whyNotImported(kind: Kind, importId: string, {parent}: Collection): string {
  const isHere = idsIn(kind, importId)?.slice(0, -1).join('/') === parent.join('/')
  return isHere ? 'there is no such object' : `that is in another ${kind.parent?.field ?? 'parent'} than the declared one`
}

/** The address of the same stack that has an object, is declared still, and is not read by this run. */
function leftOut({ownership, kind, declared, read}: PairInput, {stack, address}: Declaration, live: LiveObject): Key | undefined {
  const owner = ownership.of(stack, kind.api, live.remoteId)
  if (owner?.stack !== stack || owner.entry.address === address) return undefined
  const key = keyOf(stack, owner.entry.address)
  return declared.get(key) === kind.name && !read(key) ? key : undefined
}

const heldBy = ({key}: Declaration, remoteId: string | undefined, holder: Key): Problem => ({
  address: key,
  message: `means ${remoteId ?? ''}, which ${holder} has, and that one is not part of this run: plan both together`,
})

/** Whether an object stays what it is under the declaration that has it: a rename or a replacement would free it. */
function staysAs(input: PairInput, holder: Declaration | undefined, live: LiveObject): boolean {
  const {
    kind: {identity, verbs},
    specOf,
  } = input
  if (holder === undefined) return false
  if (identity.renames === undefined && verbs.delete === undefined) return true
  return fits(identity, plainPart(specOf(holder)), recorded(live, input.ownership, input.collection))
}

/** Whether a declaration means a live object of its collection, going by what identifies it. */
export const fits = ({matches, key}: Identity, spec: JsonObject, live: LiveObject): boolean =>
  matches ? matches(spec, live.fields) : key(spec) === live.name

/** A change to what somebody else's object is called, or is: two live objects then fit one declaration. */
function taken(
  {kind, collection, declarations, ownership, specOf}: PairInput,
  matches: ReadonlyMap<Key, Match>,
  claimed: ReadonlyMap<string, Key>,
) {
  const problems: Problem[] = []
  const free = collection.objects.filter(it => !claimed.has(it.remoteId) && ownership.at(collection.backend, it.remoteId) === undefined)
  if (free.length === 0) return problems
  const byName = kind.identity.matches ? undefined : groupByName(free)
  const among = meantAmong(kind.identity, free, ({fields}) => fields)
  for (const declaration of declarations) {
    const match = matches.get(declaration.key)
    // A name that is not compared is not changed either.
    if (match === undefined || declaration.policy.ignoreChanges.some(it => it === '' || it === `/${kind.identity.renames ?? ''}`)) continue
    const spec = plainPart(specOf(declaration))
    const wanted = kind.identity.key(spec)
    const other = byName
      ? match.live.name === wanted
        ? undefined
        : byName.get(wanted ?? '\0')?.[0]
      : kind.identity.matches?.(spec, recorded(match.live, ownership, collection).fields)
        ? undefined
        : among(spec).find(it => kind.identity.matches?.(spec, it.fields))
    if (other === undefined) continue
    problems.push({
      address: declaration.key,
      message: `${foundAs(declaration, match)} ${match.live.remoteId} (${JSON.stringify(match.live.name ?? null)}), and ${other.remoteId} is ${JSON.stringify(wanted ?? null)} already`,
    })
  }
  return problems
}

/** Who says which object is meant: the ledger, unless something brings it in. */
function foundAs({importId}: Declaration, {found, live}: Match): string {
  if (found !== 'import') return 'the ledger has it as'
  return importId === live.remoteId ? 'the import block names' : 'the imported state has it as'
}

function knownMatch(input: PairInput, declaration: Declaration, byId: ReadonlyMap<string, LiveObject>): Match | undefined {
  const ledger = input.ledgers.get(declaration.stack)
  const own = ledger?.entries.get(declaration.address)
  const live = own?.kind === declaration.kind ? byId.get(own.remoteId) : undefined
  // Where that is not there, what the ledger has is replaced by it.
  const said = byId.get(saidObject(input.kind, input.specOf(declaration), input.collection.parent) ?? '')
  const isAnother = (it: LiveObject) => said !== undefined && said !== it
  if (live && !isAnother(live)) return {live, found: 'ledger'}
  const meant = byId.get(input.meant.get(declaration.key) ?? '')
  if (meant) return {live: meant, found: 'import'}
  for (const address of formerAddresses(input.stacks.get(declaration.stack)?.moved ?? [], declaration.address)) {
    const entry = input.declared.has(keyOf(declaration.stack, address)) ? undefined : ledger?.entries.get(address)
    const there = entry && byId.get(entry.remoteId)
    if (there && !isAnother(there)) return {live: there, found: 'moved', formerAddress: entry.address}
  }
  const imported = declaration.importId === undefined ? undefined : byId.get(declaration.importId)
  const owner = imported && input.ownership.of(declaration.stack, input.kind.api, imported.remoteId)
  if (imported === undefined || owner === undefined) return imported && {live: imported, found: 'import'}
  if (owner.stack !== declaration.stack) return {live: imported, found: 'import', owner}
  // The stack has it already: the block says by which address from now on.
  return {live: imported, found: 'moved', formerAddress: owner.entry.address}
}

/** What a declaration says itself that it is, where its import block brings another object to it. */
function contradicted({kind, collection, specOf}: PairInput, declaration: Declaration, {found, live}: Match): string | undefined {
  if (found === 'ledger' || live.remoteId !== declaration.importId) return undefined
  const said = saidObject(kind, specOf(declaration), collection.parent)
  return said === live.remoteId ? undefined : said
}

/** The remote path that a declaration says itself. */
export function saidObject(kind: Kind, spec: ValueObject, parent: Ids): string | undefined {
  const {declaredId} = kind.identity
  const id = declaredId?.(plainPart(spec))
  return id === undefined ? undefined : remoteIdOf(kind, [...parent, id])
}

function groupByName(objects: readonly LiveObject[]): Map<string, LiveObject[]> {
  const groups = new Map<string, LiveObject[]>()
  for (const it of objects) {
    if (it.name !== undefined) addTo(groups, it.name, it)
  }
  return groups
}
