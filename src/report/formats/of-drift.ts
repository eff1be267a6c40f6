/** A drift as a report: what was applied last against what is there. */

import {keyOfOperation} from '../../engine/model/value.ts'
import type {Drifted, DriftReport, OwnedObject} from '../../engine/plan/drift.ts'
import type {ReportFrame} from './of-plan.ts'
import type {Report, ReportObject} from './report.ts'

export interface DriftReportOptions {
  readonly stacks: readonly string[]
  /** Owned objects that are as they were applied. */
  readonly unchanged: readonly OwnedObject[]
  /** Requests sent for it. */
  readonly used: number
  /** Where a declared object is written, by key. */
  readonly written: ReadonlyMap<string, string>
}

export function driftReport(
  frame: ReportFrame,
  {drifted, summary}: Pick<DriftReport, 'drifted' | 'summary'>,
  {stacks, unchanged, used, written}: DriftReportOptions,
): Report {
  const object = (it: OwnedObject, rest: Pick<ReportObject, 'action' | 'changes'>): ReportObject => {
    const key = keyOfOperation(it)
    const place = written.get(key)
    return {
      key,
      stack: it.stack,
      address: it.address,
      kind: it.kind,
      edges: [],
      ...(it.name === undefined ? {} : {name: it.name}),
      ...(it.construct === undefined ? {} : {construct: it.construct}),
      ...(place === undefined ? {} : {written: place}),
      ...rest,
    }
  }
  const changed = (it: Drifted): ReportObject => object(it, {action: it.missing ? 'missing' : 'drifted', changes: it.changes})
  return {
    ...frame,
    stacks,
    refused: false,
    objects: [...drifted.map(changed), ...unchanged.map(it => object(it, {action: 'unchanged', changes: []}))],
    guards: [],
    cost: {used},
    notShown:
      summary.unmanaged === 0 ? [] : [`${summary.unmanaged} unmanaged ${summary.unmanaged === 1 ? 'object' : 'objects'} left alone`],
    notes: [],
  }
}
