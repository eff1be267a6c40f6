/**
 * Names that one operation frees and another one takes: whoever takes the name waits for whoever leaves it, or there would be
 * two for a while, and for good where the other one comes to nothing. In a ring nobody can begin. Where the API refuses a
 * second object of the same name in the same parent that is refused, since only a person can say which of them may go by a
 * third name in between; elsewhere nobody waits. Where nobody leaves it in this run, nobody takes it.
 */
import type {Problem} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import {meantAmong} from '../model/by-traits.ts'
import {sourceOf} from '../model/declaration.ts'
import {type Identity, kindCalled, meansSame, parentRemoteId, remoteIdOf} from '../model/kind.ts'
import type {Collection, LiveObject} from '../model/live.ts'
import {MOST_NAMESAKES, Namesakes} from '../model/namesakes.ts'
import type {Operation} from '../model/plan.ts'
import {plainPart, saysWhich} from '../model/resolve.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import {fits} from '../observe/pair.ts'
import {blockedInTurn, type Wish} from './blocked-in-turn.ts'
import {OperationCycleError} from './cycle.ts'
import type {PlanInput} from './plan-input.ts'

type Input = Pick<PlanInput, 'observation' | 'kinds' | 'accountOf'>
type Operations = ReadonlyMap<Key, Operation>

/**
 * Who waits for whom.
 * @param active - whatever does something, by key
 * @throws OperationCycleError
 */
export function freedNames(active: ReadonlyMap<Key, Operation>, input: Input): Map<Key, Key> {
  // What only makes objects frees no name.
  if (![...active.values()].some(it => it.remoteId !== undefined)) return new Map()
  const leaving = new Map<string, Key>()
  const taking = new Map<Key, string>()
  const names = new Map<Key, {readonly from: string; readonly to: string}>()
  for (const [key, operation] of active) {
    const [left, taken] = changeOfName(operation, active, input)
    if (left) leaving.set(textOf(left), key)
    if (taken) taking.set(key, textOf(taken))
    names.set(key, {from: left?.name ?? '', to: taken?.name ?? ''})
  }
  const waits = new Map<Key, Key>()
  for (const [key, place] of taking) {
    const holder = leaving.get(place)
    if (holder !== undefined && holder !== key) waits.set(key, holder)
  }
  const isUnique = (key: Key | undefined) => input.kinds.get(active.get(key ?? '')?.kind ?? '')?.identity.unique === true
  // All of a ring are of one kind: they have the same place.
  const rings = ringsIn(waits)
  const stuck = rings.filter(([first]) => isUnique(first))
  if (stuck.length > 0) throw nameRings(stuck.map(ring => ring.map(key => ({key, from: '', to: '', ...names.get(key)}))))
  for (const key of rings.flat()) waits.delete(key)
  return waits
}

/**
 * Those that would take a name that somebody keeps, as what they are then: a replacement would delete its object first, and
 * could not make its successor. Of what needs no name of its own, whoever means an object that stays somebody's would make it twice.
 * @param held - those that something else blocks
 */
export function takenStill(operations: readonly Operation[], input: Input, held: ReadonlySet<Key>): Operation[] {
  // Where nothing is there, nobody keeps a name.
  if (input.observation.collections.every(it => it.objects.length === 0)) return []
  const all = new Map(operations.map(it => [keyOfOperation(it), it]))
  const holders = namedObjects(input)
  const leaves = new Map<Operation, readonly string[]>()
  const wishes: NameWish[] = []
  const changing: Operation[] = []
  for (const it of operations) {
    const [left, taken] = changeOfName(it, all, input)
    const goes = left !== undefined || it.action === 'delete' || it.action === 'replace'
    const object = goes && it.remoteId !== undefined ? [objectIn(accountOf(it, input), it.remoteId)] : []
    leaves.set(it, left === undefined ? object : [textOf(left), ...object])
    if (taken) {
      const place = textOf(taken)
      const remoteId = holders.get(place)
      if (remoteId !== undefined && remoteId !== it.remoteId) wishes.push({operation: it, name: taken.name, holders: [{remoteId, place}]})
    }
    if (taken || it.action === 'create' || it.action === 'replace') changing.push(it)
  }
  addAll(wishes, meantTwice(changing, all, input))
  // What is made leaves nothing to others, and what is blocked already is said to be for its own reason.
  const follows = (it: Operation) => it.action !== 'create' && !held.has(keyOfOperation(it))
  return blockedInTurn(wishes, operations, it => leaves.get(it) ?? [], input.observation, follows).map(([it, holder]) => takes(it, holder))
}

interface NameWish extends Wish {
  readonly name: string | undefined
}

/**
 * Declarations that would come to one name in one place: written otherwise (one parent by its key and by its id, names that
 * are computed), only what is there shows that they mean one object.
 */
