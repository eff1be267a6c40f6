/**
 * The rows of a list in every spelling of the wire facts ("List bodies", "Ids"): a bare array, an object with one
 * array, or rows nested below their parent (`{subscription: [{subscriptionId, databases: […]}]}`).
 */
import {isDotSegment} from '../base/dot-segment.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'

/** Names the array may have, by the last segment of the list's path; its own name in camel case is always one. */
const ARRAY_NAMES: Readonly<Record<string, readonly string[]>> = {
  subscriptions: ['subscription'],
  rules: ['redisRules', 'aclRules'],
  users: ['redisUsers', 'aclUsers'],
  peerings: ['vpcPeerings'],
  logs: ['logs', 'events'],
}

/** Arrays that may stand beside the rows and never are the rows. */
const NEVER_ROWS = new Set(['links', 'subscription', 'subscriptions', 'errors', 'warnings'])

/** Field names of an id by the last segment of the list's path, the most specific first; `id` is always one. */
const ID_NAMES: Readonly<Record<string, readonly string[]>> = {
  subscriptions: ['subscriptionId'],
  databases: ['databaseId'],
  peerings: ['vpcPeeringId', 'peeringId'],
  rules: ['ruleId', 'aclRuleId'],
  users: ['userId', 'aclUserId', 'uid'],
  tasks: ['taskId'],
  'payment-methods': ['paymentMethodId'],
  regions: ['regionId'],
  bdbs: ['uid'],
  nodes: ['uid'],
  roles: ['uid'],
  modules: ['uid'],
}

/** Lists nobody manages: a row without an id is shown all the same, and known by its name or its content. */
const READ_ONLY = new Set(['regions', 'payment-methods', 'roles', 'logs'])

/** `databases` of `/subscriptions/12/databases`. */
export const collectionOf = (path: string): string => path.split('?')[0]?.split('/').filter(Boolean).at(-1) ?? ''

/**
 * @param path - of the list; its last segment says what the rows are
 * @returns every slot of the array, in order; `undefined` when there is no list in this body
 */
export function rowsIn(body: Json, path: string): readonly Json[] | undefined {
  if (Array.isArray(body)) return body as readonly Json[]
  if (!isJsonObject(body)) return undefined
  const collection = collectionOf(path)
  const names = [camel(collection), ...(ARRAY_NAMES[collection] ?? [])]
  const named = arrayNamed(body, names)
  if (named) return named
  const nested = nestedRows(body, names, path)
  if (nested) return nested
  const arrays = Object.entries(body).filter(([key, value]) => Array.isArray(value) && !NEVER_ROWS.has(key))
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
  const collection = collectionOf(path)
  const id = idAmong(row, [...(ID_NAMES[collection] ?? []), 'id'])
  if (id !== undefined || !READ_ONLY.has(collection)) return id
  return typeof row.name === 'string' ? row.name : JSON.stringify(row)
}

/** The first of these fields that holds an id: a whole number, or text that is not empty and no `..`. */
export function idAmong(row: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = row[name]
    if (typeof value === 'string' && value.trim() !== '' && !isDotSegment(value.trim())) return value.trim()
    if (typeof value === 'number' && Number.isInteger(value)) return String(value)
  }
  return undefined
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
  let found: Json[] | undefined
  for (const value of Object.values(body)) {
    const parents = Array.isArray(value) ? (value as readonly Json[]) : [value]
    for (const parent of parents) {
      if (!isJsonObject(parent)) continue
      const rows = arrayNamed(parent, names)
      const id = idAmong(parent, ['subscriptionId', 'databaseId'])
      if (rows && (id === undefined || segments.includes(id))) found = [...(found ?? []), ...rows]
    }
  }
  return found
}

const camel = (text: string): string => text.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
