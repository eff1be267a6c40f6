/**
 * Reads collections and objects of one API for a run: each list once, shared by whoever asks, kept until it is
 * forgotten, and proven whole with as few requests as possible (design section 10, "Paging").
 *
 * One request tells the rows of most lists. What remains open is whether a cap cut them; a cap is the same for all
 * lists of one API, so only the longest needs a look behind its end, and each list of equal length its own.
 */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import type {Listing, ProveOptions, Reader, ReadOptions, RequestOptions} from '../../engine/model/backend.ts'
import type {ApiRequest} from '../../engine/model/kind.ts'
import {type ListParent, listParentOf} from './list-path.ts'
import {rowId} from './list-rows.ts'
import {type KeyedRow, ListWalk} from './list-walk.ts'
import {type FetchPage, type PageAnswer, PagingFacts} from './paging-facts.ts'
import type {Warn} from './warning.ts'

/** What the reader needs of an API. */
export interface ListSource {
  /** The slots of one page, in order. Throws for whatever is neither a list nor a 400 or 404. */
  readonly page: FetchPage<Json>
  /** One object; `undefined` for a 404. */
  readonly object: (path: string, options?: RequestOptions) => Promise<JsonObject | undefined>
  readonly warn: Warn
  /** Of one answer; it bounds what lists may have. */
  readonly maxResponseBytes?: number | undefined
}

type Found = ListWalk<JsonObject> | (Pick<ListWalk<JsonObject>, 'rows' | 'withoutId'> & {readonly proof: string; readonly givenUp: true})

interface Entry {
  readonly walk: ListWalk<JsonObject>
  readonly reading: Promise<Found | undefined>
  /** What `reading` came to. */
  found?: Found
}

export class PagedReader implements Reader {
  readonly facts: PagingFacts
  readonly #source: ListSource
  readonly #lists = new Map<string, Entry>()
  readonly #objects = new Map<string, Promise<JsonObject | undefined>>()

  constructor(source: ListSource) {
    this.#source = source
    this.facts = new PagingFacts({maxResponseBytes: source.maxResponseBytes})
  }

  async list(request: ApiRequest, options?: RequestOptions): Promise<Listing | undefined> {
    const found = await this.#entry(request.path, options).reading
    if (found === undefined) return undefined
    const {rows, withoutId, proof} = found
    return {rows, withoutId, ...(proof === undefined ? {proven: false} : {proven: true, proof})}
  }

  async prove({path, alone = false, ...options}: ProveOptions = {}): Promise<void> {
    const meant = () => (path === undefined ? [...this.#lists.values()] : [this.#lists.get(path)].filter(it => it !== undefined))
    for (;;) {
      await Promise.allSettled(meant().map(it => it.reading))
      if (alone) for (const {found} of meant()) if (found instanceof ListWalk) found.standAlone()
      // Whatever is still open is as long as the longest page: no other list can vouch for it.
      const open = meant()
        .map(it => it.found)
        .filter(it => it instanceof ListWalk && it.proof === undefined && !it.givenUp)
      if (open.length === 0) return
      await Promise.all(open.map(it => (it instanceof ListWalk ? this.#proveOne(it, options) : undefined)))
    }
  }

  read({path}: ApiRequest, {kept = false, ...options}: ReadOptions = {}): Promise<JsonObject | undefined> {
    const known = kept ? this.#objects.get(path) : undefined
    if (known !== undefined) return known
    const reading = this.#source.object(path, options)
    if (!kept) return reading
    this.#objects.set(path, reading)
    reading.catch(() => {
      if (this.#objects.get(path) === reading) this.#objects.delete(path)
    })
    return reading
  }

  forget(path: string): void {
    const prefix = path.replace(/\/+$/, '')
    const isBelow = (known: string) =>
      known === path || known === prefix || known.startsWith(`${prefix}/`) || known.startsWith(`${prefix}?`)
    for (const kept of [this.#lists, this.#objects]) for (const known of kept.keys()) if (isBelow(known)) kept.delete(known)
  }

  #entry(path: string, options?: RequestOptions): Entry {
    const known = this.#lists.get(path)
    if (known) return known
    const walk = new ListWalk<JsonObject>(path, this.#keyed(path), this.facts, () => this.#sizeBytes)
    const entry: Entry = {walk, reading: this.#read(walk, options)}
    this.#lists.set(path, entry)
    entry.reading.then(
      found => {
        if (found) entry.found = found
      },
      () => {
        // A failure is not remembered: whoever asks again, asks the API again.
        if (this.#lists.get(path) === entry) this.#lists.delete(path)
      },
    )
    return entry
  }

  /** Of all lists that are kept or read. */
  get #sizeBytes(): number {
    let bytes = 0
    for (const {walk} of this.#lists.values()) bytes += walk.sizeBytes
    return bytes
  }

  async #read(walk: ListWalk<JsonObject>, options?: RequestOptions): Promise<Found | undefined> {
    const refusal = await walk.read(options)
    if (refusal === undefined) return walk
    if (refusal.status !== 404) throw refusal.error
    return this.#emptyOrGone(walk.path, refusal, options)
  }

  /** A 404 for a whole list: its parent tells an empty list from one that is gone (wire facts, "End of a list"). */
  async #emptyOrGone(
    path: string,
    refusal: Extract<PageAnswer<unknown>, {found: false}>,
    options?: RequestOptions,
  ): Promise<Found | undefined> {
    const parent = listParentOf(path)
    if (parent === undefined) throw refusal.error
    const exists = this.#isListed(parent) || (await this.#source.object(parent.path, options)) !== undefined
    return exists ? {rows: [], withoutId: [], proof: 'its parent exists and has none (404)', givenUp: true} : undefined
  }

  /** Whether the parent stands in a list of this run. One that does not may be newer than what the list shows. */
  #isListed({collection, id}: ListParent): boolean {
    return this.#lists.get(collection)?.found?.rows.some(row => rowId(row, collection) === id) ?? false
  }

  async #proveOne(walk: ListWalk<JsonObject>, options?: RequestOptions): Promise<void> {
    await walk.prove(options)
    if (walk.proof !== undefined) return
    const why = walk.cut ? 'has one page only, which may be cut' : 'changed each time it was read'
    this.#source.warn({
      code: walk.cut ? 'W_LIST_CUT' : 'W_LIST_UNSTABLE',
      message: `The list ${walk.path} ${why}: what is missing in it may exist all the same.`,
    })
  }

  #keyed(path: string): FetchPage<KeyedRow<JsonObject>> {
    let warned = false
    return async (page, options) => {
      const answer = await this.#source.page(page, options)
      if (!answer.found) return answer
      const rows = answer.rows.map(row => keyedRow(row, path))
      if (!warned && rows.some(it => it.row === undefined)) {
        warned = true
        this.#source.warn({code: 'W_ROW_WITHOUT_ID', message: `A row of ${path} has no id and is left out.`})
      }
      return {...answer, rows}
    }
  }
}

function keyedRow(row: Json, path: string): KeyedRow<JsonObject> {
  const id = rowId(row, path)
  if (id !== undefined) return {key: id, row: row as JsonObject}
  return {key: `?${JSON.stringify(row)}`, row: undefined, ...(isJsonObject(row) ? {withoutId: row} : {})}
}
