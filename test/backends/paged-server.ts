/** A server of lists with all the ways of the wire facts to page, or not to. */
import type {Json} from '../../src/base/json.ts'
import {type Scripted, type ScriptedClient, scriptedClient} from './scripted-client.ts'

export interface PagedServer {
  /** Rows by path. */
  readonly lists: Record<string, readonly Json[]>
  /** The largest page. */
  readonly cap?: number
  /** Caps of single lists, by path. */
  readonly caps?: Record<string, number>
  /** A `limit` above this gets a 400. */
  readonly refuseAbove?: number
  /** Answers page one whatever is asked, or as much of it as `limit` says. */
  readonly ignores?: 'offset and limit' | 'offset'
  readonly pastEnd?: 'empty' | '404'
  /** An order for each answer. */
  readonly order?: (rows: readonly Json[]) => readonly Json[]
}

export const pagedServer = (server: PagedServer): ScriptedClient => scriptedClient(call => pageOf(server, call.path))

export function pageOf(
  {lists, caps, cap: capOfAll = Number.POSITIVE_INFINITY, refuseAbove, ignores, pastEnd, order}: PagedServer,
  path: string,
): Scripted {
  const [at = '', query] = path.split('?')
  const rows = lists[at]
  if (rows === undefined) return {status: 404, json: {error: {code: 'NOT_FOUND', message: 'no such list'}}}
  const params = new URLSearchParams(query)
  const cap = caps?.[at] ?? capOfAll
  const limit = Number(params.get('limit'))
  const offset = Number(params.get('offset'))
  if (refuseAbove !== undefined && limit > refuseAbove) {
    return {status: 400, json: {error: {code: 'INVALID_REQUEST', message: 'limit', details: {field: 'limit', constraint: 'max'}}}}
  }
  const ordered = order ? order(rows) : rows
  if (ignores) return {json: ordered.slice(0, ignores === 'offset' ? Math.min(limit, cap) : cap)}
  if (pastEnd === '404' && offset > 0 && offset >= rows.length) return {status: 404, json: {error: {code: 'NOT_FOUND', message: 'no page'}}}
  return {json: ordered.slice(offset, offset + Math.min(limit, cap))}
}
