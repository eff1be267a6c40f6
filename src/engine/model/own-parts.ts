/**
 * What is known by its parts alone (a peering has no name), in rows that leave some of them out (wire facts, "List items"):
 * what a row does not show is no proof that it is another object.
 */
import type {JsonObject} from '../../base/json.ts'
import type {Backend, ReadOptions} from './backend.ts'
import {type LiveObject, readObject, withOwnRow} from './live.ts'

/** Whether it may be what is declared, and leaves out what would tell. */
export function mayBe(declared: JsonObject, {kind: {identity}, fields}: Pick<LiveObject, 'kind' | 'fields'>): boolean {
  if (identity.keyOfParts !== true || !Object.keys(declared).some(it => fields[it] === undefined)) return false
  return identity.matches?.(declared, {...declared, ...fields}) === true
}

/** As its list shows it, with what a ledger has of it: nothing of what is known by its parts ever changes. */
export const withRecordedParts = <T extends Pick<LiveObject, 'kind' | 'fields'>>(live: T, applied: JsonObject | undefined): T =>
  live.kind.identity.keyOfParts === true && applied !== undefined ? {...live, fields: {...applied, ...live.fields}} : live

/** With what its own GET shows; `undefined` where that says that there is none. */
export async function withOwnParts(backend: Backend, live: LiveObject, options?: ReadOptions): Promise<LiveObject | undefined> {
  const row = await readObject(backend, live.kind, live.ids, options)
  return row && {...live, fields: withOwnRow(live, row)}
}
