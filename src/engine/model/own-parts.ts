/**
 * What is known by its parts alone (a peering has no name), in rows that leave some of them out (wire facts, "List items"):
 * what a row does not show is no proof that it is another object.
 */
import type {JsonObject} from '../../base/json.ts'
import type {LiveObject} from './live.ts'

/** Whether it may be what is declared, and leaves out what would tell. */
export function mayBe(declared: JsonObject, {kind: {identity}, fields}: Pick<LiveObject, 'kind' | 'fields'>): boolean {
  if (identity.keyOfParts !== true || !Object.keys(declared).some(it => fields[it] === undefined)) return false
  return identity.matches?.(declared, {...declared, ...fields}) === true
}

/** As its list shows it, and else as it is said to be: by a ledger, since nothing of what is known by its parts ever changes, or by who looks for it. */
export const withSaidParts = <T extends Pick<LiveObject, 'kind' | 'fields'>>(live: T, said: JsonObject | undefined): T =>
  live.kind.identity.keyOfParts === true && said !== undefined ? {...live, fields: {...said, ...live.fields}} : live
