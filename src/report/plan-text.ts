/** A plan as a person reads it in a terminal. */
import type {Ansis} from 'ansis'
import {formatDuration} from '../base/duration.ts'
import type {Json} from '../base/json.ts'
import type {Action, Change, GuardResult, Operation, Plan} from '../engine/plan.ts'
import {harmless, oneLine} from './terminal-text.ts'

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

export function planText(plan: Plan, paint: Ansis): string {
  const lines: string[] = []
  const several = plan.stacks.length > 1
  for (const operation of plan.operations) if (operation.action !== 'no-op') lines.push(...operationLines(operation, several, paint), '')
  for (const note of plan.notes) lines.push(`${paint.yellow('note:')} ${harmless(note)}`)
  if (plan.notes.length > 0) lines.push('')
  lines.push(countsLine(plan, paint))
  if (plan.unmanaged > 0)
    lines.push(`${plan.unmanaged} unmanaged ${plan.unmanaged === 1 ? 'object was' : 'objects were'} seen and left alone.`)
  lines.push(`${plan.requests.used} requests used, ${plan.requests.avoided} avoided${billText(plan)}`)
  for (const {name, value, sensitive} of plan.stacks.flatMap(it => it.outputs))
    lines.push(`output ${name} = ${sensitive ? '(sensitive)' : shownValue(value)}`)
  if (plan.guards.length > 0) lines.push('', ...guardLines(plan.guards, paint))
  lines.push(`plan ${plan.hash.slice(0, 12)}`)
  return `${lines.join('\n')}\n`
}

function billText({bill}: Plan): string {
  if (bill.requests === 0) return ''
  return `; apply will need about ${bill.requests} requests and ${formatDuration(bill.seconds * 1000)} (bound by ${bill.bound})`
}

function countsLine({summary}: Plan, paint: Ansis): string {
  const counts = VERBS.filter(([action]) => summary[action] > 0).map(([action, words]) => `${summary[action]} ${words}`)
  const same = `${summary['no-op']} unchanged`
  return counts.length === 0 ? `${paint.green('No changes.')} ${same}.` : `${paint.bold('Plan:')} ${[...counts, same].join(', ')}.`
}

export const guardLines = (guards: readonly GuardResult[], paint: Ansis): string[] =>
  guards.flatMap(({code, message, addresses, allow}) => [
    `${paint.red('refused:')} ${harmless(message)} (${code})`,
    ...addresses.map(it => `  ${it}`),
    `  allow with: ${harmless(allow)}`,
  ])

function operationLines(operation: Operation, several: boolean, paint: Ansis): string[] {
  const {action, address, stack, kind, name, construct, changes, reason, remoteId, because, movedFrom} = operation
  const colour = {create: paint.green, delete: paint.red, replace: paint.red, blocked: paint.magenta}[action as string] ?? paint.yellow
  const title = `${several ? `${stack}:` : ''}${address}`
  const what = `${kind}${name === undefined ? '' : ` ${JSON.stringify(oneLine(name))}`}`
  const where = construct === undefined ? '' : paint.dim(` (${construct})`)
  const lines = [`${colour(`${SIGNS[action]} ${action}`)} ${paint.bold(title)} ${what}${where}`]
  lines.push(paint.dim(`    ${harmless(reason)}${remoteId === undefined ? '' : ` [${remoteId}]`}`))
  if (movedFrom !== undefined) lines.push(paint.dim(`    from ${movedFrom}`))
  for (const change of changes) lines.push(changeLine(change, action, paint))
  if (because.length > 0) lines.push(paint.dim(`    after ${because.join(', ')}`))
  return lines
}

function changeLine({path, before, after, risk, moved}: Change, action: Action, paint: Ansis): string {
  const field = path === '' ? '(object)' : path.slice(1)
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
