/** Why a plan does what it does to one object, as people read it in 80 columns. */
import type {Ansis} from 'ansis'
import type {Cause} from '../engine/model/cause.ts'
import type {Agreed} from '../engine/model/controls.ts'
import {type FieldDecision, isDifference} from '../engine/model/decision.ts'
import type {Action, Edge, GuardResult} from '../engine/model/plan.ts'
import {keyOf, spoken} from '../engine/model/value.ts'
import type {EdgesAround, ExplainedIdentity} from '../engine/plan/explain.ts'
import {liftedBy, shownValue} from './plan-text.ts'
import type {ReportObject} from './report.ts'
import {titleOf} from './running-objects.ts'
import {brief} from './shown.ts'
import {fieldColumns, table} from './table.ts'
import {oneLine} from './terminal-text.ts'

export interface Explanation extends Pick<ReportObject, 'stack' | 'address' | 'kind' | 'name' | 'construct' | 'remoteId' | 'wants'> {
  readonly action: Action
  readonly cause: Cause
  readonly reason: string
  /** `stacks/shop.ts:12` */
  readonly source?: string
  readonly identity: ExplainedIdentity
  readonly guards: readonly GuardResult[]
  readonly holds: readonly Agreed[]
  readonly edges: EdgesAround
  readonly fields: readonly FieldDecision[]
  /** The writes that an apply sends for it. */
  readonly sends: readonly {readonly method: string; readonly path: string}[]
  readonly requests: {readonly used: number}
}

const COLUMNS = 80

export function explainText(it: Explanation, paint: Ansis): string {
  const {stack, address, kind, name, construct, remoteId, action, reason, source, identity, guards, holds, edges, fields, sends, requests} =
    it
  const title = `${paint.bold(titleOf(keyOf(stack, address), false, construct))} ${kind}${name === undefined ? '' : ` ${JSON.stringify(oneLine(name))}`}`
  const differing = fields.filter(isDifference)
  const agreed = fields.filter(field => !isDifference(field) && field.decided !== 'undeclared')
  const undeclared = fields.filter(field => field.decided === 'undeclared')
  const said = (edge: Edge) => `${spoken(edge.key, [stack])} (${edge.reason})`
  const lines = [
    `${paint.yellow(action)} ${title}`,
    ...facts([
      ['why', [reason]],
      ['live', remoteId === undefined ? [] : [remoteId]],
      ['declared', source === undefined ? [] : [source]],
      ['identity', [identity.rule]],
      ['refused', guards.flatMap(guard => [`${guard.message} (${guard.code})`, liftedBy(guard.allow)])],
      ['held', holds.map(hold => `by ${hold.by} until ${hold.until}: ${hold.reason}`)],
      ['stands on', edges.waitsFor.map(said)],
      ['needed by', edges.waitedForBy.map(said)],
      ['sends', sends.map(({method, path}) => `${method} ${path}`)],
    ]),
    ...(differing.length === 0 ? [] : ['', ...differing.flatMap(field => differenceLines(field, paint))]),
    ...(agreed.length === 0 ? [] : ['', ...agreed.flatMap(agreedLines)]),
    ...(undeclared.length === 0 ? [] : ['', ...folded(`  undeclared, left alone: ${undeclared.map(nameOf).join(', ')}`, '    ')]),
    '',
    `${requests.used} ${requests.used === 1 ? 'request' : 'requests'} used.`,
  ]
  return lines.join('\n')
}

const nameOf = ({path}: FieldDecision): string => (path === '' ? '(object)' : oneLine(path.slice(1)))

/** `  why        changed in git`, and one line for each that follows. */
const facts = (rows: readonly (readonly [string, readonly string[]])[]): string[] =>
  rows.flatMap(([title, texts]) =>
    texts.flatMap((text, at) => folded(`  ${(at === 0 ? title : '').padEnd(11)}${oneLine(text)}`, ' '.repeat(13))),
  )

function differenceLines(field: FieldDecision, paint: Ansis): string[] {
  const values = (['declared', 'ledger', 'live'] as const).flatMap(side => {
    const value = field[side]
    return value === undefined ? [] : [`    ${side.padEnd(9)} ${brief(shownValue(value))}`]
  })
  return [
    `  ${paint.yellow(nameOf(field))}: ${paint.bold(field.decided)}`,
    ...values.flatMap(line => folded(line, ' '.repeat(14))),
    ...folded(`    ${field.rule}`, '    '),
  ]
}

/** A field that does not differ is a line, where that is enough. */
function agreedLines(field: FieldDecision): string[] {
  const value = field.declared === undefined ? '' : ` = ${brief(shownValue(field.declared))}`
  const said = field.decided === 'equal' ? 'equal' : `${field.decided}: ${field.rule}`
  const line = `  ${nameOf(field)}${value}  ${said}`
  return line.length <= COLUMNS ? [line] : [...folded(`  ${nameOf(field)}${value}`, '    '), ...folded(`    ${said}`, '    ')]
}

/** In lines of 80 columns, broken at spaces; a word that is longer stays whole. */
function folded(text: string, indent: string): string[] {
  const lines: string[] = []
  let line = ''
  const [, front = '', rest = ''] = /^(\s*)(.*)$/s.exec(text) ?? []
  for (const word of rest.split(' ')) {
    if (line === '') line = `${lines.length === 0 ? front : indent}${word}`
    else if (line.length + 1 + word.length <= COLUMNS) line += ` ${word}`
    else {
      lines.push(line)
      line = `${indent}${word}`
    }
  }
  return [...lines, line]
}

/** `-o table`: one line a field. */
export const explainTable = ({fields}: Explanation, widest?: number): Promise<string> =>
  table(
    fields,
    [
      ...fieldColumns('path', 'decided'),
      {title: 'declared', value: it => (it.declared === undefined ? undefined : shownValue(it.declared))},
      {title: 'ledger', value: it => (it.ledger === undefined ? undefined : shownValue(it.ledger))},
      {title: 'live', value: it => (it.live === undefined ? undefined : shownValue(it.live))},
      {title: 'rule', value: it => it.rule},
    ],
    widest,
  )
