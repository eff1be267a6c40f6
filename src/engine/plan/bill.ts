/**
 * What an apply will cost: requests and seconds, and which bound is active; until all is ready, and until all is
 * proven. The time is the largest of three lower bounds: the rate (requests over the budget), the critical path (the
 * longest chain of things that wait for each other), and exclusivity (groups in which only so many may change at a time).
 */

import {largest} from '../../base/many.ts'
import type {ChangeLimits} from '../model/change-limits.ts'
import type {Bill, BoundTime, Operation, Plan} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'

export interface BillInput {
  readonly operations: readonly Operation[]
  /** All of the plan they are from, which say where they stand; absent: there are no more. */
  readonly among?: readonly Operation[]
  readonly perMinute: number
  /** Tokens there at the start. */
  readonly tokens: number
  /** Milliseconds from sending one step to its being ready, as far as learned. */
  readonly durationMs: (kind: string, step: 'create' | 'update' | 'delete') => number
  /** How many changes may run at once. */
  readonly limits?: ChangeLimits
  /** The account that an operation is in: two may have an object of one path each. */
  readonly accountAt?: (it: Operation) => string
}

/** The writes one operation sends, in order. */
export function stepsOf({action, declared}: Operation): readonly ('create' | 'update' | 'delete')[] {
  if (action === 'create' || action === 'update' || action === 'delete') return [action]
  if (action !== 'replace') return []
  return declared?.policy.createBeforeDestroy ? ['create', 'delete'] : ['delete', 'create']
}

export function billOf({
  operations,
  among = operations,
  perMinute,
  tokens,
  durationMs,
  limits = {},
  accountAt = () => '',
}: BillInput): Bill {
  const active = operations.filter(it => stepsOf(it).length > 0)
  const requests = requestsToApply(operations, accountAt)
  const took = (it: Operation) => stepsOf(it).reduce((sum, step) => sum + durationMs(it.kind, step), 0) / 1000
  const path = {bound: 'critical path', seconds: criticalPath(active, took)}
  const exclusive = exclusivityOf(active, took, limits, rootsOf(among, accountAt), accountAt)
  const slowest = (requests: number): BoundTime => {
    const rate = {bound: 'rate', seconds: (Math.max(0, requests - tokens) * 60) / perMinute}
    const {bound, seconds} = [rate, path, ...exclusive].reduce((top, it) => (it.seconds > top.seconds ? it : top))
    return {requests, seconds: Math.ceil(seconds), bound: requests === 0 ? 'nothing to do' : bound}
  }
  return {...slowest(requests.all), ready: slowest(requests.ready)}
}

/** What begins: of what is held nothing where it is left out (`--skip-held`), nor of what waits for that. */
export function beginning({operations, lifts}: Pick<Plan, 'operations' | 'lifts'>): readonly Operation[] {
  if (lifts.skipHeld !== true) return operations
  const left = new Set<Key>()
  // Operations stand after what they wait for, so one pass is enough.
  return operations.filter(it => {
    if (it.held === undefined && !it.edges.some(edge => left.has(edge.key))) return true
    left.add(keyOfOperation(it))
    return false
  })
}

/** What carrying operations out takes: of a part of a plan less than of the whole. */
export function requestsToApply(
  operations: readonly Operation[],
  accountAt: NonNullable<BillInput['accountAt']>,
): {readonly all: number; readonly ready: number} {
  const active = operations.filter(it => stepsOf(it).length > 0)
  const writes = active.reduce((sum, it) => sum + stepsOf(it).length, 0)
  const collectionOf = collectionsOf(operations)
  const proofs = new Set(active.map(it => `${accountAt(it)} ${collectionOf(it)}`)).size
  const polls = active.length === 0 ? 0 : longestChain(active)
  return {all: writes + polls + proofs, ready: writes + polls}
}

