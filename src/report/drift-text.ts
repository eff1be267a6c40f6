/** A drift report as a person reads it. */
import type {Ansis} from 'ansis'
import type {DriftReport} from '../engine/drift.ts'
import {keyOf} from '../engine/value.ts'
import {shownValue} from './plan-text.ts'
import {titleOf} from './running-objects.ts'
import {oneLine} from './terminal-text.ts'

export function driftText({drifted, summary}: DriftReport, several: boolean, paint: Ansis): string {
  const lines = drifted.flatMap(({stack, address, kind, missing, changes}) => [
    `${paint.yellow(missing ? 'missing' : 'drifted')} ${paint.bold(titleOf(keyOf(stack, address), several))} ${kind}`,
    ...changes.map(
      ({path, before, after}) =>
        `    ${oneLine(path.slice(1))}: ${before === undefined ? '(absent)' : shownValue(before)} -> ${after === undefined ? '(gone)' : shownValue(after)}`,
    ),
  ])
  const counts = `${summary.drifted} drifted, ${summary.missing} missing, ${summary.unchanged} unchanged, ${summary.unmanaged} unmanaged.`
  return [...lines, ...(lines.length > 0 ? [''] : []), drifted.length === 0 ? `${paint.green('No drift.')} ${counts}` : counts].join('\n')
}
