/** What waits for what, with the reason on every edge, and one order that respects all of it. */

import {keysNow} from '../model/keys-now.ts'
import {parentRemoteId} from '../model/kind.ts'
import {EDGE_REASONS, type Edge, type EdgeReason, type Operation} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import {OperationCycleError} from './cycle.ts'
import {freedNames} from './freed-names.ts'
import {leadsTo} from './leads-to.ts'
import type {PlanInput} from './plan-input.ts'
import {leavesParent} from './removals.ts'

/**
 * One order for one set of operations, in whatever order they come: by stack and address, and each after what it waits
 * for. @throws OperationCycleError
 */
export function inOrder(operations: readonly Operation[]): Operation[] {
  const keyed = operations.map(it => [keyOfOperation(it), it] as const)
  // What has no address of its own stands last.
  const unnamed = (it: Operation) => (it.address === it.remoteId ? 1 : 0)
  return dependenciesFirst(new Map(keyed.sort(([a, x], [b, y]) => unnamed(x) - unnamed(y) || (a < b ? -1 : a > b ? 1 : 0))))
}

/** The same operations with their edges, in execution order. */
export function orderOperations(operations: readonly Operation[], input: OrderInput): Operation[] {
  const edges = edgesOf(operations, input)
  const byKey = new Map<Key, Operation>()
  for (const it of operations) {
    const key = keyOfOperation(it)
    const own = dedupe((edges.get(key) ?? []).sort(byReasonAndKey))
    byKey.set(key, {...it, edges: own, because: own.map(edge => addressOf(edge.key, it.stack))})
  }
  return inOrder([...byKey.values()])
}

const addressOf = (key: Key, stack: string): string => (key.startsWith(`${stack}:`) ? key.slice(stack.length + 1) : key)

/** The strongest reason first: of two for one object the first is kept. */
const byReasonAndKey = (a: Edge, b: Edge): number =>
  EDGE_REASONS.indexOf(a.reason) - EDGE_REASONS.indexOf(b.reason) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

function dedupe(edges: readonly Edge[]): readonly Edge[] {
  if (edges.length < 2) return edges
  const seen = new Set<Key>()
  return edges.filter(it => !seen.has(it.key) && seen.add(it.key))
}

type OrderInput = Pick<PlanInput, 'observation' | 'kinds' | 'ledgers' | 'otherLedgers' | 'accountOf'>

function edgesOf(operations: readonly Operation[], input: OrderInput): Map<Key, Edge[]> {
  // A remote path names an object within one account.
  const at = ({stack, kind}: Operation, remoteId: string) => {
    const api = input.kinds.get(kind)?.api
    return `${(api && input.accountOf?.(stack, api)) ?? ''} ${remoteId}`
  }
  const active = new Map<Key, Operation>()
  const byRemote = new Map<string, Operation>()
  for (const it of operations) {
    if (it.action === 'no-op') continue
    active.set(keyOfOperation(it), it)
    if (it.remoteId !== undefined) byRemote.set(at(it, it.remoteId), it)
  }
  const edges = new Map<Key, Edge[]>()
  const wait = (key: Key, forKey: Key, reason: EdgeReason) => {
    if (key === forKey || !active.has(forKey)) return
    const list = edges.get(key)
    if (list) list.push({key: forKey, reason})
    else edges.set(key, [{key: forKey, reason}])
  }
  const now = keysNow([...(input.otherLedgers ?? []), ...input.ledgers.values()])
  const entryAt = (key: Key) => input.ledgers.get(key.slice(0, key.indexOf(':')))?.entries.get(key.slice(key.indexOf(':') + 1))
  for (const [key, operation] of active) {
    const {declared, remoteId} = operation
    if (declared?.parent?.by === 'key') wait(key, declared.parent.key, 'parent')
    for (const it of declared?.dependsOn ?? []) if (active.get(it.key)?.declared) wait(key, it.key, it.reason)
    const entry = entryAt(keyOf(operation.stack, operation.movedFrom ?? operation.address))
    for (const it of entry?.remoteId === remoteId ? (entry?.dependsOn ?? []) : []) {
      // Forgetting sends nothing: whatever it hung on may go. What the ledger calls by this key may stand under another one by now.
      const needed = operation.action === 'forget' ? undefined : byRemote.get(at(operation, entryAt(now(it))?.remoteId ?? ''))
      if (needed && needed.declared === undefined && needed.action === 'delete') wait(keyOfOperation(needed), key, 'dependants first')
    }
    const leaves = declared === undefined || leavesParent(input, operation)
    const parentId = leaves && remoteId !== undefined ? parentRemoteId(input, remoteId) : undefined
    const parent = parentId === undefined ? undefined : byRemote.get(at(operation, parentId))
    if (parent?.action === 'delete' || parent?.action === 'replace') {
      if (operation.action === 'delete' || operation.action === 'replace') wait(keyOfOperation(parent), key, 'children first')
      else if (operation.action === 'forget') wait(key, keyOfOperation(parent), 'parent')
    }
  }
  for (const [key, holder] of freedNames(active, input)) {
    const isUnique = input.kinds.get(active.get(key)?.kind ?? '')?.identity.unique === true
    // Where a server takes several of a name nobody need wait, and who is waited for does not.
    if (isUnique || !leadsTo(holder, key, at => (edges.get(at) ?? []).map(it => it.key))) wait(key, holder, 'frees the name')
  }
  return edges
}

/** Depth first along the edges, in the map's order otherwise; without recursion, since chains may be long. */
function dependenciesFirst(byKey: ReadonlyMap<Key, Operation>): Operation[] {
  const state = new Map<Key, 'open' | 'done'>()
  const ordered: Operation[] = []
  for (const root of byKey.keys()) {
    if (state.has(root)) continue
    const path: {key: Key; next: number}[] = [{key: root, next: 0}]
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const operation = byKey.get(top.key)
      const edge = operation?.edges[top.next++]
      if (state.get(top.key) === 'done') path.pop()
      else if (edge === undefined) {
        state.set(top.key, 'done')
        if (operation) ordered.push(operation)
        path.pop()
      } else {
        state.set(top.key, 'open')
        const {key} = edge
        if (state.get(key) === 'open') throw cycleOf([...path.map(it => it.key).slice(path.findIndex(it => it.key === key)), key])
        if (state.get(key) === undefined && byKey.has(key)) path.push({key, next: 0})
      }
    }
  }
  return ordered
}

const cycleOf = (keys: readonly Key[]): OperationCycleError =>
  new OperationCycleError(`dependency cycle, these operations wait for each other: ${keys.join(' -> ')}`)
