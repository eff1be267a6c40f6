/** The reads of the cluster API (contract section 4 and wire facts), one function a row, and the two actions outside kinds. */
import {idIn} from '../../base/id-in.ts'
import {canonicalJson, type Json, type JsonObject} from '../../base/json.ts'
import type {RequestOptions, WriteOutcome} from '../../engine/model/backend.ts'
import type {ApiAnswer} from '../../transport/api-client.ts'
import type {Account} from '../api/account.ts'
import {saidIn} from '../api/error-body.ts'
import {wholeList} from '../api/whole-list.ts'
import type {ClusterBackend} from './backend.ts'

type Rows = Promise<readonly JsonObject[]>
type Id = string | number
type Found = Promise<JsonObject | undefined>

const read = (cluster: ClusterBackend, path: string, options?: RequestOptions): Found => cluster.reader.read({method: 'GET', path}, options)
const one = (collection: string, uid: Id): string => `/v1/${collection}/${encodeURIComponent(uid)}`

export const readCluster = (cluster: ClusterBackend, options?: RequestOptions): Found => read(cluster, '/v1/cluster', options)
export const readPolicy = (cluster: ClusterBackend, options?: RequestOptions): Found => read(cluster, '/v1/cluster/policy', options)

/** The cluster has no account: its name tells one from another. */
export async function readClusterAccount(cluster: ClusterBackend, options?: RequestOptions): Promise<Account> {
  const body = (await readCluster(cluster, options)) ?? {}
  const name = idIn(body, 'name')
  return {key: name ?? canonicalJson(body), ...(name === undefined ? {} : {name}), body}
}

export const listBdbs = (cluster: ClusterBackend, options?: RequestOptions): Rows => wholeList(cluster.reader, '/v1/bdbs', options)
export const listNodes = (cluster: ClusterBackend, options?: RequestOptions): Rows => wholeList(cluster.reader, '/v1/nodes', options)
export const listModules = (cluster: ClusterBackend, options?: RequestOptions): Rows => wholeList(cluster.reader, '/v1/modules', options)

export const readBdb = (cluster: ClusterBackend, uid: Id, options?: RequestOptions): Found => read(cluster, one('bdbs', uid), options)
export const readNode = (cluster: ClusterBackend, uid: Id, options?: RequestOptions): Found => read(cluster, one('nodes', uid), options)
export const readModule = (cluster: ClusterBackend, id: Id, options?: RequestOptions): Found => read(cluster, one('modules', id), options)

export const checkNode = (cluster: ClusterBackend, uid: Id, options?: RequestOptions): Promise<WriteOutcome> =>
  cluster.write({method: 'POST', path: `${one('nodes', uid)}/actions/check`}, options)

export const deleteModule = (cluster: ClusterBackend, id: Id, options?: RequestOptions): Promise<WriteOutcome> =>
  cluster.write({method: 'DELETE', path: one('modules', id)}, options)

/** The latest statistics, in the server's own shape (not shown by the contract). */
export const readStatistics = (
  cluster: ClusterBackend,
  of: 'cluster' | 'bdbs' | 'nodes' | 'shards',
  options?: RequestOptions,
): Promise<Json | undefined> => {
  const path = `/v1/${of}/stats/last`
  // One record, or things by their uid, of which there may be none.
  return of === 'cluster' ? read(cluster, path, options).then(record => record ?? cluster.get(path, options)) : cluster.get(path, options)
}

export interface LogsWanted {
  readonly limit?: number
  /** ISO 8601, UTC. */
  readonly stime?: string
  readonly etime?: string
}

/** Log entries as the server orders them. One request: a log grows while it is read and is not paged. */
export async function readLogs(cluster: ClusterBackend, wanted: LogsWanted = {}, options?: RequestOptions): Rows {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(wanted)) if (value !== undefined) query.set(key, String(value))
  return cluster.rows(query.size === 0 ? '/v1/logs' : `/v1/logs?${query}`, options)
}

/** Endpoint statistics in either shape of the wire facts, null for an empty answer; `undefined` on a server line that has no such path. */
export async function readEndpointStats(cluster: ClusterBackend, options?: RequestOptions): Promise<Json | undefined> {
  const {status, body} = await cluster.answer('/v1/endpoints/stats', [404], options)
  return status === 404 ? undefined : (body ?? null)
}

export type Availability =
  | {readonly is: 'available'; readonly body?: Json}
  | {readonly is: 'unavailable'; readonly code?: string; readonly message: string}
  /** Neither path is there, for this database or on this server line; one read of the database tells which. */
  | {readonly is: 'not found'}

/** 200, also with an empty body, is available; 503 is the answer "not available" and no failure of the server. */
export async function readAvailability(cluster: ClusterBackend, uid: Id, options?: RequestOptions): Promise<Availability> {
  for (const path of [`${one('bdbs', uid)}/availability`, `/v1/local/bdbs/${encodeURIComponent(uid)}/endpoint/availability`]) {
    const answer = await cluster.answer(path, [404, 503], options)
    if (answer.status === 404) continue
    return answer.status === 503 ? unavailable(answer) : {is: 'available', ...(answer.body === undefined ? {} : {body: answer.body})}
  }
  return {is: 'not found'}
}

function unavailable({text}: Pick<ApiAnswer, 'text'>): Availability {
  const {code, message} = saidIn(text)
  return {is: 'unavailable', message, ...(code === undefined ? {} : {code})}
}
