/** Tables for people: aligned by what a terminal shows, one line per row whatever the names hold. */
import {type ExactJson, ExactNumber, stringifyExactJson} from '../base/lossless-json.ts'
import {fitTo, measureFor, oneLine} from './terminal-text.ts'

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
  const texts = rows.map(row => columns.map(column => cellOf(column.value(row))))
  const measure = await measureFor(each([titles, ...texts]))
  const lines = [titles, ...(widest === Number.POSITIVE_INFINITY ? texts : texts.map(row => row.map(text => fitTo(text, widest, measure))))]
  // The ellipsis of a cut cell is one column wide, whatever the measure makes of it. Each cell is measured once.
  const own = lines.map(cells => cells.map(text => (text.endsWith('…') ? measure(text.slice(0, -1)) + 1 : measure(text))))
  const widths = titles.map((_, at) => own.reduce((most, line) => Math.max(most, line[at] ?? 0), 0))
  return lines
    .map((cells, row) =>
      cells
        .map((text, at) => {
          const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - (own[row]?.[at] ?? 0)))
          return columns[at]?.align === 'right' ? space + text : text + space
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function* each<T>(lists: readonly (readonly T[])[]): Generator<T> {
  for (const list of lists) yield* list
}

/** One value as the text of a cell: absent and null are `-`, objects and lists are compact JSON. */
export function cellOf(value: ExactJson | undefined): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'string') return value === '' ? '""' : oneLine(value)
  return oneLine(typeof value === 'object' ? stringifyExactJson(value) : String(value))
}

/** Any document as a table: a list of objects by their fields, an object by its keys, everything else as it is. */
export async function tableOf(document: ExactJson, widest?: number): Promise<string> {
  if (Array.isArray(document)) {
    const rows = document as readonly ExactJson[]
    if (rows.length > 0 && rows.every(isRecord)) return table(rows, columnsOf(rows), widest)
    return rows.map(cellOf).join('\n')
  }
  if (isRecord(document)) {
    return table(
      Object.entries(document),
      [
        {title: 'field', value: ([key]) => key},
        {title: 'value', value: ([, value]) => value},
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
