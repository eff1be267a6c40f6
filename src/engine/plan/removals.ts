/**
 * What goes: objects a ledger owns and nobody declares any more, and whatever stands undeclared in a collection
 * declared `exclusive`. Everything else undeclared is counted and left alone.
 */
import {addAll, addTo} from '../../base/many.ts'
import type {Cause} from '../model/cause.ts'
import {isDeposed, withoutDeposed} from '../model/deposed.ts'
import {isLostWithParent, type Kind, kindCalled} from '../model/kind.ts'
import type {LiveObject} from '../model/live.ts'
import {inlineItems} from '../model/made-inline.ts'
import type {Operation, Unmanaged} from '../model/plan.ts'
import {type RecordedSecrets, recordedSecrets, secretsBelow} from '../model/shown-field.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import type {Orphan, Placed} from '../observe/observation.ts'
import {childrenOf} from './children-of.ts'
import {Claims} from './claims.ts'
import {formerOf, nameShown} from './former.ts'
import {forgottenInExclusive, madeInExclusive} from './in-exclusive.ts'
import {LastWishes} from './kept.ts'
import {objectAt, objectOf, parentObjectOf} from './object-names.ts'
import type {PlanInput} from './plan-input.ts'
import {TakenAlong} from './taken-along.ts'
import {lostAlong, saidToBeLost, shownUnmanaged, unmanagedIn} from './unmanaged.ts'

export interface Removals {
  readonly operations: readonly Operation[]
  /** What nobody declares in exclusive collections, or nobody can tell yet whether anybody does; whether it was chosen or not. */
  readonly exclusive: readonly Operation[]
  readonly unmanaged: readonly Unmanaged[]
  /** What stands in exclusive objects and is declared by what this run does not plan, by the key of the object. */
  readonly spared: ReadonlyMap<Key, readonly string[]>
  /** What nobody manages and goes with an object, by the key of whatever deletes that. */
  readonly lost: ReadonlyMap<Key, readonly string[]>
  readonly notes: readonly string[]
}

export function planRemovals(
  input: PlanInput,
  declared: readonly Operation[],
  claims = new Claims(input),
  along = new TakenAlong(input, declared, claims),
): Removals {
  const {observation, ledgers, selected} = input
  const notes: string[] = []
  // In an order of its own: notes are part of what is approved.
  for (const stack of [...selected].sort()) {
    // A stack that has nothing anywhere is simply new.
    const isNew = () => !input.destroy && !declared.some(it => it.stack === stack && it.remoteId !== undefined)
    if (ledgers.get(stack)?.condition === 'absent' && !isNew())
      notes.push(`${stack}: there is no ledger: what is not declared any more is not seen, and stays`)
  }
  const wishes = new LastWishes(input)
  const stuck = stuckAmong(declared)
  const orphans = observation.orphans
    .map(it => withSuccessor(input, along.respected(claims.respected(removalOf(input, it, wishes))), stuck))
    .sort(byAddress)
  // What a ledger has is nobody's to take anyway: of a hundred thousand objects that are owned none needs a name here.
  const taken = new Set<string>()
  const take = (stack: string, kind: Kind, remoteId: string): void => {
    if (observation.ownership.of(stack, kind.api, remoteId) === undefined) taken.add(objectAt(input, stack, kind.name, remoteId))
  }
  for (const it of [...declared, ...orphans]) if (it.remoteId !== undefined) take(it.stack, kindCalled(input.kinds, it.kind), it.remoteId)
  for (const {declaration, match} of observation.pairs.values()) if (match) take(declaration.stack, match.live.kind, match.live.remoteId)
  const free: IsFree = (stack, {kind, remoteId}) =>
    !taken.has(objectAt(input, stack, kind.name, remoteId)) && observation.ownership.of(stack, kind.api, remoteId) === undefined
  const elsewhere = new Set(declared.flatMap(it => (it.elsewhere === undefined ? [] : [keyOfOperation(it)])))
  const perhaps: Operation[] = []
  const spared = new Map<Key, string[]>()
  const exclusive = exclusiveRemovals(input, free, claims, {elsewhere, perhaps, spared, notes}).map(it =>
    along.respected(claims.respected(it)),
  )
  const others = new Set(exclusive.map(it => objectOf(input, it)))
  const inline = inlineRemovals(input, [...orphans, ...exclusive], free)
    .filter(it => !others.has(objectOf(input, it)))
    .map(it => along.respected(claims.respected(it)))
  const chosen = [...exclusive, ...inline].filter(input.keeps?.([...exclusive, ...inline]) ?? (() => true))
  const operations = keepWatch(input, declared, allowed(input, declared, [...orphans, ...chosen]))
  for (const it of operations) taken.add(objectOf(input, it) ?? '')
  addAll(notes, forgottenInExclusive(input, operations))
  addAll(notes, madeInExclusive(input, declared))
  const unmanaged = unmanagedIn(input, taken, claims)
  const lost = lostAlong(input, [...declared, ...operations], unmanaged)
  addAll(notes, saidToBeLost(lost))
  return {operations, exclusive: [...exclusive, ...perhaps], unmanaged: shownUnmanaged(unmanaged), spared, lost, notes}
}

