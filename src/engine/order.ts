/** What waits for what, with the reason on every edge, and one order that respects all of it. */
import {AppError, EXIT} from '../base/errors.ts'
import {remoteIdOf} from './kind.ts'
import type {PlanInput} from './make-plan.ts'
import type {Edge, EdgeReason, Operation} from './plan.ts'
import {parentRemoteId} from './plan-removals.ts'
import {type Key, keyOf} from './value.ts'

/** Operations that wait for each other. */
export class OperationCycleError extends AppError {
  constructor(keys: readonly Key[]) {
    super(`these operations wait for each other: ${keys.join(' -> ')}`, {
      code: 'E_OPERATION_CYCLE',
      exit: EXIT.usage,
      suggestions: ['Break the circle: remove one depends_on or reference, apply, and then make the second change.'],
    })
  }
}

/** The same operations with their edges, in execution order. */
export function orderOperations(
  operations: readonly Operation[],
  input: Pick<PlanInput, 'observation' | 'kinds' | 'ledgers'>,
): Operation[] {
  const edges = edgesOf(operations, input)
  const byKey = new Map<Key, Operation>()
  for (const it of operations) {
    const key = keyOf(it.stack, it.address)
    const own = dedupe(edges.get(key) ?? [])
    byKey.set(key, {...it, edges: own, because: own.map(edge => addressOf(edge.key, it.stack))})
  }
  return dependenciesFirst(byKey)
}

const addressOf = (key: Key, stack: string): string => (key.startsWith(`${stack}:`) ? key.slice(stack.length + 1) : key)

function dedupe(edges: readonly Edge[]): readonly Edge[] {
  if (edges.length < 2) return edges
  const seen = new Set<Key>()
  return edges.filter(it => !seen.has(it.key) && seen.add(it.key))
}

function edgesOf(operations: readonly Operation[], input: Pick<PlanInput, 'observation' | 'kinds' | 'ledgers'>): Map<Key, Edge[]> {
  const active = new Map<Key, Operation>()
  const byRemote = new Map<string, Operation>()
  for (const it of operations) {
    if (it.action === 'no-op') continue
    active.set(keyOf(it.stack, it.address), it)
    if (it.remoteId !== undefined) byRemote.set(it.remoteId, it)
  }
  const edges = new Map<Key, Edge[]>()
  const wait = (key: Key, forKey: Key, reason: EdgeReason) => {
    if (key === forKey || !active.has(forKey)) return
    const list = edges.get(key)
    if (list) list.push({key: forKey, reason})
    else edges.set(key, [{key: forKey, reason}])
  }
  for (const [key, operation] of active) {
    const {declared} = operation
    if (declared?.parent?.by === 'key') wait(key, declared.parent.key, 'parent')
    for (const it of declared?.dependsOn ?? []) if (active.get(it.key)?.declared) wait(key, it.key, it.reason)
    for (const it of input.ledgers.get(operation.stack)?.entries.get(operation.movedFrom ?? operation.address)?.dependsOn ?? []) {
      // Forgetting sends nothing: whatever it hung on may go.
      const needed = operation.action === 'forget' ? undefined : active.get(it)
      if (needed && needed.declared === undefined && needed.action === 'delete') wait(it, key, 'dependants first')
    }
    const parentId =
      operation.declared === undefined && operation.remoteId !== undefined ? parentRemoteId(input, operation.remoteId) : undefined
    const parent = parentId === undefined ? undefined : byRemote.get(parentId)
    if (parent?.action === 'delete' || parent?.action === 'replace') {
      if (operation.action === 'delete') wait(keyOf(parent.stack, parent.address), key, 'children first')
      else if (operation.action === 'forget') wait(key, keyOf(parent.stack, parent.address), 'parent')
    }
  }
  const leaving = new Map(
    operations.flatMap(it => {
      const place = it.action === 'delete' ? placeOf(it, input) : renamedFrom(it, input)
      return place === undefined ? [] : [[place, keyOf(it.stack, it.address)] as const]
    }),
  )
  if (leaving.size === 0) return edges
  for (const [key, operation] of active) {
    const takes = operation.action === 'create' || renamedFrom(operation, input) !== undefined || operation.action === 'replace'
    const holder = operation.declared !== undefined && takes ? leaving.get(placeOf(operation, input)) : undefined
    if (holder !== undefined) wait(key, holder, 'frees the name')
  }
  return edges
}

/** The place an update leaves for another name. */
function renamedFrom(operation: Operation, input: Pick<PlanInput, 'observation' | 'kinds'>): string | undefined {
  const field = operation.action === 'update' ? input.kinds.get(operation.kind)?.identity.renames : undefined
  const before = field === undefined ? undefined : operation.changes.find(it => it.path === `/${field}`)?.before
  return typeof before === 'string' ? placeOf({...operation, name: before}, input) : undefined
}

/** Kind, parent and name: two objects cannot be in the same place at once. */
function placeOf(operation: Operation, {observation, kinds}: Pick<PlanInput, 'observation' | 'kinds'>): string {
  const kind = kinds.get(operation.kind)
  const parentKind = kind?.parent && kinds.get(kind.parent.kind)
  const ids = observation.pairs.get(keyOf(operation.stack, operation.address))?.parent
  const parent =
    operation.declared === undefined && operation.remoteId !== undefined
      ? parentRemoteId({kinds}, operation.remoteId)
      : parentKind && ids && remoteIdOf(parentKind, ids)
  return `${operation.kind} ${parent ?? ''} ${operation.name ?? operation.address}`
}

/** Depth first along the edges, in the given order otherwise; without recursion, since chains may be long. */
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
        if (state.get(key) === 'open')
          throw new OperationCycleError([...path.map(it => it.key).slice(path.findIndex(it => it.key === key)), key])
        if (state.get(key) === undefined && byKey.has(key)) path.push({key, next: 0})
      }
    }
  }
  return ordered
}
