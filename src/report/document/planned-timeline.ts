/** When what would happen, if every change took what such changes took so far and only waited for what it hangs on. */

import type {Operation} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {stepsOf} from '../../engine/plan/bill.ts'
import type {Timeline, TimelineRow} from '../report.ts'

export type StepSeconds = (kind: string, step: 'create' | 'update' | 'delete') => number

/** Operations stand after what they wait for, so one pass is enough. */
export function plannedTimeline(operations: readonly Operation[], seconds: StepSeconds): Timeline {
  const ends = new Map<Key, number>()
  const rows = operations.flatMap((it): TimelineRow[] => {
    const steps = stepsOf(it)
    const key = keyOfOperation(it)
    const start = it.edges.reduce((latest, edge) => Math.max(latest, ends.get(edge.key) ?? 0), 0)
    const end = start + steps.reduce((sum, step) => sum + seconds(it.kind, step), 0)
    ends.set(key, end)
    return steps.length === 0 ? [] : [{key, waiting: 0, sent: start, ready: end}]
  })
  const last = rows.reduce((latest, it) => Math.max(latest, it.ready ?? 0), 0)
  return {is: 'planned', rows, seconds: last, ready: last, refusals: []}
}
