/** A plan as a person reads it in a terminal. */

import type {Ansis} from 'ansis'
import {formatDuration} from '../base/duration.ts'
import type {Json} from '../base/json.ts'
import {addAll} from '../base/many.ts'
import {shellWord} from '../base/shell-word.ts'
import {frozenWords, heldWords} from '../engine/model/controls.ts'
import {
  type Action,
  type Change,
  type GuardResult,
  type Lifts,
  type Operation,
  type Plan,
  type PlannedFreeze,
  type Selectors,
  unmanagedCount,
} from '../engine/model/plan.ts'
import {keyOf, keyOfOperation} from '../engine/model/value.ts'
import {liftingOf} from '../engine/plan/guards.ts'
import {boundBy} from './bound-by.ts'
import {titleOf} from './running-objects.ts'
import {fieldColumns, table} from './table.ts'
import {oneLine} from './terminal-text.ts'

const SIGNS: Readonly<Record<Action, string>> = {
  create: '+',
  update: '~',
  replace: '-/+',
  delete: '-',
  adopt: '=',
  move: '>',
  forget: 'x',
  'no-op': ' ',
  blocked: '!',
}

const VERBS: readonly (readonly [Action, string])[] = [
  ['create', 'to create'],
  ['update', 'to update'],
  ['replace', 'to replace'],
  ['delete', 'to delete'],
  ['adopt', 'to adopt'],
  ['move', 'to move'],
  ['forget', 'to forget'],
  ['blocked', 'blocked'],
]

/** @param here - commands as they work here */
export function planText(plan: Plan, paint: Ansis, here = (text: string): string => text): string {
  const lines: string[] = []
  const several = plan.stacks.length > 1
  for (const operation of plan.operations)
    if (operation.action !== 'no-op') addAll(lines, [...operationLines(operation, several, paint, here), ''])
  for (const note of plan.notes) lines.push(`${paint.yellow('note:')} ${oneLine(here(note))}`)
  if (plan.notes.length > 0) lines.push('')
  lines.push(countsLine(plan, paint))
  addAll(lines, unmanagedLines(plan))
  const {used, avoided} = plan.requests
  lines.push(`${used} request${used === 1 ? '' : 's'} used${avoided === 0 ? '' : `, ${avoided} avoided`}${billText(plan)}`)
  for (const [stack, {name, value, sensitive}] of plan.stacks.flatMap(it => it.outputs.map(output => [it.name, output] as const)))
    lines.push(`output ${several ? `${stack}:` : ''}${oneLine(name)} = ${sensitive ? '(sensitive)' : shownValue(value)}`)
  const said = [...(plan.destroy ? ['--destroy'] : []), ...plannedWith(plan)]
  if (said.length > 0) lines.push(`planned with ${said.map(oneLine).join(' ')}`)
  if (plan.notAfter !== undefined) lines.push(`may be applied until ${plan.notAfter}`)
  if (plan.guards.length > 0) addAll(lines, ['', ...guardLines(plan.guards, paint, here)])
  addAll(lines, freezeLines(plan.freezes ?? [], paint))
  lines.push(`plan ${plan.hash.slice(0, 12)}`)
  return `${lines.join('\n')}\n`
}

export const freezeLines = (freezes: readonly PlannedFreeze[], paint: Ansis): string[] =>
  freezes.map(it => `${paint.red('frozen:')} ${oneLine(frozenWords(it))}`)

/** The options a plan was made with, as they would be given again. */
export const plannedWith = ({selectors, lifts}: Pick<Plan, 'selectors' | 'lifts'>): string[] => [
  ...selectorWords(selectors),
  ...liftWords(lifts),
]

const options = (name: string, words: readonly string[]): string[] => words.map(it => `--${name} ${shellWord(it)}`)

const selectorWords = ({target, exclude}: Selectors): string[] => [...options('target', target), ...options('exclude', exclude)]

/** What the plan lifts or leaves out, as the options that say so. */
const liftWords = ({allowDestroy, adopt, accept, skipBlocked, skipHeld, onDrift, maxDestroy, noDestroy, refuseRisky}: Lifts): string[] => [
  ...options('allow-destroy', allowDestroy),
  ...options('adopt', adopt),
  ...options('accept', accept),
  ...(skipBlocked ? ['--skip-blocked'] : []),
  ...(skipHeld ? ['--skip-held'] : []),
  ...(onDrift === 'overwrite' ? [] : options('on-drift', [onDrift])),
  ...(maxDestroy === undefined ? [] : options('max-destroy', [maxDestroy])),
  ...(noDestroy ? ['--no-destroy'] : []),
  ...(refuseRisky ? ['--refuse-risky'] : []),
]

