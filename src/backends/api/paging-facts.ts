/**
 * What all lists of one API have in common: the page size it takes, the cap it may have, and whether it looks at
 * `offset` and `limit` at all. Learned from the pages that are read anyway. The task list has a cap of its own (`apart`).
 */
import {AppError} from '../../base/errors.ts'
import type {RequestOptions} from '../../engine/model/backend.ts'
import {MAX_RESPONSE_BYTES} from '../../transport/http.ts'

/** One page as the API answered it. */
export type PageAnswer<Row> =
  /** `sizeBytes`: of the answer; where nobody knows it, it counts for nothing. */
  | {readonly found: true; readonly rows: readonly Row[]; readonly sizeBytes?: number}
  /** 404 or 400; `error` says it for people. */
  | {readonly found: false; readonly status: number; readonly error: Error}

export type FetchPage<Row> = (path: string, options?: RequestOptions) => Promise<PageAnswer<Row>>

/** Asked for first; an API that answers 400 to it gets the second, from then on. */
const LIMIT = 1000
const SMALL_LIMIT = 100

/** No list is as long as this, so that whoever answers rows here ignores `offset`. */
export const FAR_OFFSET = 1_000_000

/** In one page, for servers that answer all of a list whatever was asked for; twice what stacks may declare. */
const MOST_ROWS = 100_000

/** So many rows in one answer fit into its bytes, and not into memory once they are objects of a run. */
export class LongPageError extends AppError {
  constructor(path: string, rows: number) {
    super(`GET ${path.split('?')[0]}: the answer has ${rows} rows, and a list may have ${MOST_ROWS} in one answer`, {
      code: 'E_LIST_PAGE',
      suggestions: ['Look at the answer itself: svcctl api cloud get "PATH" --raw > FILE (or api enterprise).'],
    })
  }
}

/**
 * The rows of a page, as soon as they are known and before anything is made of them.
 * @throws LongPageError
 */
export function boundedPage<Rows extends readonly unknown[] | undefined>(rows: Rows, path: string): Rows {
  if (rows !== undefined && rows.length > MOST_ROWS) throw new LongPageError(path, rows.length)
  return rows
}

/**
 * Why page one came again. `ignored`: the server looks at neither `offset` nor `limit`, and so gave all it has. `cut`: it
 * looks at `limit` alone, and may have a cap of its own that nobody gets behind. `accident`: of a list whose order changes.
 */
export type Repeated = 'ignored' | 'cut' | 'accident'

/** What holds for every list of an API, whatever its cap. */
interface ServerFacts {
  /** Rows to ask for in one page; at first `LIMIT`. */
  limit?: number
  /** Of one answer (`--max-response`). */
  readonly maxResponseBytes?: number | undefined
  repeats?: Promise<Repeated>
}

export class PagingFacts {
  readonly #server: ServerFacts
  #largest: number

  constructor(server: ServerFacts = {}, largest = 0) {
    this.#server = server
    this.#largest = largest
  }

  /**
   * For lists that may be cut by another cap: their pages say nothing about the others, nor the others' about theirs.
   * @param largest - rows in the largest of their own pages so far
   */
  apart(largest = 0): PagingFacts {
    return new PagingFacts(this.#server, largest)
  }

  /** Bytes that one answer may have. */
  get maxResponseBytes(): number {
    return this.#server.maxResponseBytes ?? MAX_RESPONSE_BYTES
  }

  /**
   * Rows in a page that an API's cap cannot have cut. A cap is the same for all lists of one API, so a page that is
   * shorter than another page is the last of its list.
   */
  uncutBelow(limit: number): number {
    return Math.min(this.#largest, limit)
  }

  /** One page of `path`, and the limit it was asked with. */
  async page<Row>(
    fetch: FetchPage<Row>,
    path: string,
    offset: number,
    options?: RequestOptions,
  ): Promise<PageAnswer<Row> & {limit: number}> {
    let {limit = LIMIT} = this.#server
    let answer = await fetch(paged(path, limit, offset), options)
    if (!answer.found && answer.status === 400 && limit > SMALL_LIMIT) {
      const second = await fetch(paged(path, SMALL_LIMIT, offset), options)
      if (second.found || second.status === 404) {
        limit = SMALL_LIMIT
        this.#server.limit = SMALL_LIMIT
        answer = second
      }
    }
    if (answer.found) boundedPage(answer.rows, path)
    if (answer.found) this.#largest = Math.max(this.#largest, answer.rows.length)
    return {...answer, limit}
  }

  /**
   * Asked once for an API that ignores offsets; lists that wonder at the same time share the answer.
   *
   * @param first - what is known of page one: how many rows, and whether some rows are the same ones
   */
  async whyRepeated<Row>(
    fetch: FetchPage<Row>,
    path: string,
    first: {readonly size: number; readonly is: (rows: readonly Row[]) => boolean},
    options?: RequestOptions,
  ): Promise<Repeated> {
    const server = this.#server
    const known = server.repeats === undefined ? 'accident' : await server.repeats
    if (known !== 'accident') return known
    const asked = whyRepeated(async limit => {
      const page = await fetch(paged(path, limit, FAR_OFFSET), options)
      return page.found ? page.rows : []
    }, first)
    server.repeats = asked
    try {
      return await asked
    } catch (error) {
      // What failed says nothing: the next list asks again.
      if (server.repeats === asked) delete server.repeats
      throw error
    }
  }
}

/**
 * Told by a page far beyond the end that asks for fewer rows than page one has: the same rows again, fewer of them, or
 * none. Fewer than one are none too, whichever of the two is looked at, so that a list of one row may have to ask twice.
 */
async function whyRepeated<Row>(
  far: (limit: number) => Promise<readonly Row[]>,
  first: {readonly size: number; readonly is: (rows: readonly Row[]) => boolean},
): Promise<Repeated> {
  const rows = await far(Math.min(1, first.size - 1))
  if (first.is(rows)) return 'ignored'
  if (first.size === 1) return first.is(await far(1)) ? 'cut' : 'accident'
  return rows.length > 0 && rows.length < first.size ? 'cut' : 'accident'
}

function paged(path: string, limit: number, offset: number): string {
  return `${path}${path.includes('?') ? '&' : '?'}limit=${limit}&offset=${offset}`
}