/**
 * Removals with what follows from each other: what stays as it holds something keeps what was made with it, what would have
 * gone along with it, and what it is in.
 */
function allowed(input: PlanInput, declared: readonly Operation[], removals: readonly Operation[]): Operation[] {
  const all = withParentsGone(input, declared, removals)
  const leaving = new Set(
    [...declared, ...all].filter(it => it.action === 'delete' || leavesParent(input, it)).map(it => objectOf(input, it)),
  )
  const stuck = stuckIn(input, all)
  const operations = all.map(it => keepFull(input, it, leaving, stuck))
  const full = new Map(operations.flatMap((it, at) => (it === all[at] ? [] : [[keyOfOperation(it), it] as const])))
  const staying = new Set(operations.flatMap(it => (it.action === 'blocked' ? (objectOf(input, it) ?? []) : [])))
  const goes = removals.filter(it => it.cause !== 'made-inline' || !staying.has(parentObjectOf(input, it) ?? ''))
  if (full.size === 0 && goes.length === removals.length) return operations
  return allowed(
    input,
    declared,
    goes.map(it => full.get(keyOfOperation(it)) ?? it),
  )
}

function removalOf(input: PlanInput, orphan: Orphan, wishes: LastWishes): Operation {
  const {stack, object, entry, address, live, doubt, heldBy} = orphan
  const kind = kindCalled(input.kinds, object.kind)
  const construct = wishes.declared(orphan)?.source.construct
  const recorded = recordedSecrets(entry)
  const name = live && nameShown(live, recorded)
  const base = {
    stack,
    address,
    kind: object.kind,
    // An object stands in one operation: that of whoever has it.
    ...(heldBy === undefined ? {remoteId: object.remoteId} : {}),
    ...(address === object.address ? {} : {movedFrom: object.address}),
    ...(entry === undefined ? {} : {origin: entry.origin}),
    ...(wishes.preventsDestroy(orphan) ? {preventDestroy: true as const} : {}),
    ...(name === undefined ? {} : {name}),
    // It goes by the path that every other plan shows.
    ...(construct === undefined ? {} : {construct}),
    changes: [],
    because: [],
    edges: [],
  }
  if (heldBy !== undefined)
    return {...base, action: 'forget', cause: 'held-elsewhere', reason: `${heldBy} has the same object (${object.remoteId})`}
  if (doubt !== undefined) return {...base, action: 'blocked', wants: 'delete', cause: doubt.cause, reason: doubt.reason}
  // Its old ledger may have it still, and could not be asked.
  if (entry?.transfer !== undefined) {
    const {from} = entry.transfer
    const where = from.state === undefined ? `stack ${from.stack}` : from.state
    const reason = `it is on its way here from ${where}: svcctl transfer --resume`
    return {...base, action: 'blocked', wants: 'delete', cause: 'maybe-elsewhere', reason, elsewhere: {stack: from.stack}}
  }
  if (live === undefined) return {...base, action: 'forget', cause: 'gone', reason: 'it is gone already'}
  const keeps = wishes.keeps(orphan)
  if (keeps !== undefined) return {...base, action: 'forget', cause: keeps, reason: KEPT[keeps]}
  if (kind.singleton || kind.adoptOnly)
    return {
      ...base,
      action: 'forget',
      cause: 'never-deleted',
      reason: 'it is never deleted: it stays as it is, and is only forgotten',
    }
  if (kind.verbs.delete === undefined) {
    const reason = kind.absent?.delete ?? `the API cannot delete a ${kind.noun}`
    return {...base, action: 'blocked', wants: 'delete', cause: 'no-delete', reason}
  }
  return {...base, action: 'delete', ...whyDelete(input, object, address), former: formerOf(live, recorded)}
}

