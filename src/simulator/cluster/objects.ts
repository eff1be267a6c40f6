/** What all collections of the cluster share: numeric uids, lists with the common query parameters, 404s. */
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import type {ClusterCollectionName} from '../base/collections.ts'
import {type ListRules, onePage} from '../base/list-query.ts'
import {find, listed} from '../base/store.ts'
import type {Entries, Entry, Fields} from '../base/world.ts'

export type Show = (exchange: Exchange, id: string, entry: Entry, fields: Fields) => Fields

export const objectPath = (collection: ClusterCollectionName, id: string): string => `cluster/${collection}/${id}`

/** `user` of `users`. */
export const nounOf = (collection: ClusterCollectionName): string => collection.replace(/s$/, '')

export function theObject({world}: Exchange, collection: ClusterCollectionName, id: string): Entry {
  const found = find(world, objectPath(collection, id))
  if (!found) throw new Refusal(404, `${nounOf(collection)}_not_exist`, `There is no ${nounOf(collection)} ${id}.`)
  return found
}

export const uidOf = (id: string): number | string => (/^\d+$/.test(id) ? Number(id) : id)

export const withUid: Show = (_, id, __, fields) => ({uid: uidOf(id), ...fields})

export function listObjects(exchange: Exchange, entries: Entries, show: Show): Answer {
  const {cluster} = exchange.config
  const rows = listed(entries, exchange.now, cluster.listLagMs)
  return {status: 200, json: onePage(exchange, rows, ({id, entry, fields}) => show(exchange, id, entry, fields), rulesOf(exchange))}
}

const rulesOf = ({config: {cluster}}: Exchange): ListRules => ({
  paging: cluster.paging,
  shuffled: cluster.shuffled,
  badRequest: 'bad_request',
})

export const pageOf = (exchange: Exchange, rows: readonly Fields[]): Fields[] => onePage(exchange, rows, row => row, rulesOf(exchange))

/** The answer of a write, empty where this deployment answers nothing. */
export const written = (exchange: Exchange, json: Fields): Answer =>
  exchange.config.cluster.emptyBodies ? {status: 200} : {status: 200, json}

/** @throws Refusal 400 when another object has the name already */
export function refuseUsedName(entries: Entries, name: unknown, except?: string): void {
  const taken = Object.entries(entries).some(([id, it]) => id !== except && it.gone === undefined && it.fields.name === name)
  if (taken) throw new Refusal(400, 'name_already_exists', `The name ${String(name)} is taken.`)
}

export function requireGiven(fields: Fields, field: string): void {
  if (fields[field] === undefined || fields[field] === null || fields[field] === '') {
    throw new Refusal(400, 'missing_field', `${field} is required.`, {field, constraint: 'required'})
  }
}

/** Takes write-only fields out of a body. */
export function splitSecrets(body: Fields, names: readonly string[]): {fields: Fields; secrets: Fields} {
  const fields: Fields = {}
  const secrets: Fields = {}
  for (const [key, value] of Object.entries(body)) (names.includes(key) ? secrets : fields)[key] = value
  return {fields, secrets}
}