export function namedTwice(operations: readonly Operation[], input: Input): Problem[] {
  const all = new Map(operations.map(it => [keyOfOperation(it), it]))
  const taken = new Namesakes<{readonly operation: Operation; readonly plain: JsonObject; readonly saysWhich: boolean}>()
  return operations.flatMap(operation => {
    const [, place] = changeOfName(operation, all, input)
    if (place === undefined) return []
    const key = keyOfOperation(operation)
    const pair = input.observation.pairs.get(key)
    const {identity, noun} = kindCalled(input.kinds, operation.kind)
    const spec = pair?.spec ?? {}
    const said = {operation, plain: plainPart(spec), saysWhich: saysWhich(identity, spec)}
    // Where a name may stand for several, what is there already is told by its id.
    const other = taken.add(textOf(place), said, one => {
      const areThere = operation.remoteId !== undefined && one.operation.remoteId !== undefined
      return (identity.unique || !areThere) && meansSame(identity, said, one)
    })
    if (other === undefined || pair === undefined) return []
    const where = place.parent === '' ? '' : ` in ${place.parent}`
    const message =
      other === 'too-many'
        ? `more than ${MOST_NAMESAKES} declarations are of a ${noun} ${JSON.stringify(place.name)}${where}: nobody can tell them apart`
        : `would be called ${JSON.stringify(place.name)}${where}, and so would ${keyOfOperation(other.operation)}; one object can have one declaration`
    return [{address: key, message, ...sourceOf(pair.declaration)}]
  })
}

const takes = ({operation, name}: NameWish, holder: string): Operation => ({
  ...operation,
  action: 'blocked',
  wants: operation.action,
  cause: 'name-taken',
  reason: `${holder} has the name ${JSON.stringify(name)}, and keeps it in this run`,
})

/**
 * Of kinds of which a server takes several of a name: those that would be made, or be called so, beside owned objects that fit
 * them.
 */
function meantTwice(changing: readonly Operation[], all: Operations, input: Input): NameWish[] {
  const {observation, kinds} = input
  const owned = ownedAlike(input)
  return changing.flatMap(it => {
    const identity = kinds.get(it.kind)?.identity
    if (identity?.unique !== false) return []
    const spec = observation.pairs.get(keyOfOperation(it))?.spec
    const parent = parentTaken(it, all, input)
    if (spec === undefined || parent === undefined || !saysWhich(identity, spec)) return []
    const plain = plainPart(spec)
    const name = identity.key(plain)
    const account = accountOf(it, input)
    const slot = {account, kind: it.kind, parent, name: identity.matches ? '' : (name ?? '')}
    const alike = owned.get(textOf(slot))?.(plain) ?? []
    const holders = alike.filter(live => live.remoteId !== it.remoteId && fits(identity, plain, live))
    return [{operation: it, name, holders: holders.map(({remoteId}) => ({remoteId, place: objectIn(account, remoteId)}))}]
  })
}

/** By place, owned objects of kinds of which a server takes several of a name: together where more than the name identifies them. */
function ownedAlike(input: Input): ReadonlyMap<string, (spec: JsonObject) => readonly LiveObject[]> {
  const {collections, ownership} = input.observation
  const found = new Map<string, {readonly identity: Identity; readonly objects: LiveObject[]}>()
  for (const {backend, kind, parent, objects} of collections) {
    const {unique, matches} = kind.identity
    if (unique) continue
    const at = {account: ownership.accountAt(backend), kind: kind.name, parent: parentOf({kind, parent}, input)}
    for (const live of objects) {
      if (!ownership.at(backend, live.remoteId)) continue
      const slot = textOf({...at, name: matches ? '' : (live.name ?? '')})
      const alike = found.get(slot) ?? {identity: kind.identity, objects: []}
      found.set(slot, alike)
      alike.objects.push(live)
    }
  }
  return new Map([...found].map(([slot, {identity, objects}]) => [slot, meantAmong(identity, objects, ({fields}) => fields)]))
}

/** Where a collection's objects are: empty for what lives in nothing. */
function parentOf({kind, parent}: Pick<Collection, 'kind' | 'parent'>, {kinds}: Input): string {
  const above = kinds.get(kind.parent?.kind ?? '')
  return above ? remoteIdOf(above, parent) : ''
}

/** By place: who has a name that nobody else may have. */
function namedObjects(input: Input): ReadonlyMap<string, string> {
  const {collections, ownership} = input.observation
  const found = new Map<string, string>()
  for (const {backend, kind, parent, objects} of collections) {
    const at = {account: ownership.accountAt(backend), kind: kind.name, parent: parentOf({kind, parent}, input)}
    if (kind.identity.unique) for (const {name, remoteId} of objects) if (name !== undefined) found.set(textOf({...at, name}), remoteId)
  }
  return found
}

