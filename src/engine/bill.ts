/**
 * What an apply will cost: requests and seconds, and which bound is active. The time is the largest of three lower
 * bounds: the rate (requests over the budget), the critical path (the longest chain of things that wait for each
 * other), and exclusivity (groups in which only so many may change at a time).
 */
import type {Bill, Operation} from './plan.ts'
import {keyOf} from './value.ts'

export interface BillInput {
  readonly operations: readonly Operation[]
  readonly perMinute: number
  /** Tokens there at the start. */
  readonly tokens: number
  /** Milliseconds from sending one step to its being ready, as far as learned. */
  readonly durationMs: (kind: string, step: 'create' | 'update' | 'delete') => number
  /** The group an operation takes a place in, and how many places there are. */
  readonly groupsOf?: (operation: Operation) => readonly {readonly name: string; readonly places: number}[]
}

/** The writes one operation sends, in order. */
export function stepsOf({action, declared}: Operation): readonly ('create' | 'update' | 'delete')[] {
  if (action === 'create' || action === 'update' || action === 'delete') return [action]
  if (action !== 'replace') return []
  return declared?.policy.createBeforeDestroy ? ['create', 'delete'] : ['delete', 'create']
}

export function billOf({operations, perMinute, tokens, durationMs, groupsOf}: BillInput): Bill {
  const active = operations.filter(it => stepsOf(it).length > 0)
  const writes = active.reduce((sum, it) => sum + stepsOf(it).length, 0)
  const proofs = new Set(active.map(collectionOf)).size
  const polls = active.length === 0 ? 0 : longestChain(active)
  const requests = writes + proofs + polls
  const took = (it: Operation) => stepsOf(it).reduce((sum, step) => sum + durationMs(it.kind, step), 0) / 1000
  const bounds: {bound: string; seconds: number}[] = [
    {bound: 'rate', seconds: (Math.max(0, requests - tokens) * 60) / perMinute},
    {bound: 'critical path', seconds: criticalPath(active, took)},
  ]
  const groups = new Map<string, number>()
  for (const it of active) for (const {name, places} of groupsOf?.(it) ?? []) groups.set(name, (groups.get(name) ?? 0) + took(it) / places)
  for (const [name, seconds] of groups) bounds.push({bound: `exclusivity of ${name}`, seconds})
  const {bound, seconds} = bounds.reduce((top, it) => (it.seconds > top.seconds ? it : top))
  return {requests, seconds: Math.ceil(seconds), bound: requests === 0 ? 'nothing to do' : bound}
}

/** Objects read back together: same kind, same parent. */
function collectionOf(it: Operation): string {
  const parent = it.declared?.parent
  const where = it.remoteId?.replace(/\/[^/]*$/, '') ?? (parent?.by === 'key' ? parent.key : JSON.stringify(parent ?? null))
  return `${it.kind} ${where}`
}

const longestChain = (operations: readonly Operation[]): number => criticalPath(operations, () => 1)

/** Operations stand after what they wait for, so one pass is enough. */
function criticalPath(operations: readonly Operation[], weight: (it: Operation) => number): number {
  const ends = new Map<string, number>()
  let longest = 0
  for (const it of operations) {
    const start = it.edges.reduce((latest, edge) => Math.max(latest, ends.get(edge.key) ?? 0), 0)
    const end = start + weight(it)
    ends.set(keyOf(it.stack, it.address), end)
    longest = Math.max(longest, end)
  }
  return longest
}

/** Per operation, the weight of the longest path that begins with it: what is behind it waits until it is done. */
export function remainingPaths(operations: readonly Operation[], weight: (it: Operation) => number): Map<string, number> {
  const remaining = new Map<string, number>()
  for (const it of operations.toReversed()) {
    const key = keyOf(it.stack, it.address)
    const here = weight(it) + (remaining.get(key) ?? 0)
    remaining.set(key, here)
    for (const edge of it.edges) remaining.set(edge.key, Math.max(remaining.get(edge.key) ?? 0, here))
  }
  return remaining
}
