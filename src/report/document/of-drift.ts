/** A drift as a report: what was applied last against what is there. */

import {agreed, frozenWords} from '../../engine/model/controls.ts'
import {keyOfOperation} from '../../engine/model/value.ts'
import type {AcceptedDrift, JudgedDrift} from '../../engine/plan/accepted-drift.ts'
import type {Drifted, DriftReport, OwnedObject} from '../../engine/plan/drift.ts'
import type {Report, ReportObject} from '../report.ts'
import type {ReportFrame} from './of-plan.ts'

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
  judged: Pick<DriftReport, 'drifted' | 'summary' | 'unseen' | 'freezes' | 'holds'> &
    Partial<Pick<JudgedDrift, 'accepted' | 'expired' | 'unused'>>,
  {stacks, unchanged, used, written}: DriftReportOptions,
): Report {
  const {drifted, summary, accepted = [], expired = [], unused = [], unseen = [], freezes = [], holds = []} = judged
  const object = (it: OwnedObject, rest: Pick<ReportObject, 'action' | 'changes' | 'accepted'>): ReportObject => {
    const key = keyOfOperation(it)
    const place = written.get(key)
    const held = holds.find(hold => keyOfOperation(hold) === key)
    return {
      key,
      stack: it.stack,
      address: it.address,
      kind: it.kind,
      edges: [],
      ...(it.name === undefined ? {} : {name: it.name}),
      ...(it.construct === undefined ? {} : {construct: it.construct}),
      ...(place === undefined ? {} : {written: place}),
      ...(held === undefined ? {} : {held: agreed(held)}),
      ...rest,
    }
  }
  const changed = (it: Drifted): ReportObject => object(it, {action: it.missing ? 'missing' : 'drifted', changes: it.changes})
  const open = new Set(drifted.map(keyOfOperation))
  const whole = new Map<string, AcceptedDrift[]>()
  const partly = accepted.filter(it => open.has(keyOfOperation(it)))
  for (const it of accepted)
    if (!open.has(keyOfOperation(it))) whole.set(keyOfOperation(it), [...(whole.get(keyOfOperation(it)) ?? []), it])
  return {
    ...frame,
    stacks,
    refused: false,
    objects: [
      ...drifted.map(changed),
      ...[...whole.values()].flatMap(acceptedObject(object)),
      ...unchanged.map(it => object(it, {action: 'unchanged', changes: []})),
    ],
    guards: [],
    cost: {used},
    notShown:
      summary.unmanaged === 0 ? [] : [`${summary.unmanaged} unmanaged ${summary.unmanaged === 1 ? 'object' : 'objects'} left alone`],
    notes: [
      ...unseen.map(it => `${keyOfOperation(it)}: ${it.why}`),
      ...freezes.map(frozenWords),
      ...partly.map(it => `${keyOfOperation(it)}: ${it.path} is accepted by ${it.by} until ${it.until}: ${it.reason}`),
      ...expired.map(it => `${it.address}: ${it.path || 'that it is gone'} was accepted until ${it.until}, and is no more`),
      ...unused.map(it => `${it.address}: ${it.path || 'that it is gone'} is accepted until ${it.until}, and is not so`),
    ],
  }
}

type MakeObject = (it: OwnedObject, rest: Pick<ReportObject, 'action' | 'changes' | 'accepted'>) => ReportObject

/** An object of which all that drifted is accepted: until the first of it runs out. */
const acceptedObject =
  (object: MakeObject) =>
  (fields: readonly AcceptedDrift[]): ReportObject[] => {
    const [first] = fields.toSorted((a, b) => Date.parse(a.until) - Date.parse(b.until))
    if (first === undefined) return []
    const changes = fields.flatMap(({path, before, after}) =>
      path === '' ? [] : [{path, ...(before === undefined ? {} : {before}), ...(after === undefined ? {} : {after})}],
    )
    const said = (of: (it: AcceptedDrift) => string) => [...new Set(fields.map(of))].join(', ')
    return [
      object(first, {
        action: changes.length === 0 ? 'missing' : 'drifted',
        changes,
        accepted: {by: said(it => it.by), until: first.until, reason: said(it => it.reason)},
      }),
    ]
  }
