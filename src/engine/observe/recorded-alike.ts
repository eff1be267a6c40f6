/**
 * Objects that a declaration may mean although no list shows them yet: what any ledger has under its address, or like it in
 * the same place. Lists lag behind, and another stack may have made it a moment ago.
 */
import type {JsonObject} from '../../base/json.ts'
import {meantAmong} from '../model/by-traits.ts'
import type {Declaration} from '../model/declaration.ts'
import {type Identity, type Ids, type Kind, kindCalled, parentRemoteId, remoteIdOf} from '../model/kind.ts'
import type {Ledger, LedgerEntry} from '../model/ledger.ts'
import type {OwnershipInput} from '../model/ownership.ts'
import {plainPart} from '../model/resolve.ts'
import type {ValueObject} from '../model/value.ts'

type RecordedAlikeInput = Pick<OwnershipInput, 'ledgers' | 'otherLedgers' | 'accountOf' | 'kinds'>

export class RecordedAlike {
  readonly #input: RecordedAlikeInput
  readonly #ledgers: readonly Ledger[]
  /** By account, kind, parent and name; together where more than a name identifies them. */
  #byPlace: ReadonlyMap<string, (spec: JsonObject) => readonly LedgerEntry[]> | undefined

  constructor(input: RecordedAlikeInput) {
    this.#input = input
    this.#ledgers = [...(input.otherLedgers ?? []), ...input.ledgers.values()]
  }

  /** @param parent - absent: nobody knows where it is, and so not whether something is there */
  of({stack, address, kind: name}: Declaration, spec: ValueObject, parent: Ids | undefined): readonly LedgerEntry[] {
    const kind = kindCalled(this.#input.kinds, name)
    const own = this.#ledgers.flatMap(it => (it.stack === stack ? (it.entries.get(address) ?? []) : [])).filter(it => it.kind === name)
    if (parent === undefined) return own
    this.#byPlace ??= this.#index()
    const plain = plainPart(spec)
    const {key, matches} = kind.identity
    const above = kind.parent && kindCalled(this.#input.kinds, kind.parent.kind)
    const place = this.#placeOf(stack, kind, above && remoteIdOf(above, parent), matches ? '' : key(plain))
    const alike = (place === undefined ? undefined : this.#byPlace.get(place)?.(plain)) ?? []
    return [...own, ...alike.filter(it => matches?.(plain, it.applied) ?? true)]
  }

  #index(): ReadonlyMap<string, (spec: JsonObject) => readonly LedgerEntry[]> {
    const found = new Map<string, {readonly identity: Identity; readonly entries: LedgerEntry[]}>()
    for (const {stack, entries} of this.#ledgers) {
      for (const it of entries.values()) {
        const kind = this.#input.kinds.get(it.kind)
        if (kind === undefined) continue
        const {identity} = kind
        const name = identity.matches ? '' : identity.key(it.applied)
        const place = this.#placeOf(stack, kind, parentRemoteId(this.#input, it.remoteId), name)
        if (place === undefined) continue
        const alike = found.get(place) ?? {identity, entries: []}
        found.set(place, alike)
        alike.entries.push(it)
      }
    }
    return new Map([...found].map(([place, {identity, entries}]) => [place, meantAmong(identity, entries, ({applied}) => applied)]))
  }

  #placeOf(stack: string, {api, name: kind}: Kind, parent: string | undefined, name: string | undefined): string | undefined {
    return name === undefined ? undefined : JSON.stringify([this.#input.accountOf?.(stack, api) ?? '', kind, parent ?? '', name])
  }
}
