/** A table of chosen fields, each of which an API may spell in several ways; a column nobody has a value for is left out. */
import type {ExactJson} from '../base/lossless-json.ts'
import {type Column, isNumeric, table} from './table.ts'

/** A title and the names the field may have, a deeper one with a slash (`throughputMeasurement/value`). One text is both. */
export type ShownField = string | readonly [title: string, ...names: readonly string[]]

type Row = {readonly [key: string]: ExactJson}

export function fieldTable(rows: readonly Row[], fields: readonly ShownField[], widest?: number): Promise<string> {
  const columns = fields.map((field): Column<Row> => {
    const [title, ...names] = typeof field === 'string' ? [field, field] : field
    const value = (row: Row) => firstOf(row, names)
    const numeric = rows.every(row => isNumeric(value(row)))
    return {title, value, align: numeric ? 'right' : 'left'}
  })
  return table(
    rows,
    columns.filter(column => rows.some(row => column.value(row) !== undefined)),
    widest,
  )
}

function firstOf(row: Row, names: readonly string[]): ExactJson | undefined {
  for (const name of names) {
    let value: ExactJson | undefined = row
    for (const part of name.split('/')) {
      value = value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Row)[part] : undefined
    }
    if (value !== undefined) return value
  }
  return undefined
}
