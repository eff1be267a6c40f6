/**
 * From what was declared, observed and owned to the operations that would make them agree. Pure: it asks nobody and
 * changes nothing.
 */
import type {Json} from '../../base/json.ts'
import {neededBy} from '../model/declaration.ts'
import type {Operation, Unmanaged} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import type {Paired} from '../observe/observation.ts'
import {Claims} from './claims.ts'
import {createdAnew} from './creation.ts'
import {operationOf, type Planning} from './declared-operation.ts'
import {parentOf as livesIn, objectOf} from './object-names.ts'
import {orderOperations} from './order.ts'
import type {PlanInput} from './plan-input.ts'
import {keysThen} from './recorded.ts'
import {planRemovals} from './removals.ts'
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
  const first = planDeclared(input, pairs, claims, new Map())
  const held = new TakenAlong(input, first.operations).heldBack(first.operations)
  const {operations, notes} = held.size === 0 ? first : planDeclared(input, pairs, claims, held)
  const removals = planRemovals(input, operations, claims)
  const {kept, left} = input.lifts.noDestroy
    ? withoutDestroying([...operations, ...removals.operations], input)
    : {kept: [...operations, ...removals.operations], left: []}
  if (left.length > 0) notes.push(`${left.length} removals left out (--no-destroy): ${left.map(it => it.address).join(', ')}`)
  return {
    operations: orderOperations(movedOut(input, kept), input).map(it => hiding(input, it)),
    unmanaged: removals.unmanaged.map(it => ({...it, name: hidden(input, it.name)})),
    notes: [...notes, ...removals.notes],
  }
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

/** What moves to another parent and cannot be deleted is only created there, where it goes with the parent it leaves. */
function movedOut(input: PlanInput, operations: readonly Operation[]): Operation[] {
  const going = new Set(operations.flatMap(it => (it.action === 'delete' || it.action === 'replace' ? (objectOf(input, it) ?? []) : [])))
  return operations.map(it => {
    const pair = input.observation.pairs.get(keyOfOperation(it))
    const kind = pair?.stray?.kind
    if (it.action !== 'blocked' || it.elsewhere !== undefined || pair?.stray === undefined || pair.doubt || !kind?.goesWithParent) return it
    if (!going.has(livesIn(input, {...it, remoteId: pair.stray.remoteId}) ?? '')) return it
    return createdAnew(it, kind, pair, {cause: 'parent-changed', old: 'the old one goes with the one it was in'})
  })
}

/** Pairs in an order in which everything comes after what it hangs on; the map's order otherwise. No recursion: chains may be long. */
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
  return ordered
}

function withoutDestroying(operations: readonly Operation[], input: PlanInput): {kept: Operation[]; left: Operation[]} {
  const goes = (it: Operation) => {
    const would = it.action === 'blocked' ? it.wants : it.action
    return would === 'delete' || would === 'replace'
  }
  const staying = new Set(operations.flatMap(it => (goes(it) ? (objectOf(input, it) ?? []) : [])))
  // What would have gone along stays too.
  const destroys = (it: Operation) => goes(it) || (it.cause === 'goes-with-parent' && staying.has(livesIn(input, it) ?? ''))
  return {kept: operations.filter(it => !destroys(it)), left: operations.filter(destroys)}
}
