/** The query parameters every list understands (contract section 4, "Common query parameters"), and how pages misbehave. */
import type {Json} from '../../base/json.ts'
import {type Exchange, Refusal} from './answer.ts'
import type {Paging} from './config.ts'
import {hashText, shuffled} from './random.ts'
import type {Fields} from './world.ts'

export interface ListRules {
  readonly paging: Paging
  readonly shuffled: boolean
  /** The API's code for a bad parameter. */
  readonly badRequest: string
}

/**
 * Rows as the list answers them: filtered, sorted, one page, chosen fields. Only what is looked at is shown, so that a
 * short page of a long list is cheap.
 */
export function onePage<T>(exchange: Exchange, items: readonly T[], show: (item: T) => Fields, rules: ListRules): Fields[] {
  const {query} = exchange
  // One order per list, not per request: pages of one list must fit together.
  const ordered = rules.shuffled ? shuffled(items, {seed: hashText(exchange.path)}) : items
  const filter = query.get('filter')
  const sort = query.get('sort')
  if (!filter && !sort) return cut(exchange, ordered, rules).map(item => chosen(exchange, show(item)))
  let rows = ordered.map(show)
  if (filter) {
    const colon = filter.indexOf(':')
    if (colon < 1) {
      throw new Refusal(400, rules.badRequest, 'filter has the form <field>:<value>.', {field: 'filter', constraint: 'format'})
    }
    rows = rows.filter(row => String(row[filter.slice(0, colon)]) === filter.slice(colon + 1))
  }
  if (sort) {
    const sign = query.get('order') === 'desc' ? -1 : 1
    rows.sort((a, b) => sign * compare(a[sort], b[sort]))
  }
  return cut(exchange, rows, rules).map(row => chosen(exchange, row))
}

function chosen({query}: Exchange, row: Fields): Fields {
  const names = query.get('fields')?.split(',').filter(Boolean)
  return names ? Object.fromEntries(Object.entries(row).filter(([key]) => names.includes(key))) : row
}

function cut<T>(exchange: Exchange, rows: readonly T[], {paging, badRequest}: ListRules): readonly T[] {
  let limit = count(exchange, 'limit', badRequest) ?? paging.defaultLimit ?? Number.POSITIVE_INFINITY
  if (paging.maxLimit !== null && limit > paging.maxLimit) {
    if (paging.largeLimit === 'refuse' && Number.isFinite(limit)) {
      throw new Refusal(400, badRequest, `limit must not exceed ${paging.maxLimit}.`, {
        field: 'limit',
        constraint: `max ${paging.maxLimit}`,
      })
    }
    limit = paging.maxLimit
  }
  const asked = count(exchange, 'offset', badRequest) ?? 0
  const offset = paging.ignored === 'offset' ? 0 : asked
  if (paging.ignored === true) return rows.slice(0, paging.defaultLimit ?? paging.maxLimit ?? rows.length)
  if (paging.pastEnd === '404' && offset > 0 && offset >= rows.length) {
    throw new Refusal(404, badRequest === 'INVALID_REQUEST' ? 'NOT_FOUND' : 'not_found', 'There is no such page.')
  }
  return rows.slice(offset, offset + limit)
}

function count(exchange: Exchange, name: string, badRequest: string): number | undefined {
  const text = exchange.query.get(name)
  if (text === null) return undefined
  if (!/^\d+$/.test(text)) throw new Refusal(400, badRequest, `${name} must be a whole number.`, {field: name, constraint: 'integer'})
  return Number(text)
}

function compare(a: Json | undefined, b: Json | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const left = a === undefined ? '' : String(a)
  const right = b === undefined ? '' : String(b)
  return left < right ? -1 : left > right ? 1 : 0
}