interface Renaming {
  readonly key: Key
  readonly from: string
  readonly to: string
}

function nameRings(rings: readonly (readonly Renaming[])[]): OperationCycleError {
  const said = rings.map(ring => {
    const keys = [...ring, ...ring.slice(0, 1)].map(it => it.key).join(' -> ')
    return `${keys} (${ring.map(({from, to}) => `${JSON.stringify(from)} -> ${JSON.stringify(to)}`).join(', ')})`
  })
  return new OperationCycleError(
    `these objects would take each other's names, and no name is free before another one is: ${said.join('; ')}`,
    [
      ...rings.map(
        ring => `Give ${ring[0]?.key ?? ''} a name that nothing has and apply; then give it the name it should have and apply again.`,
      ),
      'Where the objects keep their names and only their addresses change: use addresses that are new in the stack. Each object is then found by its name and moves, without a request.',
    ],
  )
}

/** Account, kind, parent and name: two objects cannot be in the same place at once. */
interface NameSlot {
  readonly account: string
  readonly kind: string
  readonly parent: string
  readonly name: string
}

const textOf = ({account, kind, parent, name}: NameSlot): string => `${account} ${kind} ${parent} ${name}`

function accountOf({stack, kind}: Operation, input: Input): string {
  const api = input.kinds.get(kind)?.api
  return (api && input.accountOf?.(stack, api)) ?? ''
}

const objectIn = (account: string, remoteId: string): string => `${account} ${remoteId}`

const same = (a: NameSlot | undefined, b: NameSlot | undefined): boolean => a !== undefined && b !== undefined && textOf(a) === textOf(b)

/** The place that an operation leaves, and the one that it takes: none where its object stays what it is called. */
function changeOfName(operation: Operation, all: Operations, input: Input): readonly [NameSlot | undefined, NameSlot | undefined] {
  const {identity} = input.kinds.get(operation.kind) ?? {}
  const isKept = operation.action === 'update' && !operation.changes.some(it => it.path === `/${identity?.renames ?? ''}`)
  if (identity === undefined || isKept) return [undefined, undefined]
  const [left, taken] = [placeLeft(operation, input), placeTaken(operation, all, input)]
  return same(left, taken) ? [undefined, undefined] : [left, taken]
}

/** Where the object stands now, if it will not stand there any more. */
function placeLeft(operation: Operation, input: Input): NameSlot | undefined {
  const {observation, kinds} = input
  const {action, kind, remoteId} = operation
  if (remoteId === undefined || (action !== 'delete' && action !== 'replace' && action !== 'update')) return undefined
  const pair = observation.pairs.get(keyOfOperation(operation))
  const name = action === 'delete' ? operation.name : (pair?.match?.live ?? pair?.stray)?.name
  return name === undefined
    ? undefined
    : {account: accountOf(operation, input), kind, parent: parentRemoteId({kinds}, remoteId) ?? '', name}
}

/** Where the object will stand. */
function placeTaken(operation: Operation, all: Operations, input: Input): NameSlot | undefined {
  const {action, kind, name} = operation
  if (name === undefined || (action !== 'create' && action !== 'replace' && action !== 'update')) return undefined
  const parent = parentTaken(operation, all, input)
  return parent === undefined ? undefined : {account: accountOf(operation, input), kind, parent, name}
}

/** What the object will live in: empty where it lives in nothing, and none where that is still to be made, so that every name is free. */
function parentTaken({kind, declared, ...it}: Operation, all: Operations, {observation, kinds}: Input): string | undefined {
  const above = kinds.get(kinds.get(kind)?.parent?.kind ?? '')
  if (above === undefined) return ''
  const holder = declared?.parent?.by === 'key' ? all.get(declared.parent.key) : undefined
  if (holder?.action === 'replace') return undefined
  const ids = observation.pairs.get(keyOfOperation(it))?.parent
  if (ids !== undefined) return remoteIdOf(above, ids)
  // What is blocked stays where it is, whatever place is declared for it.
  return holder?.action === 'blocked' ? holder.remoteId : undefined
}

/** Everyone waits for one at most, so whoever comes back to where it began has been round a ring. */
function ringsIn(waits: ReadonlyMap<Key, Key>): Key[][] {
  const rings: Key[][] = []
  const done = new Set<Key>()
  for (const start of waits.keys()) {
    const path = new Set<Key>()
    let at: Key | undefined = start
    for (; at !== undefined && !done.has(at) && !path.has(at); at = waits.get(at)) path.add(at)
    if (at !== undefined && path.has(at)) {
      const keys = [...path]
      rings.push(keys.slice(keys.indexOf(at)))
    }
    for (const key of path) done.add(key)
  }
  return rings
}
