/** Two stacks beside each other, as people read it. */
import type {Ansis} from 'ansis'
import type {Json} from '../base/json.ts'
import type {ComparedField, Comparison} from '../engine/plan/compare.ts'
import {shownValue} from './plan-text.ts'
import {fieldColumns, table} from './table.ts'
import {oneLine} from './terminal-text.ts'

export interface Compared extends Comparison {
  readonly stacks: {readonly a: string; readonly b: string}
}

/** A line that is longer is two. */
const COLUMNS = 80

/** A value, also where marks differ: by version, or by what will be known. */
function side(value: Json | undefined): string {
  if (value === undefined) return '(absent)'
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    const {secret, unknown, version, expression} = value as Readonly<Record<string, Json>>
    if (secret === true) return version === undefined ? '(secret)' : `(secret, version ${oneLine(String(version))})`
    if (unknown === true && typeof expression === 'string') return oneLine(expression)
  }
  return shownValue(value)
}

export function compareText({stacks, onlyA, onlyB, differ, both, secrets}: Compared, paint: Ansis): string {
  const [a, b] = [oneLine(stacks.a), oneLine(stacks.b)]
  const only = (stack: string, addresses: readonly string[]) =>
    addresses.length === 0 ? [] : [paint.bold(`only in ${stack}`), ...addresses.map(it => `    ${oneLine(it)}`), '']
  const lines = [
    ...only(a, onlyA),
    ...only(b, onlyB),
    ...(differ.length === 0 ? [] : [paint.bold(`${a} | ${b}`)]),
    ...[...grouped(differ)].flatMap(([address, those]) => [
      `  ${paint.yellow(oneLine(address))}`,
      ...those.flatMap(it => fieldLines(it, a, b)),
    ]),
    ...(differ.length === 0 ? [] : ['']),
    `${both} in both, ${onlyA.length} only in ${a}, ${onlyB.length} only in ${b}; ${differ.length} ${differ.length === 1 ? 'field differs' : 'fields differ'}.`,
    ...(secrets === 0 ? [] : [`${secrets} ${secrets === 1 ? 'secret was' : 'secrets were'} compared by version alone.`]),
  ]
  return lines.join('\n')
}

function grouped(fields: readonly ComparedField[]): Map<string, ComparedField[]> {
  const groups = new Map<string, ComparedField[]>()
  for (const it of fields) {
    const group = groups.get(it.address)
    if (group === undefined) groups.set(it.address, [it])
    else group.push(it)
  }
  return groups
}

function fieldLines({path, ...values}: ComparedField, a: string, b: string): string[] {
  const field = oneLine(path.slice(1))
  const [inA, inB] = [side(values.a), side(values.b)]
  const line = `    ${field}: ${inA} | ${inB}`
  return line.length <= COLUMNS ? [line] : [`    ${field}`, `      ${a}: ${inA}`, `      ${b}: ${inB}`]
}

/** `-o table`: one line a field, and one for each object that only one has. */
export function compareTable({stacks, onlyA, onlyB, differ}: Compared, widest?: number): Promise<string> {
  const rows = [
    ...onlyA.map(address => ({address, path: '(object)', a: 'there', b: '(absent)'})),
    ...onlyB.map(address => ({address, path: '(object)', a: '(absent)', b: 'there'})),
    ...differ.map(it => ({address: it.address, path: it.path, a: side(it.a), b: side(it.b)})),
  ]
  return table(
    rows,
    [...fieldColumns('address', 'path'), {title: stacks.a, value: it => it.a}, {title: stacks.b, value: it => it.b}],
    widest,
  )
}