const KEPT = {'removed-block': 'removed block', retain: 'removalPolicy retain: it stays as it is'} as const

function whyDelete({destroy}: PlanInput, object: Placed, address: string): Pick<Operation, 'cause' | 'reason'> {
  if (isDeposed(object.address)) return {cause: 'deposed', reason: 'it gave its address to another object, and is what is left to delete'}
  if (destroy) return {cause: 'destroy', reason: 'destroy: asked for'}
  if (address !== object.address) return {cause: 'address-reused', reason: `no longer declared: ${object.address} is another object now`}
  return {cause: 'not-declared', reason: 'no longer declared'}
}

/**
 * What is declared and does not come: it is blocked, or hangs on what is and is not there. What is blocked and there keeps
 * nothing from coming that only hangs on it.
 * @param declared - each after what it hangs on
 */
function stuckAmong(declared: readonly Operation[]): ReadonlyMap<Key, Operation> {
  const stuck = new Map<Key, Operation>()
  for (const it of declared) {
    const {parent, dependsOn = []} = it.declared ?? {}
    const needs = [...(parent?.by === 'key' ? [parent] : []), ...dependsOn].flatMap(({key}) => stuck.get(key) ?? [])
    const isThere = ({action, wants, remoteId}: Operation) => action === 'blocked' && wants !== 'replace' && remoteId !== undefined
    if (it.action === 'blocked' || !needs.every(isThere)) stuck.set(keyOfOperation(it), it)
  }
  return stuck
}

/** Nothing goes for what is not to come. */
function withSuccessor({ledgers}: PlanInput, removal: Operation, stuck: ReadonlyMap<Key, Operation>): Operation {
  const {stack, address, movedFrom = withoutDeposed(address), action, cause} = removal
  // Of what was made the ledger has the address.
  const isMade = cause === 'deposed' && ledgers.get(stack)?.entries.has(movedFrom) === true
  const successor = action === 'delete' && address !== movedFrom && !isMade ? stuck.get(keyOf(stack, movedFrom)) : undefined
  if (successor === undefined) return removal
  const {former: _, ...rest} = removal
  const means = successor.remoteId === undefined ? '' : ` means ${successor.remoteId} now, and`
  const why = successor.action === 'blocked' ? 'is blocked' : 'hangs on what is blocked'
  return {...rest, action: 'blocked', wants: 'delete', cause: 'successor-blocked', reason: `${movedFrom}${means} ${why}`}
}

/**
 * Where the parent goes too, or is replaced, a child that goes along is only forgotten; and where the parent is forgotten
 * and stays, so is a child that nothing can delete: what nobody has any more must not keep a stack from being destroyed.
 */
