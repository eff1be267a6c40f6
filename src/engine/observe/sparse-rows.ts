/**
 * Rows that may be what is declared, and leave out what would tell: what a row does not show is no proof that it is another
 * object than the one that would be made. Each is read by its id, once for a plan, before it is paired.
 */
import type {JsonObject} from '../../base/json.ts'
import type {Backend} from '../model/backend.ts'
import {meantAmong} from '../model/by-traits.ts'
import {type Collection, type LiveObject, withAllParts} from '../model/live.ts'
import {mayBe} from '../model/own-parts.ts'
import {plainPart, saysWhich} from '../model/resolve.ts'
import type {ValueObject} from '../model/value.ts'
import {fits, type Match} from './pair.ts'

export class SparseRows {
  /** As their own GETs show them; as they were where those say that they are not there. */
  readonly #whole = new Map<Backend, Map<string, LiveObject>>()
  #open = new Map<LiveObject, {readonly backend: Backend; readonly plain: JsonObject}>()
  #lists = new Map<Collection, {readonly list: Collection; readonly among: (spec: JsonObject) => readonly LiveObject[]}>()

  /** What was open when the levels were walked before need not be any more. */
  startOver(): void {
    this.#open = new Map()
    this.#lists = new Map()
  }

  /** As its rows are paired: with what their own GETs have shown, if anything. */
  completed(collection: Collection): Collection {
    return this.#listOf(collection).list
  }

  #listOf(collection: Collection) {
    const known = this.#lists.get(collection)
    if (known !== undefined) return known
    const asked = this.#whole.get(collection.backend)
    const list = asked ? {...collection, objects: collection.objects.map(it => asked.get(it.remoteId) ?? it)} : collection
    const entry = {list, among: meantAmong(list.kind.identity, list.objects, ({fields}) => fields)}
    this.#lists.set(collection, entry)
    return entry
  }

  /**
   * Notes the rows that may be the object of a declaration that has none, or one that is told by a part of it.
   *
   * @param known - the object that it means, with what its ledger knows of it
   * @param isFree - whether no ledger has it, and no other declaration means it
   * @returns one of them
   */
  openFor(
    spec: ValueObject,
    match: Match | undefined,
    known: LiveObject | undefined,
    list: Collection | undefined,
    isFree: (it: LiveObject) => boolean,
  ): LiveObject | undefined {
    const plain = plainPart(spec)
    if (list?.kind.identity.keyOfParts !== true || !saysWhich(list.kind.identity, spec)) return undefined
    // What takes another one's place must not be made beside one that is there already.
    const isTold = match?.found === 'name' ? !mayBe(plain, match.live) : known !== undefined && fits(list.kind.identity, plain, known)
    if (isTold) return undefined
    const rows = this.#listOf(list)
      .among(plain)
      .filter(it => mayBe(plain, it) && isFree(it))
    for (const row of rows) if (!this.#open.has(row)) this.#open.set(row, {backend: list.backend, plain})
    return rows[0]
  }

  /** @returns whether anything was asked for that was not asked for before */
  async ask(): Promise<boolean> {
    const reads: Promise<unknown>[] = []
    for (const [row, {backend, plain}] of this.#open) {
      const asked = this.#whole.get(backend) ?? new Map<string, LiveObject>()
      this.#whole.set(backend, asked)
      if (asked.has(row.remoteId)) continue
      asked.set(row.remoteId, row)
      reads.push(withAllParts(backend, plain, row).then(it => asked.set(row.remoteId, it)))
    }
    await Promise.all(reads)
    return reads.length > 0
  }
}
