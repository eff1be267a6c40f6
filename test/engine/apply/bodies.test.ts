import {describe, expect, it} from 'vitest'
import {cloudDatabase} from '../../../src/backends/cloud/kinds/database.ts'
import {clusterPolicy} from '../../../src/backends/cluster/kinds/policy.ts'
import {createBodyOf, patchOf} from '../../../src/engine/apply/bodies.ts'

describe('the body of an update', () => {
  it('carries only the changed fields', () => {
    const patch = patchOf({
      kind: cloudDatabase,
      changes: [{path: '/memoryLimitInGb'}],
      declared: {name: 'cache', memoryLimitInGb: 2, replication: false},
      live: {name: 'cache', memoryLimitInGb: 1, replication: false},
    })
    expect(patch).toEqual({memoryLimitInGb: 2})
  })

  it('sends an object whole, declared over live, without what only the server knows', () => {
    const patch = patchOf({
      kind: cloudDatabase,
      changes: [{path: '/throughputMeasurement/value'}, {path: '/backup/enabled'}],
      declared: {throughputMeasurement: {value: 5}, backup: {enabled: true}},
      live: {
        throughputMeasurement: {by: 'operations-per-second', value: 1, unit: 'ops'},
        backup: {enabled: false, interval: 6, lastRun: null, status: 'idle'},
      },
    })
    expect(patch).toEqual({throughputMeasurement: {by: 'operations-per-second', value: 5}, backup: {enabled: true, interval: 6}})
  })

  it('keeps live neighbours in an object whose fields are not shown by the contract', () => {
    const patch = patchOf({
      kind: clusterPolicy,
      changes: [{path: '/limits/low'}],
      declared: {limits: {low: 1}},
      live: {limits: {low: 0, high: 9}},
    })
    expect(patch).toEqual({limits: {low: 1, high: 9}})
  })

  it('sends a list as it is declared, and an empty one to clear it', () => {
    const declared = {alerts: [{name: 'dataset-size', value: 90}]}
    const live = {alerts: [{name: 'latency', value: 1}]}
    expect(patchOf({kind: cloudDatabase, changes: [{path: '/alerts/0/value'}], declared, live})).toEqual(declared)
    expect(patchOf({kind: cloudDatabase, changes: [{path: '/alerts'}], declared: {alerts: []}, live})).toEqual({alerts: []})
  })

  it('leaves what is left to the server as it is live, in an object and in an item of a keyed list', () => {
    const patch = patchOf({
      kind: cloudDatabase,
      changes: [{path: '/backup/interval'}, {path: '/alerts/1/value'}],
      declared: {
        backup: {enabled: true, interval: 12},
        alerts: [
          {name: 'dataset-size', value: 80},
          {name: 'throughput-higher-than', value: 5},
        ],
      },
      live: {
        backup: {enabled: false, interval: 6},
        alerts: [
          {name: 'throughput-higher-than', value: 1},
          {name: 'dataset-size', value: 99},
        ],
      },
      left: ['/backup/enabled', '/alerts/0/value'],
    })
    expect(patch).toEqual({
      backup: {enabled: false, interval: 12},
      alerts: [
        {name: 'dataset-size', value: 99},
        {name: 'throughput-higher-than', value: 5},
      ],
    })
  })

  it('sends false and zero as the values they are', () => {
    const declared = {replication: false, grace: 0}
    expect(patchOf({kind: clusterPolicy, changes: [{path: '/replication'}, {path: '/grace'}], declared, live: {}})).toEqual(declared)
  })
})

describe('the body of a create', () => {
  it('carries every declared field, those that are sent on create only too', () => {
    const declared = {name: 'orders', databases: [{name: 'cache'}]}
    expect(createBodyOf(declared)).toEqual(declared)
  })
})