function unmanagedLines(plan: Plan): string[] {
  const count = unmanagedCount(plan)
  if (count === 0) return []
  const said = `${count} unmanaged ${count === 1 ? 'object was' : 'objects were'} seen and left alone`
  if (typeof plan.unmanaged === 'number') return [`${said} (svcctl plan --unmanaged lists ${count === 1 ? 'it' : 'them'}).`]
  return [
    `${said}:`,
    ...plan.unmanaged.map(
      ({kind, name, remoteId}) => `  ${kind} ${name === null ? '' : `${JSON.stringify(oneLine(name))} `}[${oneLine(remoteId)}]`,
    ),
  ]
}

function billText({bill}: Plan): string {
  if (bill.requests === 0) return ''
  return `; apply will need about ${bill.requests} requests and ${formatDuration(bill.seconds * 1000)} (${boundBy(bill.bound)})`
}

function countsLine({summary}: Plan, paint: Ansis): string {
  const counts = VERBS.filter(([action]) => summary[action] > 0).map(([action, words]) => `${summary[action]} ${words}`)
  const same = `${summary['no-op']} unchanged`
  return counts.length === 0 ? `${paint.green('No changes.')} ${same}.` : `${paint.bold('Plan:')} ${[...counts, same].join(', ')}.`
}

/** What lifts a guard, as a next step: flags to allow it with, or what else to do. */
export const liftedBy = (allow: string): string =>
  ({option: `allow with ${allow}`, command: `if that is meant, run: ${allow}`, step: allow})[liftingOf(allow)]

export const guardLines = (guards: readonly GuardResult[], paint: Ansis, here = (text: string): string => text): string[] =>
  guards.flatMap(({code, message, addresses, allow}) => [
    `${paint.red('refused:')} ${oneLine(here(message))} (${code})`,
    ...addresses.map(it => `  ${oneLine(it)}`),
    `  ${oneLine(here(liftedBy(allow)))}`,
  ])

function operationLines(operation: Operation, several: boolean, paint: Ansis, here: (text: string) => string): string[] {
  const {action, address, stack, kind, name, construct, changes, reason, remoteId, because, movedFrom, from, later, held} = operation
  const colour = {create: paint.green, delete: paint.red, replace: paint.red, blocked: paint.magenta}[action as string] ?? paint.yellow
  const what = `${kind}${name === undefined ? '' : ` ${JSON.stringify(oneLine(name))}`}`
  const lines = [`${colour(`${SIGNS[action]} ${action}`)} ${paint.bold(titleOf(keyOf(stack, address), several, construct))} ${what}`]
  lines.push(paint.dim(`    ${oneLine(here(reason))}${remoteId === undefined ? '' : ` [${oneLine(remoteId)}]`}`))
  if (held !== undefined) lines.push(paint.red(`    ${oneLine(heldWords(held))}`))
  if (movedFrom !== undefined) lines.push(paint.dim(`    from ${oneLine(movedFrom)}`))
  if (from !== undefined) lines.push(paint.dim(`    from ${oneLine(from.address)} of stack ${oneLine(from.stack)}`))
  if (later !== undefined) lines.push(paint.dim(`    left for the next apply: ${oneLine(later.join(', '))}`))
  for (const change of changes) lines.push(changeLine(change, action, paint))
  const after = several ? operation.edges.map(it => it.key) : because
  if (after.length > 0) lines.push(paint.dim(`    after ${after.map(oneLine).join(', ')}`))
  return lines
}

function changeLine({path, before, after, risk, moved}: Change, action: Action, paint: Ansis): string {
  const field = path === '' ? '(object)' : oneLine(path.slice(1))
  const to = after === undefined ? '(gone)' : shownValue(after)
  const text =
    action === 'create' ? `    ${field} = ${to}` : `    ${field}: ${before === undefined ? '(absent)' : shownValue(before)} -> ${to}`
  const who = moved === undefined || moved === 'unknown' || action === 'create' ? '' : paint.dim(` (changed ${moved})`)
  return `${text}${who}${risk === undefined || action === 'create' ? '' : ` ${paint.red(`risk: ${risk}`)}`}`
}

export function shownValue(value: Json): string {
  if (isMark(value, 'secret')) return '(secret)'
  if (isMark(value, 'unknown')) return '(known after apply)'
  return oneLine(JSON.stringify(value))
}

const isMark = (value: Json, mark: string): boolean =>
  value !== null &&
  typeof value === 'object' &&
  !Array.isArray(value) &&
  Object.keys(value).length === 1 &&
  (value as Readonly<Record<string, Json>>)[mark] === true

/** `-o table`: one line an operation. */
export const planTable = ({operations, stacks}: Plan, widest?: number): Promise<string> =>
  table(
    operations,
    [
      {title: 'action', value: it => it.action},
      {title: 'address', value: it => titleOf(keyOfOperation(it), stacks.length > 1)},
      ...fieldColumns('kind', 'name'),
      {title: 'changes', value: it => it.changes.map(change => change.path.slice(1)).join(', ')},
      {title: 'reason', value: it => it.reason},
      {title: 'id', value: it => it.remoteId},
    ],
    widest,
  )
