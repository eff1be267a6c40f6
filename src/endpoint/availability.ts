/** Whether a database can be reached, as the contract's record: the server's word, joined with what the database says of itself. */

import type {Availability} from '../backends/cluster/cluster-api.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {shellWord} from '../base/shell-word.ts'
import {wordOf} from '../base/word-of.ts'

export interface EndpointAvailability {
  readonly bdb_uid: number | string
  readonly available: boolean
  readonly endpoints: readonly AvailableEndpoint[]
  readonly shards_placement: Json
  readonly last_failover: Json
  /** Why not, where the server says: `no_quorum`, `bdb_endpoint_unavailable`, … */
  readonly reason?: string
  readonly message?: string
}

export interface AvailableEndpoint {
  readonly addr: string
  /** `null` where neither the endpoint nor the list of nodes tells. */
  readonly node: Json
  readonly role: string
  readonly status: string
}

export class NoSuchDatabaseError extends AppError {
  constructor(uid: string) {
    super(`there is no database ${uid} on this cluster`, {
      code: 'E_NO_SUCH_BDB',
      exit: EXIT.notFound,
      suggestions: ["See which there are: svcctl api enterprise get /v1/bdbs --query '[].{uid: uid, name: name}'"],
    })
  }
}

/** The database is there, and the server line has neither path (wire facts). */
export class AvailabilityUnsupportedError extends AppError {
  constructor(uid: string) {
    super(`this server cannot say whether database ${uid} is available: it has no such path`, {
      code: 'E_AVAILABILITY_UNSUPPORTED',
      suggestions: [`Look at its status instead: svcctl api enterprise get ${shellWord(`/v1/bdbs/${uid}`)} --query status`],
    })
  }
}

/** @param nodes - to tell an address's node; may be empty */
export function availabilityRecord(
  uid: string,
  said: Exclude<Availability, {is: 'not found'}>,
  bdb: JsonObject,
  nodes: readonly JsonObject[],
): EndpointAvailability {
  const body = said.is === 'available' && isJsonObject(said.body) ? said.body : {}
  // A server may answer 200 with a record that says no.
  const available = said.is === 'available' && body.available !== false
  const reason = said.is === 'unavailable' ? said.code : textOf(body.error_code)
  const message = said.is === 'unavailable' && said.message !== said.code ? said.message : undefined
  return {
    bdb_uid: numeric(bdb.uid ?? uid),
    available,
    endpoints: rowsOf(body.endpoints ?? bdb.endpoints).flatMap(it => endpointsOf(it, available, nodes)),
    shards_placement: body.shards_placement ?? bdb.shards_placement ?? null,
    last_failover: body.last_failover ?? bdb.last_failover ?? null,
    ...(reason === undefined ? {} : {reason}),
    ...(message === undefined || message === '' ? {} : {message}),
  }
}

/** Whether the list of nodes has to be read for the record. */
export const needsNodes = (said: Availability, bdb: JsonObject): boolean =>
  rowsOf((said.is === 'available' && isJsonObject(said.body) ? said.body.endpoints : undefined) ?? bdb.endpoints).some(
    it => it.node === undefined,
  )

/**
 * One record an address. Where the server names no role it is `master`: clients reach the master shard through any
 * endpoint (assumption, the contract shows this value alone).
 */
function endpointsOf(endpoint: JsonObject, available: boolean, nodes: readonly JsonObject[]): AvailableEndpoint[] {
  const addresses = Array.isArray(endpoint.addr) ? (endpoint.addr as readonly Json[]) : [endpoint.addr ?? endpoint.dns_name ?? '']
  return addresses.map(addr => ({
    addr: wordOf(addr),
    node: endpoint.node ?? nodeAt(wordOf(addr), nodes) ?? null,
    role: textOf(endpoint.role) ?? 'master',
    status: textOf(endpoint.status) ?? (available ? 'active' : 'inactive'),
  }))
}

const nodeAt = (addr: string, nodes: readonly JsonObject[]): Json | undefined => {
  const host = addr.replace(/:\d+$/, '')
  const external = (node: JsonObject) => (Array.isArray(node.external_addr) ? (node.external_addr as readonly Json[]) : [])
  const found = nodes.find(node => node.addr === host || external(node).includes(host))
  return found?.uid === undefined ? undefined : numeric(found.uid)
}

const rowsOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [])
const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const numeric = (uid: Json): number | string => (typeof uid === 'number' ? uid : /^\d{1,15}$/.test(wordOf(uid)) ? Number(uid) : wordOf(uid))
