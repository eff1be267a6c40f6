/**
 * What goes: objects a ledger owns and nobody declares any more, and whatever stands undeclared in a collection
 * declared `exclusive`. Everything else undeclared is counted and left alone.
 */
import {isJsonObject, type Json} from '../base/json.ts'
import type {Cause} from './cause.ts'
import {isDeposed} from './deposed.ts'
import {type Ids, type Kind, locate} from './kind.ts'
import type {LedgerEntry} from './ledger.ts'
import type {Collection, LiveObject} from './live.ts'
import type {PlanInput} from './make-plan.ts'
import type {Orphan} from './observe.ts'
import type {Operation} from './plan.ts'
import {plainPart} from './resolve.ts'
import {keyOf} from './value.ts'

export interface Removals {
  readonly operations: readonly Operation[]
  readonly unmanaged: number
  readonly notes: readonly string[]
}

export function planRemovals(input: PlanInput, declared: readonly Operation[]): Removals {
  const {observation, ledgers, selected} = input
  const notes: string[] = []
  for (const stack of selected) {
    if (ledgers.get(stack)?.condition === 'absent') notes.push(`${stack}: no ledger: removals are invisible`)
  }
  const orphans = observation.orphans.map(it => removalOf(input, it)).sort(byAddress)
  const taken = new Set([...declared, ...orphans].flatMap(it => it.remoteId ?? []))
  const exclusive = exclusiveRemovals(input, taken)
  for (const it of exclusive) taken.add(it.remoteId ?? '')
  const inline = inlineRemovals(input, [...orphans, ...exclusive], taken)
  for (const it of inline) taken.add(it.remoteId ?? '')
  const all = withParentsGone(input, declared, [...orphans, ...exclusive, ...inline])
  const operations = all.map(it => keepFull(input, it, all))
  notes.push(...forgottenInExclusive(input, operations))
  const matched = new Set([...observation.pairs.values()].flatMap(it => it.match?.live.remoteId ?? []))
  const unmanaged = observation.collections
    .filter(it => !it.kind.singleton)
    .flatMap(({backend, objects}) => objects.filter(it => observation.ownership.at(backend, it.remoteId) === undefined))
    .filter(it => !taken.has(it.remoteId) && !matched.has(it.remoteId))
  return {operations, unmanaged: unmanaged.length, notes}
}

function removalOf(input: PlanInput, {stack, entry, live}: Orphan): Operation {
  const kind = kindOf(input, entry.kind)
  const base = {
    stack,
    address: entry.address,
    kind: entry.kind,
    remoteId: entry.remoteId,
    origin: entry.origin,
    ...(entry.preventDestroy ? {preventDestroy: true as const} : {}),
    ...(live?.name === undefined ? {} : {name: live.name}),
    changes: [],
    because: [],
    edges: [],
  }
  const removed = input.stacks
    .find(it => it.name === stack)
    ?.removed.find(it => it.from === entry.address || entry.address.startsWith(`${it.from}[`))
  if (live === undefined) return {...base, action: 'forget', cause: 'gone', reason: 'it is gone already'}
  if (removed?.destroy === false) return {...base, action: 'forget', cause: 'removed-block', reason: 'removed block'}
  if (entry.removal === 'retain') return {...base, action: 'forget', cause: 'retain', reason: 'removalPolicy retain: it stays as it is'}
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
  return {...base, action: 'delete', ...whyDelete(input, entry)}
}

function whyDelete({destroy}: PlanInput, {address}: LedgerEntry): Pick<Operation, 'cause' | 'reason'> {
  if (isDeposed(address)) return {cause: 'deposed', reason: 'it was replaced: its successor is there, and it is what is left to delete'}
  return destroy ? {cause: 'destroy', reason: 'destroy: asked for'} : {cause: 'not-declared', reason: 'no longer declared'}
}

/** Where the parent goes too, or is replaced, a child that goes along is only forgotten. */
function withParentsGone(input: PlanInput, declared: readonly Operation[], operations: readonly Operation[]): Operation[] {
  const going = [...declared.filter(it => it.action === 'replace'), ...operations.filter(it => it.action === 'delete')]
  const gone = new Set(going.map(it => it.remoteId))
  return operations.map(it => {
    const parent = it.remoteId === undefined ? undefined : parentRemoteId(input, it.remoteId)
    if (parent === undefined || !gone.has(parent) || !kindOf(input, it.kind).goesWithParent) return it
    if (it.action !== 'delete' && it.action !== 'blocked') return it
    const {wants: _, ...rest} = it
    return {
      ...rest,
      action: 'forget',
      cause: 'goes-with-parent',
      reason: `it goes with its ${kindOf(input, it.kind).parent?.field ?? 'parent'}`,
    }
  })
}

