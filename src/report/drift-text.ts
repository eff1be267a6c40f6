/** A drift report as a person reads it. */
import type {Ansis} from 'ansis'
import {frozenWords, heldWords} from '../engine/model/controls.ts'
import type {BaselineEntry} from '../engine/model/drift-baseline.ts'
import {keyOfOperation} from '../engine/model/value.ts'
import type {JudgedDrift} from '../engine/plan/accepted-drift.ts'
import type {DriftReport} from '../engine/plan/drift.ts'
import {shownValue} from './plan-text.ts'
import {titleOf} from './running-objects.ts'
import {fieldColumns, table} from './table.ts'
import {oneLine} from './terminal-text.ts'

/** What was applied and what is there now, in words where there is none. */
const sides = ({before, after}: Pick<DriftReport['drifted'][number]['changes'][number], 'before' | 'after'>) =>
  [before === undefined ? '(absent)' : shownValue(before), after === undefined ? '(gone)' : shownValue(after)] as const

export function driftText(report: DriftReport | JudgedDrift, several: boolean, paint: Ansis): string {
  const {drifted, summary} = report
  const title = (it: {stack: string; address: string; construct?: string}) => paint.bold(titleOf(keyOfOperation(it), several, it.construct))
  const lines = drifted.flatMap(({kind, name, missing, changes, ...it}) => [
    `${paint.yellow(missing ? 'missing' : 'drifted')} ${title(it)} ${kind}${name === undefined ? '' : ` ${JSON.stringify(oneLine(name))}`}`,
    ...changes.map(change => `    ${oneLine(change.path.slice(1))}: ${sides(change).join(' -> ')}`),
  ])
  const unseen = (report.unseen ?? []).map(it => `${paint.yellow('unseen')} ${title(it)} ${it.kind}: ${oneLine(it.why)}`)
  const judged = 'accepted' in report ? judgedLines(report, title, paint) : []
  const accepted = 'accepted' in report ? [`${report.summary.accepted} accepted`] : []
  const counts = `${[`${summary.drifted} drifted`, `${summary.missing} missing`, ...accepted, `${summary.unchanged} unchanged`, `${summary.unmanaged} unmanaged`].join(', ')}.`
  const said = [
    ...(report.holds ?? []).map(it => `${paint.yellow('held')} ${title(it)}, ${oneLine(heldWords(it))}`),
    ...(report.freezes ?? []).map(it => `${paint.red('frozen:')} ${oneLine(frozenWords(it))}`),
  ]
  const all = [...lines, ...unseen, ...judged, ...said]
  const isClean = drifted.length + unseen.length === 0
  return [...all, ...(all.length > 0 ? [''] : []), isClean ? `${paint.green('No drift.')} ${counts}` : counts].join('\n')
}

function judgedLines(
  {accepted, expired, unused}: JudgedDrift,
  title: (it: JudgedDrift['accepted'][number]) => string,
  paint: Ansis,
): string[] {
  const field = (path: string) => (path === '' ? 'gone' : oneLine(path.slice(1)))
  return [
    ...accepted.map(it => {
      const change = it.path === '' ? 'gone' : `${field(it.path)}: ${sides(it).join(' -> ')}`
      return `${paint.dim('accepted')} ${title(it)} ${change} (${oneLine(it.by)}, until ${it.until}: ${oneLine(it.reason)})`
    }),
    ...expired.map(it => `${paint.yellow('expired')} ${oneLine(it.address)} ${field(it.path)}: accepted until ${it.until}, and no longer`),
    ...unused.map(it => `${paint.dim('unused')} ${oneLine(it.address)} ${field(it.path)}: accepted until ${it.until}, and nothing is so`),
  ]
}

export function acceptedText({file, entries}: {readonly file: string; readonly entries: readonly BaselineEntry[]}): string {
  const lines = entries.map(it => {
    const what = it.missing ? 'that it is gone' : it.any ? 'whatever it has' : shownValue(it.value ?? null)
    return `${oneLine(it.address)}${it.path === '' ? '' : ` ${oneLine(it.path.slice(1))}`}: ${what}, until ${it.until}`
  })
  return [...lines, `Accepted in ${file}.`].join('\n')
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
  return table(rows, fieldColumns('stack', 'address', 'path', 'before', 'after'), widest)
}
