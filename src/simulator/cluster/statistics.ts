/** `stats/last` of the cluster, its databases, nodes and shards, and the statistics of database endpoints. */
import {isJsonObject} from '../../base/json.ts'
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import type {Entries, Fields} from '../base/world.ts'
import {showBdb} from './bdbs.ts'
import {loadOf} from './load.ts'
import {pageOf, uidOf} from './objects.ts'

function record({now}: Exchange, thing: string): Fields {
  const load = loadOf(thing, now)
  return {
    interval: '1sec',
    stime: new Date(now - 1000).toISOString(),
    etime: new Date(now).toISOString(),
    conns: load.connections,
    total_req: load.requestsPerSecond,
    ingress_bytes: load.ingressBytesPerSecond,
    egress_bytes: load.egressBytesPerSecond,
    avg_latency: load.latencyMicros,
    cpu_user: load.cpuShare,
    cpu_idle: 1 - load.cpuShare,
  }
}

const living = (entries: Entries): string[] => Object.entries(entries).flatMap(([id, it]) => (it.gone === undefined ? [id] : []))

const byUid = (exchange: Exchange, entries: Entries, noun: string): Answer => ({
  status: 200,
  json: Object.fromEntries(living(entries).map(id => [id, {uid: uidOf(id), ...record(exchange, `${noun} ${id}`)}])),
})

export const clusterStats = (exchange: Exchange): Answer => ({status: 200, json: record(exchange, 'cluster')})
export const bdbStats = (exchange: Exchange): Answer => byUid(exchange, exchange.world.cluster.bdbs, 'bdb')
export const nodeStats = (exchange: Exchange): Answer => byUid(exchange, exchange.world.cluster.nodes, 'node')
/** One shard a database. */
export const shardStats = (exchange: Exchange): Answer => byUid(exchange, exchange.world.cluster.bdbs, 'shard')

/** One record an endpoint, in the contract's shape or as intervals (wire facts); both tell the same figures. */
export function endpointStats(exchange: Exchange): Answer {
  const {world, config, now} = exchange
  const form = config.cluster.endpointStats
  if (form === 'none') throw new Refusal(404, 'not_found', 'There is nothing at /v1/endpoints/stats.')
  const rows = living(world.cluster.bdbs).map((id): Fields => {
    const load = loadOf(`bdb ${id}`, now)
    if (form === 'intervals') {
      const interval = {
        interval: '1sec',
        stime: new Date(now - 1000).toISOString(),
        etime: new Date(now).toISOString(),
        conns: load.connections,
        total_connections_received: load.totalConnections,
        max_connections_exceeded: load.failedConnections,
        auth_errors: 0,
        total_req: load.requestsPerSecond,
        total_res: load.requestsPerSecond,
        acc_latency: load.latencyMicros * load.requestsPerSecond,
        ingress_bytes: load.ingressBytesPerSecond,
        egress_bytes: load.egressBytesPerSecond,
      }
      return {uid: `${id}:1:1`, intervals: [interval]}
    }
    return {
      endpoint_name: endpointName(exchange, id),
      bdb_uid: uidOf(id),
      current_connections: load.connections,
      total_connections: load.totalConnections,
      failed_connections: load.failedConnections,
      requests_per_sec: load.requestsPerSecond,
      responses_per_sec: load.requestsPerSecond,
      avg_latency_ms: load.latencyMicros / 1000,
      bandwidth_in_mbps: (load.ingressBytesPerSecond * 8) / 1e6,
      bandwidth_out_mbps: (load.egressBytesPerSecond * 8) / 1e6,
      errors_per_sec: 0,
    }
  })
  return {status: 200, json: pageOf(exchange, rows)}
}

function endpointName(exchange: Exchange, id: string): string {
  const it = exchange.world.cluster.bdbs[id]
  const endpoints = it && showBdb(exchange, id, it, it.fields).endpoints
  const first = Array.isArray(endpoints) ? endpoints[0] : undefined
  return isJsonObject(first) ? `${String(first.dns_name)}:${String(first.port)}` : id
}
