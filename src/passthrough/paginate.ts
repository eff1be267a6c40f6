/**
 * `--paginate`: one list from its first page to a proof that it is whole, by the rules the planner reads by (design
 * section 10, "Paging"). Rows are handed on as they come; numbers keep every digit.
 */
import type {ErrorVoice} from '../backends/api/api-errors.ts'
import {ApiReads, asPage} from '../backends/api/api-reads.ts'
import {collectionOf} from '../backends/api/list-path.ts'
import {rowId, rowsIn} from '../backends/api/list-rows.ts'
import {type KeyedRow, ListWalk} from '../backends/api/list-walk.ts'
import {PagedReader} from '../backends/api/paged-reader.ts'
import {boundedPage, type FetchPage, PagingFacts} from '../backends/api/paging-facts.ts'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {isJsonObject, type Json} from '../base/json.ts'
import {type ExactJson, stringifyExactJson} from '../base/lossless-json.ts'
import {parseSpelledBytes} from '../base/masked-json.ts'
import {maskSecrets} from '../base/secret-fields.ts'
import {PRIORITY, type RequestOptions} from '../engine/model/backend.ts'
import type {ApiClient} from '../transport/api-client.ts'

/** `--paginate` was asked of something that has no pages. */
export class NotAListError extends AppError {
  constructor(path: string) {
    super(`GET ${path.split('?')[0]}: the answer is no list, and has no pages`, {
      code: 'E_NOT_A_LIST',
      exit: EXIT.usage,
      suggestions: ['Send the request without --paginate.'],
    })
  }
}

/** `offset` is what `--paginate` itself moves. */
export class PagingQueryError extends AppError {
  constructor(name: string) {
    super(`--paginate begins at the first row and goes to the last: it takes no ${name} of ${name === 'limit' ? 'this kind' : 'its own'}`, {
      code: 'E_PAGING_QUERY',
      exit: EXIT.usage,
      suggestions: [
        name === 'limit' ? 'Give a whole number above zero as limit: the size of a page.' : `Leave ${name} away, or --paginate.`,
      ],
    })
  }
}

export interface PaginateOptions {
  readonly client: ApiClient
  readonly voice: ErrorVoice
  readonly clock: Clock
  readonly pollIntervalMs: number
  readonly timeoutMs: number
  /** Of one answer; it bounds what the list may have. */
  readonly maxResponseBytes?: number
  /** Is handed each row once, masked, in the order of the list as it was first seen. */
  readonly onRow: (row: ExactJson) => Promise<void>
  readonly signal?: AbortSignal
}

export interface Paginated {
  readonly rows: number
  /** `undefined`: the list could not be read whole, and rows may be missing. */
  readonly proof: string | undefined
}

/** @throws PagingQueryError, NotAListError, and whatever a read throws */
export async function paginate(path: string, options: PaginateOptions): Promise<Paginated> {
  const {list, limit} = ownPaging(path)
  const reads = new ApiReads({...options, taskTimeoutMs: options.timeoutMs})
  const at: RequestOptions = {priority: PRIORITY.interactive, ...(options.signal ? {signal: options.signal} : {})}
  const seen = new Set<string>()
  const fetch: FetchPage<KeyedRow<ExactJson>> = async page => {
    const answer = asPage(await reads.follow(page, (body, full) => rowsOf(body, full?.bytes, list), at))
    if (!answer.found) return answer
    for (const {key, row} of answer.rows) {
      if (seen.has(key)) continue
      seen.add(key)
      await options.onRow(maskSecrets(row ?? null))
    }
    return answer
  }
  const walk = new ListWalk<ExactJson>(
    list,
    fetch,
    new PagingFacts({...(limit === undefined ? {} : {limit}), maxResponseBytes: options.maxResponseBytes}),
  )
  const refusal = await walk.read(at)
  if (refusal !== undefined) {
    if (refusal.status !== 404) throw refusal.error
    return {rows: 0, proof: await emptyNotGone(list, reads, refusal.error, at)}
  }
  await walk.prove(at)
  return {rows: seen.size, proof: walk.proof}
}

/** The list without what says which part of it is wanted; a `limit` is the size of a page. */
function ownPaging(path: string): {list: string; limit?: number} {
  const [bare = '', query = ''] = path.split('?')
  let limit: number | undefined
  const others = query.split('&').filter(pair => {
    const [name, value = ''] = pair.split('=')
    if (name === 'offset') throw new PagingQueryError('offset')
    if (name !== 'limit') return pair !== ''
    if (!/^[1-9]\d{0,6}$/.test(value)) throw new PagingQueryError('limit')
    limit = Number(value)
    return false
  })
  return {list: others.length === 0 ? bare : `${bare}?${others.join('&')}`, ...(limit === undefined ? {} : {limit})}
}

function rowsOf(body: Json | undefined, bytes: Uint8Array | undefined, path: string): readonly KeyedRow<ExactJson>[] | undefined {
  if (body === undefined) return undefined
  const bare = path.split('?')[0] ?? path
  const rows = boundedPage(rowsIn(body, bare), path)
  if (rows === undefined) throw new NotAListError(path)
  // The same slots once more with every digit: an exact document has the shape of the plain one.
  const exact: readonly ExactJson[] = bytes === undefined ? rows : (rowsIn(parseSpelledBytes(bytes) as Json, bare) ?? rows)
  return rows.map((row, index) => ({key: rowId(row, bare) ?? stringifyExactJson(row), row: exact[index] ?? null}))
}

/** A 404 for a whole list may be how an empty one is answered: its parent tells (wire facts, "End of a list"). */
async function emptyNotGone(list: string, reads: ApiReads, refusal: Error, at: RequestOptions): Promise<string> {
  const reader = new PagedReader({
    page: async () => ({found: false, status: 404, error: refusal}),
    object: async path => {
      const got = await reads.follow(path, body => (isJsonObject(body) ? body : undefined), at)
      if (!got.ok && got.status !== 404) throw got.error
      return got.ok ? got.value : undefined
    },
    warn: () => {},
  })
  const listing = await reader.list({method: 'GET', path: list})
  if (listing === undefined) throw refusal
  return listing.proof ?? `a 404 for ${collectionOf(list)} whose parent exists`
}
