/** What an object's create made along with it, as the ledger has it: named in the list that it was declared with. */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {type Kinds, parentRemoteId} from './kind.ts'
import type {LedgerEntry} from './ledger.ts'

/** The items of a field that made them, by name. */
export function inlineItems({applied}: Pick<LedgerEntry, 'applied'>, field: string): ReadonlyMap<string, JsonObject> {
  return new Map(itemsIn(applied[field]).flatMap(it => (isJsonObject(it) && typeof it.name === 'string' ? [[it.name, it] as const] : [])))
}

/** Where it stands that an object of this kind was made along with what it is in. */
export function inlinePlace(
  kinds: Kinds,
  {kind, remoteId}: {readonly kind: string; readonly remoteId: string},
): {readonly parent: string; readonly field: string} | undefined {
  const inline = kinds.get(kinds.get(kind)?.parent?.kind ?? '')?.inlineChildren
  const parent = inline?.kind === kind ? parentRemoteId({kinds}, remoteId) : undefined
  return inline === undefined || parent === undefined ? undefined : {parent, field: inline.field}
}

/**
 * The same entry where what has this name counts as made along with it no longer: it was let go of, or deleted, and whatever
 * has the name from now on is somebody else's. Each item keeps its place: secrets in the list are known by it.
 */
export function withoutInline(entry: LedgerEntry, field: string, name: string): LedgerEntry {
  if (!inlineItems(entry, field).has(name)) return entry
  const items = itemsIn(entry.applied[field]).map(it => {
    if (!isJsonObject(it) || it.name !== name) return it
    const {name: _, ...rest} = it
    return rest
  })
  return {...entry, applied: {...entry.applied, [field]: items}}
}

const itemsIn = (items: Json | undefined): readonly Json[] => (Array.isArray(items) ? (items as readonly Json[]) : [])
