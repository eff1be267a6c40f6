/**
 * From what was declared, observed and owned to the operations that would make them agree. Pure: it asks nobody and
 * changes nothing.
 */
import type {Json} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import {neededBy} from '../model/declaration.ts'
import {remoteIdOf} from '../model/kind.ts'
import type {Operation, Unmanaged} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import type {Paired} from '../observe/observation.ts'
import {accepted} from './accepted.ts'
import {Claims} from './claims.ts'
import {createdAnew} from './creation.ts'
import {operationOf, type Planning} from './declared-operation.ts'
import {takenStill} from './freed-names.ts'
import {isTakenOver, sayingWhatStays} from './in-exclusive.ts'
import {parentObjectOf as livesIn, objectOf} from './object-names.ts'
import {orderOperations} from './order.ts'
import {outsideParent} from './outside-parent.ts'
import type {PlanInput} from './plan-input.ts'
import {keysThen} from './recorded.ts'
import {planRemovals, type Removals} from './removals.ts'
import {TakenAlong} from './taken-along.ts'

export interface PlannedOperations {
  readonly operations: readonly Operation[]
  readonly unmanaged: readonly Unmanaged[]
  readonly notes: readonly string[]
}

export function planOperations(given: PlanInput): PlannedOperations {
  const {ledgers, otherLedgers = [], observation} = given
  const input = {...given, keyThen: keysThen([...otherLedgers, ...ledgers.values()], observation.pairs.values())}
  const claims = new Claims(input)
  const pairs = dependenciesFirst(new Map([...input.observation.pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))))
  const held = new Map<Key, Operation>()
  const plan = () => planAll(input, pairs, claims, held)
  let {operations, exclusive, spared, notes, unmanaged, lost} = plan()
  // Who stays as it is may keep others from what they would do.
  for (;;) {
    const more = heldBack(input, operations, claims).filter(it => {
      const known = held.get(keyOfOperation(it))
      // What is accepted as left behind would be made then, and may be kept from that in turn.
      return known === undefined || (it.wants === 'create' && known.wants !== 'create')
    })
    if (more.length === 0) break
    for (const it of more) held.set(keyOfOperation(it), it)
    ;({operations, exclusive, spared, notes, unmanaged, lost} = plan())
  }
  const {kept, left} = input.lifts.noDestroy ? withoutDestroying(operations, input) : {kept: operations, left: []}
  if (left.length > 0) notes.push(`${left.length} removals left out (--no-destroy): ${left.map(it => it.address).join(', ')}`)
  const saying = sayingWhatStays(input, decided(input, kept), exclusive)
  addAll(notes, saying.notes)
  return {
    operations: orderOperations(saying.operations, input).map(it => hiding(input, withLost(withSpared(it, spared), lost))),
    unmanaged: unmanaged.map(it => ({...it, name: hidden(input, it.name)})),
    notes,
  }
}

/** Of what is taken over by its name: whoever applies a saved plan knows by that what was in it already. */
function withSpared(operation: Operation, spared: ReadonlyMap<Key, readonly string[]>): Operation {
  const spares = isTakenOver(operation) ? spared.get(keyOfOperation(operation)) : undefined
  return spares === undefined ? operation : {...operation, spares: spares.toSorted()}
}

/** @param held - what stays as it is */
function planAll(input: Planning, pairs: readonly Paired[], claims: Claims, held: ReadonlyMap<Key, Operation>) {
  const {operations, notes} = planDeclared(input, pairs, claims, held)
  const removals = planRemovals(input, operations, claims)
  return {
    operations: [...operations, ...removals.operations],
    exclusive: removals.exclusive,
    spared: removals.spared,
    unmanaged: removals.unmanaged,
    lost: removals.lost,
    notes: [...notes, ...removals.notes],
  }
}

/** Those that cannot be as things are, with the reason: what hangs on them is planned again then, since they stay. */
function heldBack(input: PlanInput, operations: readonly Operation[], claims: Claims): Operation[] {
  const {observation, lifts} = input
  const declared = operations.filter(it => observation.pairs.has(keyOfOperation(it)))
  // What its parent takes along is judged again once that stays.
  const left = lifts.noDestroy ? declared.filter(it => it.action === 'replace' && it.cause !== 'parent-replaced') : []
  const held = [
    ...new TakenAlong(input, declared, claims).heldBack(declared).values(),
    ...left.map(it => ({...it, action: 'blocked' as const, wants: it.action})),
    ...declared.flatMap(it => claims.notKnownYet(it) ?? []),
  ]
  const staying = decided(input, lifts.noDestroy ? operations.filter(it => !goes(it)) : operations)
  return [...held, ...takenStill(staying, input, new Set(held.map(keyOfOperation)))]
}

function withLost(operation: Operation, lost: Removals['lost']): Operation {
  const takes = operation.action === 'delete' || operation.action === 'replace' ? lost.get(keyOfOperation(operation)) : undefined
  return takes === undefined ? operation : {...operation, takes}
}

/** What only a server says of an object, that is its fields, and its name where nothing declares it, may repeat a secret. */
function hiding(input: PlanInput, operation: Operation): Operation {
  const {declared, name, former} = operation
  if (input.hides === undefined) return operation
  const isDeclared = declared !== undefined || name === undefined
  return {...operation, ...(isDeclared ? {} : {name: hidden(input, name)}), ...(former && {former: hidden(input, former)})}
}

const hidden = <T extends Json>({hides = it => it}: PlanInput, shown: T): T => hides(shown) as T