/** An object that must be empty to be deleted and holds things nobody declared is not deleted. */
function keepFull(input: PlanInput, operation: Operation, all: readonly Operation[]): Operation {
  const kind = kindOf(input, operation.kind)
  if (operation.action !== 'delete' || kind.emptyOf === undefined || operation.remoteId === undefined) return operation
  const leaving = new Set(all.filter(it => it.action === 'delete').map(it => it.remoteId))
  const staying = childrenOf(input, operation.remoteId, kind.emptyOf).filter(it => !leaving.has(it.remoteId))
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

function exclusiveRemovals(input: PlanInput, taken: ReadonlySet<string>): Operation[] {
  const {observation, stacks, selected} = input
  const matched = new Set([...observation.pairs.values()].flatMap(it => it.match?.live.remoteId ?? []))
  const operations: Operation[] = []
  for (const {declaration, match} of observation.pairs.values()) {
    if (match === undefined || !selected.has(declaration.stack)) continue
    for (const word of declaration.policy.exclusive) {
      const child = match.live.kind.exclusive?.[word]
      if (child === undefined) continue
      const elsewhere = namesDeclared(stacks, kindOf(input, child))
      for (const live of childrenOf(input, match.live.remoteId, [child])) {
        if (taken.has(live.remoteId) || matched.has(live.remoteId)) continue
        if (observation.ownership.of(declaration.stack, live.kind.api, live.remoteId) !== undefined) continue
        if (live.name !== undefined && elsewhere.has(live.name)) continue
        operations.push(undeclared(declaration.stack, live, 'exclusive', `${declaration.address} is exclusive for its ${word}`))
      }
    }
  }
  return operations.sort(byAddress)
}

/** What is forgotten and stays, in a collection where nothing undeclared may stay: the next plan will remove it. */
function forgottenInExclusive(input: PlanInput, operations: readonly Operation[]): string[] {
  const exclusive = new Map<string, string>()
  for (const {declaration, match} of input.observation.pairs.values()) {
    for (const word of declaration.policy.exclusive) {
      const child = match?.live.kind.exclusive?.[word]
      if (match && child !== undefined)
        exclusive.set(`${match.live.remoteId} ${child}`, `${declaration.address} is exclusive for its ${word}`)
    }
  }
  return operations.flatMap(it => {
    const parent = it.action === 'forget' && it.remoteId !== undefined ? parentRemoteId(input, it.remoteId) : undefined
    const why = parent === undefined ? undefined : exclusive.get(`${parent} ${it.kind}`)
    return why === undefined || it.name === undefined
      ? []
      : [`${keyOf(it.stack, it.address)} is forgotten and stays, but ${why}: the next plan removes it`]
  })
}

/** Children a parent's create made inline, that nobody declared since: they go with it, each by a request of its own. */
function inlineRemovals(input: PlanInput, operations: readonly Operation[], taken: ReadonlySet<string>): Operation[] {
  return operations.flatMap(operation => {
    const kind = kindOf(input, operation.kind)
    const entry = input.ledgers.get(operation.stack)?.entries.get(operation.address)
    if (operation.action !== 'delete' || kind.inlineChildren === undefined || entry === undefined || operation.remoteId === undefined)
      return []
    const names = inlineNames(entry, kind.inlineChildren.field)
    return childrenOf(input, operation.remoteId, [kind.inlineChildren.kind])
      .filter(it => !taken.has(it.remoteId) && it.name !== undefined && names.has(it.name))
      .map(live => undeclared(operation.stack, live, 'made-inline', `it was made with ${operation.address} and goes with it`))
      .sort(byAddress)
  })
}

function inlineNames(entry: LedgerEntry, field: string): Set<string> {
  const items: Json | undefined = entry.applied[field]
  const names = (Array.isArray(items) ? (items as readonly Json[]) : []).flatMap(it =>
    isJsonObject(it) && typeof it.name === 'string' ? [it.name] : [],
  )
  return new Set(names)
}

/** An object without a declaration: its address is its remote path. */
const undeclared = (stack: string, live: LiveObject, cause: Cause, reason: string): Operation => ({
  stack,
  address: live.remoteId,
  kind: live.kind.name,
  action: 'delete',
  cause,
  reason,
  remoteId: live.remoteId,
  ...(live.name === undefined ? {} : {name: live.name}),
  changes: [],
  because: [],
  edges: [],
})

/** Natural keys declared anywhere in the app: such an object is somebody's, even of a stack that is not selected. */
function namesDeclared(stacks: PlanInput['stacks'], kind: Kind): Set<string> {
  return new Set(
    stacks.flatMap(it => it.declarations).flatMap(it => (it.kind === kind.name ? (kind.identity.key(plainPart(it.spec)) ?? []) : [])),
  )
}

function childrenOf({observation, kinds}: PlanInput, remoteId: string, names: readonly string[]): LiveObject[] {
  const at = locate(kinds, remoteId)
  if (at === undefined) return []
  return observation.collections
    .filter((it: Collection) => it.proven && names.includes(it.kind.name) && sameIds(it.parent, at.ids))
    .flatMap(it => it.objects)
}

export function parentRemoteId({kinds}: Pick<PlanInput, 'kinds'>, remoteId: string): string | undefined {
  const at = locate(kinds, remoteId)
  const parent = at?.kind.parent && kinds.get(at.kind.parent.kind)
  if (at === undefined || parent === undefined) return undefined
  let next = 0
  return parent.remote.replaceAll('*', () => encodeURIComponent(at.ids[next++] ?? ''))
}

function kindOf({kinds}: PlanInput, name: string): Kind {
  const kind = kinds.get(name)
  if (kind === undefined) throw new TypeError(`no kind ${name}`)
  return kind
}

const sameIds = (a: Ids, b: Ids): boolean => a.length === b.length && a.every((id, i) => id === b[i])
const byAddress = (a: Operation, b: Operation): number => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)
