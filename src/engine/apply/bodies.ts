/** What is sent: the body of a create, and the partial body of an update (wire facts, "Update bodies" and "Nested objects in PUT"). */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import {type EffectiveRule, rootRule} from '../model/field-rules.ts'
import type {Kind} from '../model/kind.ts'
import {withLeft} from '../model/left-alone.ts'
import type {Change} from '../model/plan.ts'

/** Every declared field, secrets in clear; what is created only together with the object is in it too. */
export const createBodyOf = (declared: JsonObject): JsonObject => ({...declared})

/**
 * The changed fields alone. A list goes out as it is declared. An object goes out whole, declared over live, because
 * the API replaces it whole; where the schema names all its fields, what else the server shows in it stays out.
 *
 * @param declared - resolved, secrets in clear
 * @param live - normalized
 * @param left - pointers of what stays as it is live
 */
export function patchOf({
  kind,
  changes,
  declared,
  live,
  left = [],
}: {
  readonly kind: Kind
  readonly changes: readonly Pick<Change, 'path'>[]
  readonly declared: JsonObject
  readonly live: JsonObject
  readonly left?: readonly string[]
}): JsonObject {
  const patch: Record<string, Json> = {}
  for (const {path} of changes) {
    const field = parsePointer(path)[0]
    if (field === undefined || !Object.hasOwn(declared, field)) continue
    const rule = rootRule(kind).below(field)
    const value = withLeft(rule, declared[field] ?? null, live[field], left, [field]) ?? null
    patch[field] = rule.whole === false ? value : over(rule, value, live[field])
  }
  return patch
}

function over(rule: EffectiveRule, declared: Json, live: Json | undefined): Json {
  if (!isJsonObject(declared) || !isJsonObject(live)) return declared
  const kept = Object.entries(live).filter(([field]) => !rule.strict || rule.below(field).known)
  const laid = Object.entries(declared).map(([field, value]) => [field, over(rule.below(field), value, live[field])] as const)
  return {...Object.fromEntries(kept), ...Object.fromEntries(laid)}
}
