/**
 * Reads one list, page by page, to a proof that it is whole.
 *
 * A list that moves while it is read is read again from the start. One that keeps moving (an order of its own in each
 * answer) is gathered row by row until as many rows are known as the list has. Both are bounded: then the list stays
 * unproven, and nobody may conclude from it that something does not exist. So does one whose server looks at `limit` and
 * not at `offset`, unless another list is longer.
 */

import {AppError} from '../../base/errors.ts'
import {formatSizeBytes} from '../../base/units.ts'
import type {RequestOptions} from '../../engine/model/backend.ts'
import {judgePage, SHORT_PAGE, sameKeys} from './page-verdict.ts'
import type {FetchPage, PageAnswer, PagingFacts} from './paging-facts.ts'

interface TooLarge {
  readonly bytes: number
  readonly most: number
  /** Whether it is all lists together. */
  readonly together: boolean
  readonly maxResponseBytes: number
}

/**
 * Every page brought rows nobody had seen: the server makes them up, or the list grows faster than it can be read. Or they
 * are more than memory has room for.
 */
export class EndlessListError extends AppError {
  /** @param large - where it is not their number that is too much */
  constructor(path: string, pages: number, rows: number, large?: TooLarge) {
    const brought = `${pages} ${pages === 1 ? 'page' : 'pages'} brought ${rows} rows`
    const what = large === undefined ? `the list does not end: ${brought}, and each of them new ones` : tooLarge(large, brought)
    super(`GET ${path.split('?')[0]}: ${what}`, {
      code: 'E_LIST_ENDLESS',
      suggestions: [
        ...(large === undefined
          ? []
          : [`If this server is right to have so much, allow it: --max-response ${twice(large.maxResponseBytes)}.`]),
        'Look at single pages of it: svcctl api cloud get "PATH?limit=100&offset=0" (or api enterprise).',
      ],
    })
  }
}

const tooLarge = ({bytes, most, together}: TooLarge, brought: string): string =>
  together
    ? `the lists of this API are too large for memory: ${brought}, all lists have ${formatSizeBytes(bytes)}, and may have ${formatSizeBytes(most)} together (${TOGETHER} times --max-response)`
    : `the list is too large for memory: ${brought}, which have ${formatSizeBytes(bytes)}, and a list may have ${formatSizeBytes(most)} (${ALONE} times --max-response)`

const twice = (bytes: number): string => `${Math.ceil((2 * bytes) / 2 ** 20)}MiB`

/** How many pages a list may have whose first one has so many rows: a server that answers ten at a time has no list of thousands. */
const mostPages = (firstRows: number): number => 500 + 10 * firstRows

/** All rows of a list are kept until it is read: twice what an app may have of objects, and a page more. */
export const MOST_ROWS = 250_000

/**
 * Answers of the largest size that fit into one list, and into all lists of an API that are kept: 256 and 384 MiB unless told.
 * As many rows as a list may have, of 600 bytes each, are 150 MB.
 */
const ALONE = 4
const TOGETHER = 6

/** A row and what it is known by; rows without an id have a key too, and stand apart from the answer. */
export interface KeyedRow<Row> {
  readonly key: string
  readonly row: Row | undefined
  /** What there is instead of a row with an id. */
  readonly withoutId?: Row
}

interface Page<Row> {
  readonly rows: readonly KeyedRow<Row>[]
  readonly limit: number
  readonly sizeBytes?: number
}

const keysOf = (rows: readonly KeyedRow<unknown>[]): readonly string[] => rows.map(it => it.key)

/** How often an ordered reading starts again before the order is given up. */
const RESTARTS = 2
/** How many pages of a list without an order are read; it is gone through as often as that allows. */
const GATHERED_PAGES = 60

export class ListWalk<Row> {
  readonly path: string
  readonly #fetch: FetchPage<KeyedRow<Row>>
  readonly #allBytes: () => number
  #facts: PagingFacts

