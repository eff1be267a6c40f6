/** The query parameters every list understands (contract section 4, "Common query parameters"), and how pages misbehave. */
import type {Json} from '../base/json.ts'
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

/** Rows as the list answers them: filtered, sorted, one page, chosen fields. */
export function page(exchange: Exchange, rows: readonly Fields[], {paging, shuffled: mixed, badRequest}: ListRules): Fields[] {
  const {query} = exchange
  let out = [...rows]
  const filter = query.get('filter')
  if (filter) {
    const colon = filter.indexOf(':')
    if (colon < 1) throw new Refusal(400, badRequest, 'filter has the form <field>:<value>.', {field: 'filter', constraint: 'format'})
    out = out.filter(row => String(row[filter.slice(0, colon)]) === filter.slice(colon + 1))
  }
  // One order per list, not per request: pages of one list must fit together.
  if (mixed) out = shuffled(out, {seed: hashText(exchange.path)})
  const sort = query.get('sort')
  if (sort) {
    const sign = query.get('order') === 'desc' ? -1 : 1
    out.sort((a, b) => sign * compare(a[sort], b[sort]))
  }
  out = cut(exchange, out, paging, badRequest)
  const fields = query.get('fields')?.split(',').filter(Boolean)
  if (fields) out = out.map(row => Object.fromEntries(Object.entries(row).filter(([key]) => fields.includes(key))))
  return out
}

function cut(exchange: Exchange, rows: Fields[], paging: Paging, badRequest: string): Fields[] {
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
  const offset = count(exchange, 'offset', badRequest) ?? 0
  if (paging.ignored) return rows.slice(0, paging.defaultLimit ?? paging.maxLimit ?? rows.length)
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
