/** What is different between two plans: what changed since one of them was approved. */
import {canonicalJson} from '../../base/json.ts'
import type {Operation, Plan} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'

export interface PlanDifference {
  readonly stack: string
  readonly address: string
  readonly kind: string
  readonly what: 'added' | 'gone' | 'other action' | 'other changes'
  readonly before?: Pick<Operation, 'action' | 'changes'>
  readonly after?: Pick<Operation, 'action' | 'changes'>
}

export function diffPlans(before: Plan, after: Plan): PlanDifference[] {
  const active = (plan: Plan): Map<Key, Operation> =>
    new Map(plan.operations.filter(it => it.action !== 'no-op').map(it => [keyOfOperation(it), it]))
  const [was, is] = [active(before), active(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap(key => {
    const [left, right] = [was.get(key), is.get(key)]
    const shown = right ?? left
    const what = whatOf(left, right)
    if (shown === undefined || what === undefined) return []
    return [
      {
        stack: shown.stack,
        address: shown.address,
        kind: shown.kind,
        what,
        ...(left ? {before: {action: left.action, changes: left.changes}} : {}),
        ...(right ? {after: {action: right.action, changes: right.changes}} : {}),
      },
    ]
  })
}

function whatOf(left: Operation | undefined, right: Operation | undefined): PlanDifference['what'] | undefined {
  if (left === undefined) return 'added'
  if (right === undefined) return 'gone'
  if (left.action !== right.action) return 'other action'
  return canonicalJson(left.changes) === canonicalJson(right.changes) && left.remoteId === right.remoteId ? undefined : 'other changes'
}
