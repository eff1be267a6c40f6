/** A drift report as a person reads it. */
import type {Ansis} from 'ansis'
import {keyOf} from '../engine/model/value.ts'
import type {DriftReport} from '../engine/plan/drift.ts'
import {shownValue} from './plan-text.ts'
import {titleOf} from './running-objects.ts'
import {table} from './table.ts'
import {oneLine} from './terminal-text.ts'

/** What was applied and what is there now, in words where there is none. */
const sides = ({before, after}: DriftReport['drifted'][number]['changes'][number]) =>
  [before === undefined ? '(absent)' : shownValue(before), after === undefined ? '(gone)' : shownValue(after)] as const

export function driftText({drifted, summary}: DriftReport, several: boolean, paint: Ansis): string {
  const lines = drifted.flatMap(({stack, address, kind, name, construct, missing, changes}) => [
    `${paint.yellow(missing ? 'missing' : 'drifted')} ${paint.bold(titleOf(keyOf(stack, address), several, construct))} ${kind}${name === undefined ? '' : ` ${JSON.stringify(oneLine(name))}`}`,
    ...changes.map(it => `    ${oneLine(it.path.slice(1))}: ${sides(it).join(' -> ')}`),
  ])
  const counts = `${summary.drifted} drifted, ${summary.missing} missing, ${summary.unchanged} unchanged, ${summary.unmanaged} unmanaged.`
  return [...lines, ...(lines.length > 0 ? [''] : []), drifted.length === 0 ? `${paint.green('No drift.')} ${counts}` : counts].join('\n')
}

interface DriftRow {
  readonly stack: string
  readonly address: string
  readonly path: string
  readonly before?: string
  readonly after?: string
}

/** `-o table`: one line a changed field, and one for each object that is not there any more. */
export function driftTable({drifted}: DriftReport, widest?: number): Promise<string> {
  const rows = drifted.flatMap(({stack, address, missing, changes}): DriftRow[] =>
    missing
      ? [{stack, address, path: '(missing)'}]
      : changes.map(it => {
          const [before, after] = sides(it)
          return {stack, address, path: it.path, before, after}
        }),
  )
  return table(
    rows,
    [
      {title: 'stack', value: it => it.stack},
      {title: 'address', value: it => it.address},
      {title: 'path', value: it => it.path},
      {title: 'before', value: it => it.before},
      {title: 'after', value: it => it.after},
    ],
    widest,
  )
}
