/** What an apply left to do, as a plan of its own: a strict subset of what was approved. */
import type {ApplyResult} from './execute.ts'
import type {Operation, Plan} from './plan.ts'
import {sealed, summaryOf} from './plan-document.ts'
import {type Key, keyOf} from './value.ts'

/** @returns undefined when nothing is left */
export function restOf(plan: Plan, {ended}: Pick<ApplyResult, 'ended'>): Plan | undefined {
  const done = new Map<Key, string | undefined>()
  for (const {operation, state, remoteId} of ended) {
    if (state === 'done' || state === 'no-op') done.set(keyOf(operation.stack, operation.address), remoteId)
  }
  const operations = plan.operations.map((it): Operation => {
    const key = keyOf(it.stack, it.address)
    if (!done.has(key))
      return {
        ...it,
        edges: it.edges.filter(edge => !done.has(edge.key)),
        because: it.because.filter(address => !done.has(address) && !done.has(keyOf(it.stack, address))),
      }
    const remoteId = done.get(key)
    const {declared: _, deferred: _deferred, changes: _changes, remoteId: _remoteId, adopts: _adopts, movedFrom: _from, ...rest} = it
    return {
      ...rest,
      action: 'no-op',
      reason: 'done before',
      changes: [],
      edges: [],
      because: [],
      ...(remoteId === undefined ? {} : {remoteId}),
    }
  })
  if (operations.every(it => it.action === 'no-op')) return undefined
  const {hash, ...content} = plan
  return sealed({...content, residualOf: plan.residualOf ?? hash, operations, summary: summaryOf(operations), guards: []})
}

/** Whether every operation of `rest` that does something is one of `approved`, doing the same to the same object. */
export function isSubset(rest: Plan, approved: Plan): boolean {
  const known = new Map(approved.operations.map(it => [keyOf(it.stack, it.address), it]))
  return rest.operations.every(it => {
    if (it.action === 'no-op') return true
    const was = known.get(keyOf(it.stack, it.address))
    return (
      was !== undefined &&
      was.action === it.action &&
      was.remoteId === it.remoteId &&
      JSON.stringify(was.changes) === JSON.stringify(it.changes) &&
      JSON.stringify(was.declared) === JSON.stringify(it.declared)
    )
  })
}
