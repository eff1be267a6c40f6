/**
 * The rows of a list in every spelling of the wire facts ("List bodies", "Ids"): a bare array, an object with one
 * array, or rows nested below their parent (`{subscription: [{subscriptionId, databases: […]}]}`).
 */
import {idIn} from '../../base/id-in.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {arraysAbove, arraysOf, idFieldsOf, idsAbove, isOnlyShown} from './list-path.ts'

/** Arrays that may stand beside the rows and never are the rows. */
const NEVER_ROWS = ['links', 'errors', 'warnings']

/**
 * @param path - of the list, which says what the rows are
 * @returns every slot of the array, in order; `undefined` when there is no list in this body
 */
export function rowsIn(body: Json, path: string): readonly Json[] | undefined {
  if (Array.isArray(body)) return body as readonly Json[]
  if (!isJsonObject(body)) return undefined
  const names = arraysOf(path)
  const named = arrayNamed(body, names)
  if (named) return named
  const nested = nestedRows(body, names, path)
  if (nested) return nested
  const others = [...NEVER_ROWS, ...arraysAbove(path)]
  const arrays = Object.entries(body).filter(([key, value]) => Array.isArray(value) && !others.includes(key))
  return arrays.length === 1 ? (arrays[0]?.[1] as readonly Json[]) : undefined
}

/** As `rowsIn`, of a list of objects: one with anything else in it is no such list. */
export function objectsIn(body: Json, path: string): readonly JsonObject[] | undefined {
  const rows = rowsIn(body, path)
  return rows?.every(isJsonObject) ? rows : undefined
}

/** The id of a row as text; `undefined` when it has none. */
export function rowId(row: Json, path: string): string | undefined {
  if (!isJsonObject(row)) return undefined
  const id = idIn(row, ...idFieldsOf(path))
  if (id !== undefined || !isOnlyShown(path)) return id
  return typeof row.name === 'string' ? row.name : JSON.stringify(row)
}

function arrayNamed(body: JsonObject, names: readonly string[]): readonly Json[] | undefined {
  for (const name of names) {
    const value = body[name]
    if (Array.isArray(value)) return value as readonly Json[]
  }
  return undefined
}

/** Rows below their parent. Another parent's rows are not ours, should a server send them along. */
function nestedRows(body: JsonObject, names: readonly string[], path: string): readonly Json[] | undefined {
  const segments = path.split('/')
  const ids = idsAbove(path)
  let found: Json[] | undefined
  for (const value of Object.values(body)) {
    const parents = Array.isArray(value) ? (value as readonly Json[]) : [value]
    for (const parent of parents) {
      if (!isJsonObject(parent)) continue
      const rows = arrayNamed(parent, names)
      const id = idIn(parent, ...ids)
      if (rows && (id === undefined || segments.includes(id))) found = [...(found ?? []), ...rows]
    }
  }
  return found
}
