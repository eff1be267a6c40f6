/**
 * Rows that may be what is declared, and leave out what would tell: what a row does not show is no proof that it is another
 * object than the one that would be made. Each is read by its id, once for a plan, before it is paired.
 */
import type {JsonObject} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import type {Backend} from '../model/backend.ts'
import {type Collection, type LiveObject, withAllParts} from '../model/live.ts'
import {mayBe} from '../model/own-parts.ts'
import {plainPart, saysWhich} from '../model/resolve.ts'
import type {ValueObject} from '../model/value.ts'
import type {Match} from './pair.ts'

export class SparseRows {
  /** As their own GETs show them; as they were where those say that they are not there. */
  readonly #whole = new Map<Backend, Map<string, LiveObject>>()
  #open: {readonly backend: Backend; readonly row: LiveObject; readonly plain: JsonObject}[] = []

  /** What was open when the levels were walked before need not be any more. */
  startOver(): void {
    this.#open = []
  }

  /** As its rows are paired: with what their own GETs have shown, if anything. */
  completed(collection: Collection): Collection {
    const asked = this.#whole.get(collection.backend)
    return asked ? {...collection, objects: collection.objects.map(it => asked.get(it.remoteId) ?? it)} : collection
  }

  /**
   * Notes the rows that may be the object of a declaration that has none, or one that is told by a part of it.
   *
   * @param isFree - whether no ledger has it, and no other declaration means it
   * @returns one of them
   */
  openFor(
    spec: ValueObject,
    match: Match | undefined,
    list: Collection | undefined,
    isFree: (it: LiveObject) => boolean,
  ): LiveObject | undefined {
    const plain = plainPart(spec)
    const isTold = match !== undefined && (match.found !== 'name' || !mayBe(plain, match.live))
    if (list?.kind.identity.keyOfParts !== true || isTold || !saysWhich(list.kind.identity, spec)) return undefined
    const rows = this.completed(list).objects.filter(it => mayBe(plain, it) && isFree(it))
    addAll(
      this.#open,
      rows.map(row => ({backend: list.backend, row, plain})),
    )
    return rows[0]
  }

  /** @returns whether anything was asked for that was not asked for before */
  async ask(): Promise<boolean> {
    const reads: Promise<unknown>[] = []
    for (const {backend, row, plain} of this.#open) {
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
