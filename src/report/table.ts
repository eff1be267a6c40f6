/** Tables for people: aligned by what a terminal shows, one line per row whatever the names hold. */
import {type ExactJson, ExactNumber, stringifyExactJson} from '../base/lossless-json.ts'
import {fitTo, type Measure, measureFor, oneLine} from './terminal-text.ts'

export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => ExactJson | undefined
  readonly align?: 'left' | 'right'
}

type Fields<Name extends string> = {readonly [name in Name]?: ExactJson | undefined}

/** Columns that are called as the fields they show. */
export const fieldColumns = <Name extends string>(...names: readonly Name[]): Column<Fields<Name>>[] =>
  names.map(title => ({title, value: row => row[title]}))

/** On a terminal. In a pipe nothing is cut: what is read there is data. */
export const WIDEST_CELL = 80

/**
 * @param widest - columns a cell may take; longer ones end with an ellipsis
 * @returns lines without an end of line; empty text for no rows
 */
export async function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  widest = Number.POSITIVE_INFINITY,
): Promise<string> {
  if (rows.length === 0) return ''
  const titles = columns.map(column => oneLine(column.title).toUpperCase())
  // The cells of a large table are made twice: all of them at once take several times as much memory as what they show.
  const textOf = (column: Column<Row>, row: Row) => cellOf(column.value(row))
  const measure = await measureFor(eachText(titles, rows, columns, textOf))
  const fitted = widest === Number.POSITIVE_INFINITY ? (text: string) => text : (text: string) => fitTo(text, widest, measure)
  const widths = titles.map(measure)
  for (const row of rows)
    for (const [at, column] of columns.entries())
      widths[at] = Math.max(widths[at] ?? 0, columnsOfText(fitted(textOf(column, row)), measure))
  const line = (cells: readonly string[]) =>
    cells
      .map((text, at) => {
        const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - columnsOfText(text, measure)))
        return columns[at]?.align === 'right' ? space + text : text + space
      })
      .join('  ')
      .trimEnd()
  return joinedLines(eachLine())

  function* eachLine(): Generator<string> {
    yield line(titles)
    for (const row of rows) yield line(columns.map(column => fitted(textOf(column, row))))
  }
}

/** The ellipsis of a cut cell is one column wide, whatever the measure makes of it. */
const columnsOfText = (text: string, measure: Measure): number => (text.endsWith('…') ? measure(text.slice(0, -1)) + 1 : measure(text))

function* eachText<Row>(
  titles: readonly string[],
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  textOf: (column: Column<Row>, row: Row) => string,
): Generator<string> {
  yield* titles
  for (const row of rows) for (const column of columns) yield textOf(column, row)
}

/** Joined at a time: lines by the hundred thousand take as much again as their text. */
const LINES = 1_000

function joinedLines(lines: Iterable<string>): string {
  const parts: string[] = []
  let some: string[] = []
  for (const line of lines) {
    if (some.push(line) < LINES) continue
    parts.push(some.join('\n'))
    some = []
  }
  if (some.length > 0) parts.push(some.join('\n'))
  return parts.join('\n')
}

/** One value as the text of a cell: absent and null are `-`, objects and lists are compact JSON. */
export function cellOf(value: ExactJson | undefined): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'string') return value === '' ? '""' : oneLine(value)
  return oneLine(typeof value === 'object' ? stringifyExactJson(value) : String(value))
}

/** Any document as a table: a list of objects by their fields, an object by its keys, everything else a line each. */
export async function tableOf(document: ExactJson, widest?: number): Promise<string> {
  if (Array.isArray(document)) {
    const rows = document as readonly ExactJson[]
    if (rows.length > 0 && rows.every(isRecord) && !isSparse(rows)) return table(rows, columnsOf(rows), widest)
    return rows.map(cellOf).join('\n')
  }
  if (isRecord(document)) {
    return table(
      Object.keys(document),
      [
        {title: 'field', value: key => key},
        {title: 'value', value: key => document[key]},
      ],
      widest,
    )
  }
  return document === null ? '' : cellOf(document)
}

type ExactRecord = {readonly [key: string]: ExactJson}

const isRecord = (value: ExactJson): value is ExactRecord =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof ExactNumber)

/** Of a column of numbers; what is absent leaves it one. */
export const isNumeric = (value: ExactJson | undefined): boolean =>
  ['number', 'bigint', 'undefined'].includes(typeof value) || value instanceof ExactNumber

/** Objects that have hardly a field in common make a table of empty cells: a hundred times what they are, or a million times. */
const MOST_EMPTY = 1_000_000

function isSparse(rows: readonly ExactRecord[]): boolean {
  const titles = new Set<string>()
  let fields = 0
  for (const row of rows) {
    for (const title in row) {
      titles.add(title)
      fields++
    }
  }
  return titles.size * rows.length > MOST_EMPTY + 10 * fields
}

/** Every field of any row, in the order of first sight; numbers stand to the right. */
function columnsOf(rows: readonly ExactRecord[]): Column<ExactRecord>[] {
  const titles = new Set<string>()
  for (const row of rows) for (const title of Object.keys(row)) titles.add(title)
  return [...titles].map(title => {
    const value = (row: ExactRecord) => (Object.hasOwn(row, title) ? row[title] : undefined)
    const numeric = rows.every(row => isNumeric(value(row)))
    return {title, value, align: numeric ? 'right' : 'left'}
  })
}
