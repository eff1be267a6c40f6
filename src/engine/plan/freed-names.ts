/**
 * Names that one operation frees and another one takes. Where the API refuses a second object of the same name in the
 * same parent, whoever takes the name waits for whoever leaves it. In a ring nobody can begin: that is refused, since
 * only a person can say which of them may go by a third name in between. Where nobody leaves it in this run, nobody takes it.
 */
import {parentRemoteId, remoteIdOf} from '../model/kind.ts'
import type {Operation} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import {OperationCycleError} from './cycle.ts'
import type {PlanInput} from './plan-input.ts'

type Input = Pick<PlanInput, 'observation' | 'kinds' | 'accountOf'>

/**
 * Who waits for whom.
 * @param active - whatever does something, by key
 * @throws OperationCycleError
 */
export function freedNames(active: ReadonlyMap<Key, Operation>, input: Input): Map<Key, Key> {
  const leaving = new Map<string, Key>()
  const taking = new Map<Key, string>()
  const names = new Map<Key, {readonly from: string; readonly to: string}>()
  for (const [key, operation] of active) {
    const [left, taken] = changeOfName(operation, input)
    if (left) leaving.set(textOf(left), key)
    if (taken) taking.set(key, textOf(taken))
    names.set(key, {from: left?.name ?? '', to: taken?.name ?? ''})
  }
  const waits = new Map<Key, Key>()
  for (const [key, place] of taking) {
    const holder = leaving.get(place)
    if (holder !== undefined && holder !== key) waits.set(key, holder)
  }
  const rings = ringsIn(waits)
  if (rings.length > 0) throw nameRings(rings.map(ring => ring.map(key => ({key, from: '', to: '', ...names.get(key)}))))
  return waits
}

/**
 * Those that would take a name that somebody keeps, as what they are then: a replacement would delete its object first, and
 * could not make its successor.
 */
export function takenStill(operations: readonly Operation[], input: Input): Operation[] {
  const changes = operations.map(it => [it, ...changeOfName(it, input)] as const)
  const wanted = changes.filter(([, , taken]) => taken !== undefined)
  if (wanted.length === 0) return []
  const free = new Set(changes.flatMap(([, left]) => (left === undefined ? [] : textOf(left))))
  const holders = namedObjects(input)
  return wanted.flatMap(([it, , taken]) => {
    const holder = taken && !free.has(textOf(taken)) ? holders.get(textOf(taken)) : undefined
    if (holder === undefined || holder === it.remoteId) return []
    const reason = `${holder} has the name ${JSON.stringify(taken?.name)}, and keeps it in this run`
    return [{...it, action: 'blocked' as const, wants: it.action, cause: 'name-taken' as const, reason}]
  })
}

/** By place: who has a name that nobody else may have. */
function namedObjects({observation: {collections, ownership}, kinds}: Input): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const {backend, kind, parent, objects} of collections) {
    const above = kinds.get(kind.parent?.kind ?? '')
    const at = {account: ownership.accountAt(backend), kind: kind.name, parent: above ? remoteIdOf(above, parent) : ''}
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

const same = (a: NameSlot | undefined, b: NameSlot | undefined): boolean => a !== undefined && b !== undefined && textOf(a) === textOf(b)

/** The place that an operation leaves, and the one that it takes: none where its object stays what it is called. */
function changeOfName(operation: Operation, input: Input): readonly [NameSlot | undefined, NameSlot | undefined] {
  const {identity} = input.kinds.get(operation.kind) ?? {}
  const isKept = operation.action === 'update' && !operation.changes.some(it => it.path === `/${identity?.renames ?? ''}`)
  if (identity?.unique !== true || isKept) return [undefined, undefined]
  const [left, taken] = [placeLeft(operation, input), placeTaken(operation, input)]
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
function placeTaken(operation: Operation, input: Input): NameSlot | undefined {
  const {observation, kinds} = input
  const {action, kind, name} = operation
  if (name === undefined || (action !== 'create' && action !== 'replace' && action !== 'update')) return undefined
  const above = kinds.get(kinds.get(kind)?.parent?.kind ?? '')
  const ids = observation.pairs.get(keyOfOperation(operation))?.parent
  // In a parent that is still to be made every name is free.
  if (above !== undefined && ids === undefined) return undefined
  return {account: accountOf(operation, input), kind, parent: above && ids ? remoteIdOf(above, ids) : '', name}
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