function withParentsGone(input: PlanInput, declared: readonly Operation[], operations: readonly Operation[]): Operation[] {
  const going = [...declared.filter(it => it.action === 'replace'), ...operations.filter(it => it.action === 'delete')]
  const gone = new Set(going.map(it => objectOf(input, it)))
  const kept = new Map(
    operations.flatMap(it => (it.cause === 'retain' || it.cause === 'removed-block' ? [[objectOf(input, it), it.cause] as const] : [])),
  )
  return operations.map(it => {
    const kind = kindCalled(input.kinds, it.kind)
    const parent = parentObjectOf(input, it)
    if (parent === undefined || !kind.goesWithParent) return it
    const {wants: _, former: _former, ...rest} = it
    const above = kind.parent?.field ?? 'parent'
    const stays = it.cause === 'no-delete' ? kept.get(parent) : undefined
    if (stays !== undefined) return {...rest, action: 'forget', cause: stays, reason: `it stays in its ${above}, which is only forgotten`}
    if (!gone.has(parent) || (it.action !== 'delete' && it.action !== 'blocked') || it.elsewhere !== undefined) return it
    return {...rest, action: 'forget', cause: 'goes-with-parent', reason: `it goes with its ${above}`}
  })
}

/**
 * What is to stay is not forgotten as long as it is what keeps the object that it lives in: nobody would know of it the
 * next time, and it would go along then.
 */
function keepWatch(input: PlanInput, declared: readonly Operation[], operations: readonly Operation[]): Operation[] {
  const kept = new Set(
    [...declared, ...operations].flatMap(it =>
      it.action === 'blocked' && (it.wants === 'delete' || it.wants === 'replace') ? (objectOf(input, it) ?? []) : [],
    ),
  )
  const keeps = ({cause, ...it}: Operation) =>
    (cause === 'retain' || cause === 'removed-block') &&
    isLostWithParent(kindCalled(input.kinds, it.kind), input.kinds) &&
    kept.has(parentObjectOf(input, it) ?? '')
  return operations.filter(it => !keeps(it))
}

/** What is not removed though nobody declares it, by the object that it lives in and would be lost with. */
function stuckIn(input: PlanInput, operations: readonly Operation[]): ReadonlyMap<string, readonly StillThere[]> {
  const found = new Map<string, StillThere[]>()
  for (const it of operations) {
    const {action, kind, name, remoteId} = it
    const parent =
      action === 'blocked' && isLostWithParent(kindCalled(input.kinds, kind), input.kinds) ? parentObjectOf(input, it) : undefined
    if (parent === undefined || remoteId === undefined) continue
    found.set(parent, [...(found.get(parent) ?? []), {name, remoteId}])
  }
  return found
}

type StillThere = Pick<LiveObject, 'name' | 'remoteId'>

/** An object that holds what is not removed is not deleted: what it must be empty of, and what would be lost with it. */
function keepFull(
  input: PlanInput,
  operation: Operation,
  leaving: ReadonlySet<string | undefined>,
  stuck: ReturnType<typeof stuckIn>,
): Operation {
  const {emptyOf = []} = kindCalled(input.kinds, operation.kind)
  if (operation.action !== 'delete' || operation.remoteId === undefined) return operation
  const {stack, remoteId} = operation
  // What a list shows is there, whether it is the whole list or not.
  const full = childrenOf(input, stack, remoteId, emptyOf, () => true).filter(
    it => !leaving.has(objectAt(input, stack, it.kind.name, it.remoteId)),
  )
  const staying = [...full, ...(stuck.get(objectOf(input, operation) ?? '') ?? [])]
  if (staying.length === 0) return operation
  const names = staying.map(it => `${it.name ?? '?'} (${it.remoteId})`).join(', ')
  return {
    ...operation,
    action: 'blocked',
    wants: 'delete',
    cause: 'not-empty',
    reason: `it still holds what this run does not remove: ${names}`,
  }
}

/** Whether nobody has an object, in the account of a stack. */
type IsFree = (stack: string, live: LiveObject) => boolean