/** Where only so many changes may run at once, all of them together take their sum over the places. */
function exclusivityOf(
  operations: readonly Operation[],
  took: (it: Operation) => number,
  {perRoot, roots, inFlight}: ChangeLimits,
  rootOf: (it: Operation) => Root,
  accountAt: NonNullable<BillInput['accountAt']>,
): {bound: string; seconds: number}[] {
  if (perRoot === undefined && inFlight === undefined) return []
  const all = operations.reduce((sum, it) => sum + took(it), 0)
  const ofAccount = new Map<string, number>()
  const ofRoot = new Map<string, {readonly name: string; readonly seconds: number}>()
  for (const it of operations) {
    const account = accountAt(it)
    ofAccount.set(account, (ofAccount.get(account) ?? 0) + took(it))
    const {id, name} = rootOf(it)
    ofRoot.set(id, {name, seconds: (ofRoot.get(id)?.seconds ?? 0) + took(it)})
  }
  const most = largest([0, ...ofAccount.values()])
  return [
    ...(perRoot === undefined
      ? []
      : [...ofRoot.values()].map(({name, seconds}) => ({bound: `exclusivity of ${name}`, seconds: seconds / perRoot}))),
    ...(perRoot === undefined || roots === undefined ? [] : [{bound: 'exclusivity of the account', seconds: most / (roots * perRoot)}]),
    ...(inFlight === undefined ? [] : [{bound: 'exclusivity of --max-inflight', seconds: all / inFlight}]),
  ]
}

interface Root {
  readonly id: string
  /** Its address, or its path where the plan has none. */
  readonly name: string
}

/** What has no parent and an operation is below of: a subscription. */
function rootsOf(operations: readonly Operation[], accountAt: NonNullable<BillInput['accountAt']>): (it: Operation) => Root {
  const byKey = new Map(operations.map(it => [keyOfOperation(it), it]))
  const byPath = new Map(operations.flatMap(it => (it.remoteId === undefined ? [] : [[`${accountAt(it)} ${it.remoteId}`, it]])))
  const named = (it: Operation): Root => ({id: keyOfOperation(it), name: it.address})
  return function rootOf(it: Operation): Root {
    const parent = it.declared?.parent
    const above = parent?.by === 'key' ? byKey.get(parent.key) : undefined
    if (above !== undefined) return rootOf(above)
    const path = it.remoteId ?? (parent?.by === 'remoteId' ? parent.remoteId : undefined)
    if (path === undefined) return named(it)
    const root = path.split('/').slice(0, ROOT_STEPS).join('/')
    const id = `${accountAt(it)} ${root}`
    const there = byPath.get(id)
    return there === undefined ? {id, name: root} : named(there)
  }
}

/** `cloud/subscriptions/1` */
const ROOT_STEPS = 3

/** Objects read back together: same kind, same parent. Parents that are there, and what is in them, say where the others will be. */
function collectionsOf(operations: readonly Operation[]): (it: Operation) => string {
  const parentKey = ({declared}: Operation) => (declared?.parent?.by === 'key' ? declared.parent.key : undefined)
  const known = new Map<string, string>()
  for (const it of operations) {
    const key = parentKey(it)
    if (key !== undefined && it.remoteId !== undefined && it.action !== 'replace') known.set(key, parentIn(it.remoteId))
  }
  for (const it of operations) if (it.remoteId !== undefined && it.action !== 'replace') known.set(keyOfOperation(it), it.remoteId)
  return it => {
    const key = parentKey(it)
    const parent = it.declared?.parent
    if (parent === undefined && (it.remoteId ?? '').split('/').length <= ROOT_STEPS) return it.kind
    const named = parent?.by === 'remoteId' ? parent.remoteId : known.get(key ?? '')
    const where = named ?? (it.remoteId === undefined ? undefined : parentIn(it.remoteId))
    return `${it.kind} ${where ?? key ?? JSON.stringify(parent)}`
  }
}

/** `cloud/subscriptions/1` of `cloud/subscriptions/1/databases/7` */
const parentIn = (remoteId: string): string => remoteId.replace(/\/[^/]*\/[^/]*$/, '')

const longestChain = (operations: readonly Operation[]): number => criticalPath(operations, () => 1)

/** Operations stand after what they wait for, so one pass is enough. */
function criticalPath(operations: readonly Operation[], weight: (it: Operation) => number): number {
  const ends = new Map<string, number>()
  let longest = 0
  for (const it of operations) {
    const start = it.edges.reduce((latest, edge) => Math.max(latest, ends.get(edge.key) ?? 0), 0)
    const end = start + weight(it)
    ends.set(keyOfOperation(it), end)
    longest = Math.max(longest, end)
  }
  return longest
}

/** Per operation, the weight of the longest path that begins with it: what is behind it waits until it is done. */
export function remainingPaths(operations: readonly Operation[], weight: (it: Operation) => number): Map<string, number> {
  const remaining = new Map<string, number>()
  for (const it of operations.toReversed()) {
    const key = keyOfOperation(it)
    const here = weight(it) + (remaining.get(key) ?? 0)
    remaining.set(key, here)
    for (const edge of it.edges) remaining.set(edge.key, Math.max(remaining.get(edge.key) ?? 0, here))
  }
  return remaining
}
