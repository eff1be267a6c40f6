import {describe, expect, it} from 'vitest'
import {endpointStatsOf, needsNames, statsRows} from '../../src/endpoint/stats.ts'

const bdb = {uid: 3, endpoints: [{uid: '3:1', dns_name: 'orders.example', port: 12000, addr: ['10.0.0.1']}]}
const interval = {
  conns: 4,
  total_req: 1000,
  total_res: 500,
  ingress_bytes: 125_000,
  egress_bytes: 250_000,
  acc_latency: 400_000,
  total_connections_received: 9,
  max_connections_exceeded: 2,
  auth_errors: 1,
}

describe('endpoint statistics in intervals', () => {
  it('become the contract’s record: megabits, milliseconds, and the database’s own name for the endpoint', () => {
    expect(endpointStatsOf([{uid: '3:1:1', intervals: [interval]}], [bdb])).toEqual([
      {
        endpoint_name: 'orders.example:12000',
        bdb_uid: 3,
        current_connections: 4,
        total_connections: 9,
        failed_connections: 2,
        requests_per_sec: 1000,
        responses_per_sec: 500,
        avg_latency_ms: 0.8,
        bandwidth_in_mbps: 1,
        bandwidth_out_mbps: 2,
        errors_per_sec: 1,
      },
    ])
  })

  it('of several proxies are one record an endpoint, its latency that of all answers', () => {
    const busy = {...interval, total_res: 1500, acc_latency: 2_400_000}
    const rows = [
      {uid: '3:1:1', intervals: [interval]},
      {uid: '3:1:2', intervals: [busy]},
    ]
    expect(endpointStatsOf(rows, [bdb])).toMatchObject([{current_connections: 8, responses_per_sec: 2000, avg_latency_ms: 1.4}])
  })

  it('count the interval that ended last, and are zero where there is none', () => {
    const old = {...interval, conns: 77, etime: '2026-01-01T00:00:00Z'}
    const rows = [
      {uid: '3:1:1', intervals: [{...interval, etime: '2026-01-01T00:00:01Z'}, old]},
      {uid: '4:1:1', intervals: []},
    ]
    expect(endpointStatsOf(rows, [bdb])).toMatchObject([
      {current_connections: 4},
      {endpoint_name: '4:1', bdb_uid: 4, current_connections: 0, avg_latency_ms: 0},
    ])
  })
})

describe('endpoint statistics as records', () => {
  it('need no names and keep to the contract’s fields', () => {
    const rows = statsRows([{endpoint_name: 'a:1', bdb_uid: '7', requests_per_sec: '2.5', extra: 1}])
    expect(needsNames(rows)).toBe(false)
    expect(endpointStatsOf(rows, [])).toMatchObject([{endpoint_name: 'a:1', bdb_uid: 7, requests_per_sec: 2.5, errors_per_sec: 0}])
    expect(Object.keys(endpointStatsOf(rows, [])[0] ?? {})).toHaveLength(11)
  })

  it('may stand by their uid, and are refused when they are no list at all', () => {
    expect(statsRows({'3:1:1': {intervals: []}})).toEqual([{uid: '3:1:1', intervals: []}])
    expect(() => statsRows('nothing')).toThrow(expect.objectContaining({code: 'E_ENDPOINT_STATS_SHAPE'}))
  })
})
