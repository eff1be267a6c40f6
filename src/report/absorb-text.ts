/** What an absorb edits, and what is left to a person. */
import {keyOf} from '../engine/model/value.ts'
import {shownValue} from './plan-text.ts'
import {oneLine} from './terminal-text.ts'

type Value = Parameters<typeof shownValue>[0]

interface Field {
  readonly stack: string
  readonly address: string
  readonly path: string
  readonly before?: Value
  readonly after?: Value
  readonly file?: string
  readonly line?: number
  readonly column?: number
}

export interface AbsorbReport {
  readonly absorbed: readonly Field[]
  readonly manual: readonly (Field & {readonly found: string; readonly edit: string; readonly why: string})[]
  readonly proof: 'empty' | 'not run'
}

const side = (value: Value | undefined, nothing: string): string => (value === undefined ? nothing : shownValue(value))

const fieldText = ({stack, address, path, before, after}: Field): string =>
  path === ''
    ? keyOf(stack, address)
    : `${keyOf(stack, address)} ${oneLine(path.slice(1))}: ${side(before, '(absent)')} -> ${side(after, '(gone)')}`

const placeText = ({file, line, column}: Field): string =>
  file === undefined ? '' : [oneLine(file), line, column].filter(it => it !== undefined).join(':')

/** @param done - whether it was written already */
export function absorbText({absorbed, manual, proof}: AbsorbReport, done: boolean): string {
  const lines = [
    ...absorbed.flatMap(it => [fieldText(it), `    ${done ? 'written' : 'to be written'} at ${placeText(it)}`]),
    ...manual.flatMap(it => [
      fieldText(it),
      `    by hand at ${placeText(it) || 'a place nobody knows'}: ${oneLine(it.why)}`,
      ...(it.found === '' ? [] : [`      there: ${oneLine(it.found)}`]),
      ...(it.edit === '' ? [] : [`      wanted: ${oneLine(it.edit)}`]),
    ]),
  ]
  if (lines.length === 0) return 'Nothing to absorb: no field that is declared was changed outside.'
  return [...lines, ...(proof === 'empty' ? ['', ...verifiedLines(absorbed.length, manual.length)] : [])].join('\n')
}

function verifiedLines(absorbed: number, manual: number): string[] {
  const fields = (count: number) => `${count} field${count === 1 ? '' : 's'}`
  return [
    `Verified: a plan of the edited program leaves the ${fields(absorbed)} written above as ${absorbed === 1 ? 'it is' : 'they are'}.`,
    ...(manual === 0 ? [] : [`Left: ${fields(manual)} to edit by hand.`]),
  ]
}
