/**
 * Statistics of database endpoints as the contract's records, from either shape of the wire facts: the records
 * themselves, or intervals per proxy, already per second, that are added up per endpoint.
 */
import {rowsIn} from '../backends/api/list-rows.ts'
import {AppError} from '../base/errors.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {wordOf} from '../base/word-of.ts'

/** One per database endpoint (contract section 2). */
export interface EndpointStats {
  /** `host:port`; the endpoint's uid where the database does not tell. */
  readonly endpoint_name: string
  readonly bdb_uid: number | string | null
  readonly current_connections: number
  readonly total_connections: number
  readonly failed_connections: number
  readonly requests_per_sec: number
  readonly responses_per_sec: number
  readonly avg_latency_ms: number
  readonly bandwidth_in_mbps: number
  readonly bandwidth_out_mbps: number
  readonly errors_per_sec: number
}

/** The server line has no such path. */
export class NoEndpointStatsError extends AppError {
  constructor() {
    super('this server line has no statistics of endpoints (GET /v1/endpoints/stats: 404)', {
      code: 'E_ENDPOINT_STATS_UNSUPPORTED',
      suggestions: ['Look at the statistics of databases instead: svcctl enterprise cluster stats --of databases'],
    })
  }
}

/** The answer is neither of the two shapes. */
export class EndpointStatsShapeError extends AppError {
  constructor() {
    super('GET /v1/endpoints/stats: the answer is no list of endpoints', {
      code: 'E_ENDPOINT_STATS_SHAPE',
      suggestions: ['See it as it is: svcctl api enterprise get /v1/endpoints/stats'],
    })
  }
}

/** @throws EndpointStatsShapeError */
export function statsRows(answer: Json): readonly JsonObject[] {
  const rows = rowsIn(answer, '/v1/endpoints') ?? keyedRows(answer)
  if (rows === undefined || !rows.every(isJsonObject)) throw new EndpointStatsShapeError()
  return rows
}

/** `{"1:1:1": {…}}`: the uid stands before each record. */
function keyedRows(answer: Json): readonly Json[] | undefined {
  if (!isJsonObject(answer)) return undefined
  return Object.entries(answer).map(([uid, row]) => (isJsonObject(row) ? {uid, ...row} : row))
}

/** Whether names must be looked up in the databases. */
export const needsNames = (rows: readonly JsonObject[]): boolean => rows.some(row => typeof row.endpoint_name !== 'string')

/** @param bdbs - databases with their `endpoints`, as far as they are needed for names */
export function endpointStatsOf(rows: readonly JsonObject[], bdbs: readonly JsonObject[]): readonly EndpointStats[] {
  const endpoints = new Map<string, Interval[]>()
  const records: (EndpointStats | string)[] = []
  for (const row of rows) {
    if (!Array.isArray(row.intervals)) {
      records.push(recordOf(row, bdbs))
      continue
    }
    const uid = endpointUid(wordOf(row.uid ?? ''))
    const latest = latestOf((row.intervals as readonly Json[]).filter(isJsonObject))
    const known = endpoints.get(uid)
    if (known === undefined) records.push(uid)
    endpoints.set(uid, [...(known ?? []), ...(latest === undefined ? [] : [latest])])
  }
  return records.map(it => (typeof it === 'string' ? summed(it, endpoints.get(it) ?? [], bdbs) : it))
}

type Interval = JsonObject

/** `<bdb>:<endpoint>` of `<bdb>:<endpoint>:<proxy>`. */
const endpointUid = (uid: string): string => uid.split(':').slice(0, 2).join(':')

/** The one that ended last; without times, the last in the list. */
function latestOf(intervals: readonly Interval[]): Interval | undefined {
  const ended = (it: Interval) => Date.parse(wordOf(it.etime ?? it.stime ?? ''))
  return intervals.reduce<Interval | undefined>(
    (latest, it) => (latest !== undefined && ended(it) < ended(latest) ? latest : it),
    undefined,
  )
}

function recordOf(row: JsonObject, bdbs: readonly JsonObject[]): EndpointStats {
  const uid = typeof row.uid === 'string' ? endpointUid(row.uid) : ''
  return {
    endpoint_name: typeof row.endpoint_name === 'string' ? row.endpoint_name : nameOf(uid, bdbs),
    bdb_uid: uidOf(row.bdb_uid) ?? bdbOf(uid),
    current_connections: number(row.current_connections),
    total_connections: number(row.total_connections),
    failed_connections: number(row.failed_connections),
    requests_per_sec: number(row.requests_per_sec),
    responses_per_sec: number(row.responses_per_sec),
    avg_latency_ms: number(row.avg_latency_ms),
    bandwidth_in_mbps: number(row.bandwidth_in_mbps),
    bandwidth_out_mbps: number(row.bandwidth_out_mbps),
    errors_per_sec: number(row.errors_per_sec),
  }
}

/** What all proxies of one endpoint did together. The latency is that of all their answers, not the mean of means. */
function summed(uid: string, intervals: readonly Interval[], bdbs: readonly JsonObject[]): EndpointStats {
  const sum = (field: string) => intervals.reduce((total, it) => total + number(it[field]), 0)
  const responses = sum('total_res')
  return {
    endpoint_name: nameOf(uid, bdbs),
    bdb_uid: bdbOf(uid),
    current_connections: sum('conns'),
    total_connections: sum('total_connections_received'),
    failed_connections: sum('max_connections_exceeded'),
    requests_per_sec: sum('total_req'),
    responses_per_sec: responses,
    avg_latency_ms: responses === 0 ? 0 : sum('acc_latency') / responses / 1000,
    bandwidth_in_mbps: megabits(sum('ingress_bytes')),
    bandwidth_out_mbps: megabits(sum('egress_bytes')),
    errors_per_sec: sum('auth_errors'),
  }
}

const megabits = (bytes: number): number => (bytes * 8) / 1e6

const number = (value: Json | undefined): number => {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? read : 0
}

const uidOf = (value: Json | undefined): number | string | undefined =>
  typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? numeric(value) : undefined
const bdbOf = (uid: string): number | string | null => uidOf(uid.split(':')[0]) ?? null
const numeric = (text: string): number | string => (/^\d{1,15}$/.test(text) ? Number(text) : text)

/** `host:port` of the database's endpoint with this uid. */
function nameOf(uid: string, bdbs: readonly JsonObject[]): string {
  const bdb = bdbs.find(it => wordOf(it.uid) === uid.split(':')[0])
  const endpoints = Array.isArray(bdb?.endpoints) ? (bdb.endpoints as readonly Json[]).filter(isJsonObject) : []
  const endpoint = endpoints.find(it => wordOf(it.uid) === uid)
  const addresses = Array.isArray(endpoint?.addr) ? (endpoint.addr as readonly Json[]) : [endpoint?.addr]
  const host = [endpoint?.dns_name, ...addresses].find(it => typeof it === 'string' && it !== '')
  return host === undefined ? uid : `${host}:${wordOf(endpoint?.port ?? bdb?.port ?? '')}`.replace(/:$/, '')
}
