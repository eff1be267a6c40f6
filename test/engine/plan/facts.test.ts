import {describe, expect, it} from 'vitest'
import {cloudDatabase} from '../../../src/backends/cloud/kinds/database.ts'
import {clusterDatabase} from '../../../src/backends/cluster/kinds/database.ts'
import {canonicalJson} from '../../../src/base/json.ts'
import {Deferred, Secret} from '../../../src/engine/model/value.ts'
import {comparedPointers, factRow} from '../../../src/engine/plan/facts.ts'

describe('a fact about a live row', () => {
  const declared = {
    name: 'cache',
    memoryLimitInGb: 0.1,
    modules: [],
    alerts: [{name: 'dataset-size', value: 80}],
    backup: {enabled: true},
  }
  const pointers = comparedPointers(cloudDatabase, declared)

  it('is about the declared places only', () => {
    expect(pointers).toEqual(['/alerts/*/name', '/alerts/*/value', '/backup/enabled', '/memoryLimitInGb', '/modules', '/name'])
  })

  it('leaves out what cannot be compared', () => {
    expect(comparedPointers(clusterDatabase, {name: 'a', authentication_redis_pass: new Secret('x')})).toEqual(['/name'])
  })

  it('has nothing of a secret: a digest of that could be guessed as fast as a processor can', () => {
    const secret = new Secret('4711')
    expect(
      comparedPointers(cloudDatabase, {name: 'a', dataEvictionPolicy: secret, backup: {enabled: true, remoteBackupUrl: secret}}),
    ).toEqual(['/backup/enabled', '/name'])
    expect(comparedPointers(cloudDatabase, {name: 'a', dataEvictionPolicy: new Deferred('${x}', [], true)})).toEqual(['/name'])
    expect(
      comparedPointers(cloudDatabase, {
        alerts: [
          {name: 'a', value: secret},
          {name: 'b', value: 1},
        ],
      }),
    ).toEqual(['/alerts/*/name'])
    expect(comparedPointers(cloudDatabase, {name: 'a', port: 1, modules: []}, [['port'], ['modules', '0', 'name']])).toEqual(['/name'])
  })

  it('has the same bytes whatever the order, the number format and what else the server shows', () => {
    const one = factRow(
      cloudDatabase,
      {
        databaseId: 51,
        name: 'cache',
        memoryLimitInGb: 0.1,
        modules: [{name: 'json'}, {name: 'search'}],
        alerts: [
          {name: 'a', value: 1},
          {name: 'b', value: 2},
        ],
        backup: {enabled: true},
        status: 'active',
      },
      pointers,
    )
    const other = factRow(
      cloudDatabase,
      {
        id: '51',
        status: 'pending',
        backup: {lastRun: 5, enabled: true},
        alerts: [
          {value: '2', name: 'b', fired: true},
          {name: 'a', value: 1},
        ],
        modules: [{name: 'search'}, {name: 'json'}],
        memoryLimitInGb: 0.10000000149011612,
        name: 'cache',
      },
      pointers,
    )
    expect(canonicalJson(other)).toBe(canonicalJson(one))
    expect(one).toMatchObject({
      id: '51',
      key: 'cache',
      fields: {
        alerts: [
          {name: 'a', value: 1},
          {name: 'b', value: 2},
        ],
      },
    })
  })

  it('moves when a compared field does, and only then', () => {
    const live = {id: 1, name: 'cache', memoryLimitInGb: 1, alerts: [{name: 'a', value: 1}]}
    const bytes = (row: typeof live & {port?: number}) => canonicalJson(factRow(cloudDatabase, row, pointers))
    expect(bytes({...live, port: 5})).toBe(bytes(live))
    expect(bytes({...live, memoryLimitInGb: 2})).not.toBe(bytes(live))
    expect(bytes({...live, alerts: [{name: 'a', value: 2}]})).not.toBe(bytes(live))
  })

  it('is identity alone where nothing is compared', () => {
    expect(factRow(cloudDatabase, {id: 1, name: 'x', port: 5}, [])).toEqual({id: '1', key: 'x', fields: {}})
  })
})