interface Exclusive {
  /** Declarations whose objects are another stack's, or may be: what stands in those is its to judge. */
  readonly elsewhere: ReadonlySet<Key>
  /** Gets the removals of what may be declared: it stays for now. */
  readonly perhaps: Operation[]
  /** Gets what is declared, and stays, by whatever is exclusive for it. */
  readonly spared: Map<Key, string[]>
  /** Hears what stays. */
  readonly notes: string[]
}

function exclusiveRemovals(input: PlanInput, free: IsFree, claims: Claims, {elsewhere, perhaps, spared, notes}: Exclusive): Operation[] {
  const {observation, selected} = input
  const operations: Operation[] = []
  for (const {declaration, match, context} of observation.pairs.values()) {
    // What this run only refers to is left as it is, and so is what it holds.
    if (match === undefined || context || !selected.has(declaration.stack) || elsewhere.has(declaration.key)) continue
    for (const word of declaration.policy.exclusive) {
      const child = match.live.kind.exclusive?.[word]
      if (child === undefined) continue
      for (const live of childrenOf(input, declaration.stack, match.live.remoteId, [child])) {
        // What nobody plans just now is somebody's all the same: of another stack, or left out by --target.
        if (!free(declaration.stack, live)) continue
        const other = claims.declaredAs(declaration.stack, live)
        const removal = undeclared(declaration.stack, live, 'exclusive', `${declaration.address} is exclusive for its ${word}`)
        if (other === undefined) operations.push(removal)
        else if (!other.maybe) addTo(spared, declaration.key, live.remoteId)
        if (!other?.maybe) continue
        perhaps.push(removal)
        notes.push(
          `${declaration.key} is exclusive for its ${word}, but ${live.remoteId} stays: it may be what is meant by ${other.key}, of which not all is known yet`,
        )
      }
    }
  }
  return operations.sort(byAddress)
}

/** Children a parent's create made inline, that nobody declared since: they go with it, each by a request of its own. */
function inlineRemovals(input: PlanInput, operations: readonly Operation[], free: IsFree): Operation[] {
  return operations.flatMap(operation => {
    const kind = kindCalled(input.kinds, operation.kind)
    const entry = input.ledgers.get(operation.stack)?.entries.get(operation.movedFrom ?? operation.address)
    if (operation.action !== 'delete' || kind.inlineChildren === undefined || entry === undefined || operation.remoteId === undefined)
      return []
    const {field} = kind.inlineChildren
    const names = inlineItems(entry, field)
    // The ledger has what they were made with in the list they were declared in.
    const recorded = secretsBelow(secretsBelow(recordedSecrets(entry), field), '*')
    return (
      childrenOf(input, operation.stack, operation.remoteId, [kind.inlineChildren.kind])
        .filter(it => free(operation.stack, it) && it.name !== undefined && names.has(it.name))
        .map(live => undeclared(operation.stack, live, 'made-inline', `it was made with ${operation.address} and goes with it`, recorded))
        // Of what was only taken over nobody knows what came with it.
        .map(it => (entry.origin === 'created' ? it : {...it, origin: entry.origin}))
        .sort(byAddress)
    )
  })
}

/** An object without a declaration: its address is its remote path. */
const undeclared = (stack: string, live: LiveObject, cause: Cause, reason: string, recorded: RecordedSecrets = []): Operation => ({
  stack,
  address: live.remoteId,
  kind: live.kind.name,
  action: 'delete',
  cause,
  reason,
  remoteId: live.remoteId,
  ...(live.name === undefined ? {} : {name: live.name}),
  former: formerOf(live, recorded),
  changes: [],
  because: [],
  edges: [],
})

/** Whether an operation makes its object anew in another parent: the old one leaves the parent it is in. */
export const leavesParent = ({observation}: Pick<PlanInput, 'observation'>, {action, stack, address}: Operation): boolean =>
  action === 'replace' && observation.pairs.get(keyOf(stack, address))?.stray !== undefined

const byAddress = (a: Operation, b: Operation): number => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)