/** @param held - replacements that would take along what stays: their children are not replaced for them */
function planDeclared(
  input: Planning,
  pairs: readonly Paired[],
  claims: Claims,
  held: ReadonlyMap<Key, Operation>,
): {readonly operations: Operation[]; readonly notes: string[]} {
  const notes: string[] = []
  const replaced = new Set<Key>()
  const operations: Operation[] = []
  for (const pair of pairs) {
    // What this run only refers to is what it is, whatever another run would make of it.
    if (pair.context) continue
    const {key} = pair.declaration
    const operation = held.get(key) ?? claims.respected(operationOf(input, pair, replaced, notes))
    if (operation.action === 'replace') replaced.add(key)
    operations.push(operation)
  }
  return {operations, notes}
}

/** What is blocked as things are, as what it is all the same: made where its old one is left behind, or as a person says it is. */
function decided(input: PlanInput, operations: readonly Operation[]): Operation[] {
  const all = movedOut(input, operations)
  return input.accepts ? accepted(all, input.accepts(all), input.observation) : all
}

/** What moves to another parent and cannot be deleted is only created there, where it goes with the parent it leaves. */
function movedOut(input: PlanInput, operations: readonly Operation[]): Operation[] {
  const going = new Set(operations.flatMap(it => (it.action === 'delete' || it.action === 'replace' ? (objectOf(input, it) ?? []) : [])))
  return operations.map(it => {
    const pair = input.observation.pairs.get(keyOfOperation(it))
    const kind = pair?.stray?.kind
    if (it.action !== 'blocked' || it.elsewhere !== undefined || pair?.stray === undefined || pair.doubt || !kind?.goesWithParent) return it
    if (!going.has(livesIn(input, {...it, remoteId: pair.stray.remoteId}) ?? '')) return it
    const anew = createdAnew(it, kind, pair, {cause: 'parent-changed', old: 'the old one goes with the one it was in'})
    // Of the old one: whether it may go is asked of how it came here.
    return it.origin === undefined ? anew : {...anew, origin: it.origin}
  })
}

/**
 * Pairs in an order in which everything comes after what it hangs on; the map's order otherwise. No recursion: chains may be
 * long. What hangs on each other stands last, and is refused when operations are put in order.
 */
function dependenciesFirst(pairs: ReadonlyMap<Key, Paired>): Paired[] {
  const waits = new Map<Key, number>()
  const followers = new Map<Key, Key[]>()
  for (const [key, {declaration}] of pairs) {
    let count = 0
    for (const need of neededBy(declaration)) {
      if (!pairs.has(need)) continue
      count++
      const list = followers.get(need)
      if (list) list.push(key)
      else followers.set(need, [key])
    }
    waits.set(key, count)
  }
  const ordered: Paired[] = []
  const ready = [...pairs.keys()].filter(key => waits.get(key) === 0)
  for (let at = 0; at < ready.length; at++) {
    const key = ready[at] ?? ''
    const pair = pairs.get(key)
    if (pair) ordered.push(pair)
    for (const next of followers.get(key) ?? []) {
      const left = (waits.get(next) ?? 0) - 1
      waits.set(next, left)
      if (left === 0) ready.push(next)
    }
  }
  const stuck = [...pairs].filter(([key]) => (waits.get(key) ?? 0) > 0)
  return [...ordered, ...stuck.map(([, pair]) => pair)]
}

function withoutDestroying(operations: readonly Operation[], input: PlanInput): {kept: Operation[]; left: Operation[]} {
  const staying = new Set(operations.flatMap(it => (goes(it) ? (objectOf(input, it) ?? []) : [])))
  // What would have gone along stays too.
  const left = new Set(operations.filter(it => goes(it) || (it.cause === 'goes-with-parent' && staying.has(livesIn(input, it) ?? ''))))
  // What would be made in a place that is not there for it stays out, too.
  const unplaced = operations.filter(
    it => parentKeyOf(it) !== undefined && input.observation.pairs.get(keyOfOperation(it))?.parent === undefined,
  )
  const keys = new Set([...left].map(keyOfOperation))
  for (let before = -1; before < left.size; ) {
    before = left.size
    for (const it of unplaced) {
      if (!keys.has(parentKeyOf(it) ?? '')) continue
      left.add(it)
      keys.add(keyOfOperation(it))
    }
  }
  const kept = operations.filter(it => !left.has(it))
  // Of what is another stack's to judge the operation alone does not say where it was.
  const places = new Map(input.observation.orphans.map(it => [keyOfOperation(it), it.object.address]))
  const besides = new Map(
    [...left].flatMap(it => {
      const from = it.movedFrom ?? places.get(keyOfOperation(it))
      return from === undefined ? [] : [[keyOf(it.stack, from), it.remoteId]]
    }),
  )
  return {
    kept: kept.map(it => {
      const stays = it.declared === undefined ? undefined : besides.get(keyOfOperation(it))
      const placed = keys.has(parentKeyOf(it) ?? '') ? inPlace(input, it) : it
      return stays === undefined ? placed : {...placed, besides: stays}
    }),
    left: [...left],
  }
}

const parentKeyOf = ({declared}: Operation): Key | undefined => (declared?.parent?.by === 'key' ? declared.parent.key : undefined)

/** What hangs on something that is no part of the plan says where that is. */
function inPlace(input: PlanInput, operation: Operation): Operation {
  const {observation, kinds} = input
  const {declared, kind} = operation
  const above = kinds.get(kinds.get(kind)?.parent?.kind ?? '')
  const ids = observation.pairs.get(keyOfOperation(operation))?.parent
  if (declared?.parent?.by !== 'key' || above === undefined || ids === undefined) return operation
  return {...operation, declared: {...declared, parent: outsideParent(input, declared.parent, remoteIdOf(above, ids))}}
}

/** What deletes an object, or would. */
function goes(it: Operation): boolean {
  const would = it.action === 'blocked' ? it.wants : it.action
  return would === 'delete' || would === 'replace'
}