  #rows = new Map<string, KeyedRow<Row>>()
  /** Of the answers, by how many of their rows are kept. */
  #bytes = 0
  #first: readonly string[] = []
  #end = 0
  #pages = 0
  #lastSize = 0
  #largest = 0
  #lastLimit = 0
  #proof: string | undefined
  #restarts = 0
  /** How the reading before this one ended where the last known row should have been. */
  #nothingAfter: string | undefined
  #givenUp = false
  #cut = false
  #alone = false

  /** @param allBytes - `sizeBytes` of all lists that are kept, this one included */
  constructor(path: string, fetch: FetchPage<KeyedRow<Row>>, facts: PagingFacts, allBytes = () => this.sizeBytes) {
    this.path = path
    this.#allBytes = allBytes
    this.#fetch = fetch
    this.#facts = facts
  }

  get rows(): Row[] {
    return [...this.#rows.values()].map(it => it.row).filter(it => it !== undefined)
  }

  /** Rows that show that something is there, and not what to call it by. */
  get withoutId(): Row[] {
    return [...this.#rows.values()].map(it => it.withoutId).filter(it => it !== undefined)
  }

  /** What is kept of it has so many bytes in the server's answers. */
  get sizeBytes(): number {
    return this.#bytes
  }

  /** How the list is known to be whole; `undefined` when it is not. */
  get proof(): string | undefined {
    if (this.#proof !== undefined || (this.#givenUp && !this.#cut)) return this.#proof
    return this.#lastSize < this.#facts.uncutBelow(this.#lastLimit) ? SHORT_PAGE : undefined
  }

  /** From now on no other list vouches for it: a cap may be its own. */
  standAlone(): void {
    if (this.#alone) return
    this.#alone = true
    this.#facts = this.#facts.apart(this.#largest)
  }

  /** More requests will not help. */
  get givenUp(): boolean {
    return this.#givenUp
  }

  /** Given up because its server has one page and no other, which may lack rows. */
  get cut(): boolean {
    return this.#cut
  }

  /**
   * Reads the list as far as it must be: pages that are as full as they were asked to be have a next one.
   * @param pages - at most so many
   * @returns the refusal, when page one was refused
   */
  async read(
    options?: RequestOptions,
    pages = Number.POSITIVE_INFINITY,
  ): Promise<Extract<PageAnswer<unknown>, {found: false}> | undefined> {
    const refusal = await this.#start(options)
    if (refusal) return refusal
    for (let read = 1; read < pages && this.proof === undefined && !this.#givenUp && this.#lastSize >= this.#lastLimit; read++) {
      await this.#step(options)
    }
    return undefined
  }

  /** Goes on until the list is proven, or given up. */
  async prove(options?: RequestOptions): Promise<void> {
    while (this.proof === undefined && !this.#givenUp) await this.#step(options)
  }

  async #start(options?: RequestOptions): Promise<Extract<PageAnswer<unknown>, {found: false}> | undefined> {
    const page = await this.#facts.page(this.#fetch, this.path, 0, options)
    if (!page.found) return page
    this.#clear()
    this.#end = 0
    this.#pages = 1
    this.#first = keysOf(page.rows)
    this.#take(page.rows, page)
    if (page.rows.length === 0) this.#proof = 'an empty page'
    return undefined
  }

  #take(rows: readonly KeyedRow<Row>[], page: Page<Row>): void {
    this.#keep(page)
    const size = page.rows.length
    this.#end += rows.length
    this.#lastSize = size
    this.#largest = Math.max(this.#largest, size)
    this.#lastLimit = page.limit
  }

  /** @throws EndlessListError when what is kept has become too large */
  #keep({rows, sizeBytes = 0}: Page<Row>): void {
    const before = this.#rows.size
    for (const row of rows) this.#rows.set(row.key, row)
    if (rows.length > 0) this.#bytes += (sizeBytes * (this.#rows.size - before)) / rows.length
    const {maxResponseBytes} = this.#facts
    for (const [bytes, times, together] of [
      [this.#bytes, ALONE, false],
      [this.#allBytes(), TOGETHER, true],
    ] as const) {
      const most = times * maxResponseBytes
      if (bytes > most) throw new EndlessListError(this.path, this.#pages, this.#rows.size, {bytes, most, together, maxResponseBytes})
    }
  }

  #clear(): void {
    this.#rows = new Map()
    this.#bytes = 0
  }

  async #step(options?: RequestOptions): Promise<void> {
    this.#assertBounded()
    this.#pages++
    // Pages of a single row cannot overlap and go on.
    const offset = this.#lastSize > 1 ? this.#end - 1 : this.#end
    const page = await this.#facts.page(this.#fetch, this.path, offset, options)
    if (!page.found && page.status !== 404) throw page.error
    const rows = page.found ? page.rows : []
    const verdict = judgePage(
      {first: this.#first, known: this.#rows, end: this.#end},
      {offset, keys: keysOf(rows), uncutBelow: this.#facts.uncutBelow(page.limit)},
    )
    switch (verdict.is) {
      case 'more':
        this.#take(
          rows.filter(it => !this.#rows.has(it.key)),
          {...page, rows},
        )
        return
      case 'whole':
        this.#proof = page.found ? verdict.proof : 'a 404 past the last row'
        return
      case 'nothing':
        return this.#endedEarly(page.found, options)
      case 'repeated':
        return this.#repeated(options)
      case 'moved':
        return this.#again(options)
    }
  }

  /** The last row is gone, or this server counts its offsets in another way: twice the same is the second. */
  async #endedEarly(found: boolean, options?: RequestOptions): Promise<void> {
    const read = JSON.stringify([...this.#rows.keys()])
    if (read === this.#nothingAfter) {
      this.#proof = found ? 'an empty page, twice' : 'a 404 past page one, twice'
      return
    }
    this.#nothingAfter = read
    await this.#again(options)
  }

  async #repeated(options?: RequestOptions): Promise<void> {
    const first = {size: this.#first.length, is: (rows: readonly KeyedRow<Row>[]) => sameKeys(keysOf(rows), this.#first)}
    switch (await this.#facts.whyRepeated(this.#fetch, this.path, first, options)) {
      case 'ignored':
        this.#proof = 'page one again'
        return
      case 'cut':
        // No request shows what a cap leaves out.
        this.#cut = true
        this.#givenUp = true
        return
      case 'accident':
        return this.#again(options)
    }
  }

  /** @throws EndlessListError */
  #assertBounded(): void {
    if (this.#rows.size > MOST_ROWS || this.#pages >= mostPages(this.#first.length))
      throw new EndlessListError(this.path, this.#pages, this.#rows.size)
  }

  async #again(options?: RequestOptions): Promise<void> {
    if (this.#restarts++ >= RESTARTS) return this.#gather(options)
    const refusal = await this.#start(options)
    if (refusal) throw refusal.error
  }

  /** The list has no order: its length is told by where its pages end, and it is whole when that many rows are known. */
  async #gather(options?: RequestOptions): Promise<void> {
    this.#givenUp = true
    let offset = 0
    for (let read = 0; read < GATHERED_PAGES; read++) {
      const page = await this.#facts.page(this.#fetch, this.path, offset, options)
      if (!page.found && (page.status !== 404 || offset === 0)) throw page.error
      const rows = page.found ? page.rows : []
      this.#keep({...page, rows})
      this.#assertBounded()
      offset += rows.length
      const ended = rows.length < Math.max(1, this.#facts.uncutBelow(page.limit))
      if (ended && offset === this.#rows.size) {
        this.#proof = 'as many rows as the list has'
        return
      }
      if (!ended) continue
      // Rows went away: what is known is no longer all there.
      if (offset < this.#rows.size) this.#clear()
      offset = 0
    }
  }
}
