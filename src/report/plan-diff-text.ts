/** The difference of two plans as a person reads it. */
import type {PlanDifference} from '../engine/plan/plan-diff.ts'
import {shownValue} from './plan-text.ts'

type Side = NonNullable<PlanDifference['before']>

/** @param also - in words; what is different beside the operations */
export function planDiffText(differences: readonly PlanDifference[], also: readonly string[]): string {
  if (differences.length + also.length === 0) return 'The plans do the same.'
  return [
    ...differences.flatMap(({stack, address, kind, what, before, after, also: parts = []}) => [
      `${stack}:${address} ${kind}: ${what}`,
      ...(before ? sideLines('-', before) : []),
      ...(after ? sideLines('+', after) : []),
      ...parts.map(it => `      ${it}`),
    ]),
    ...also,
  ].join('\n')
}

const sideLines = (sign: string, {action, changes}: Side): string[] => [
  `  ${sign} ${action}`,
  ...changes.map(
    ({path, before, after}) =>
      `  ${sign}   ${path.slice(1)}: ${before === undefined ? '(absent)' : shownValue(before)} -> ${after === undefined ? '(gone)' : shownValue(after)}`,
  ),
]
