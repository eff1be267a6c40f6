/** The type Terraform notes beside an output's value: `"string"`, `["object", {"port": "number"}]`, … */
import {parseAnyJson} from '../base/bounded-json.ts'
import {canonicalJson, type Json} from '../base/json.ts'

/** Lists are tuples and objects are objects: exact, where a list or map type would have to unify. */
export function ctyTypeOf(value: Json): Json {
  if (value === null) return 'dynamic'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string' || typeof value === 'number') return typeof value
  if (Array.isArray(value)) return ['tuple', (value as readonly Json[]).map(ctyTypeOf)]
  const fields = Object.entries(value).map(([name, item]): [string, Json] => [name, ctyTypeOf(item)])
  return ['object', parseAnyJson(canonicalJson(Object.fromEntries(fields))) as Json]
}
