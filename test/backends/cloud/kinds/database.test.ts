import {describe, expect, it} from 'vitest'
import {cloudDatabase} from '../../../../src/backends/cloud/kinds/database.ts'
import {ruleAt} from '../../../../src/engine/model/field-rules.ts'
import {idOf} from '../../../../src/engine/model/kind.ts'

const full = {
  name: 'cache',
  memoryLimitInGb: 1.5,
  protocol: 'redis',
  port: 12000,
  throughputMeasurement: {by: 'operations-per-second', value: 10000},
  replication: true,
  dataPersistence: 'aof-every-1-second',
  dataEvictionPolicy: 'allkeys-lru',
  modules: [{name: 'json'}],
  alerts: [{name: 'dataset-size', value: 80}],
  backup: {interval: 6, enabled: true},
}

describe('a cloud database', () => {
  it('takes every field of the contract', () => {
    expect(cloudDatabase.spec.parse(full)).toEqual(full)
  })

  it('refuses a field the contract does not name, at any depth', () => {
    for (const wrong of [{memoryLimit: 1}, {backup: {every: 6}}, {alerts: [{name: 'a', value: 1, unit: '%'}]}, {modules: ['json']}]) {
      expect(cloudDatabase.spec.safeParse({...full, ...wrong}).success, JSON.stringify(wrong)).toBe(false)
    }
  })

  it('needs a name and a memory limit', () => {
    expect(cloudDatabase.spec.safeParse({name: 'cache'}).success).toBe(false)
    expect(cloudDatabase.spec.safeParse({memoryLimitInGb: 1}).success).toBe(false)
    expect(cloudDatabase.spec.safeParse({name: 'cache', memoryLimitInGb: 0}).success).toBe(false)
  })

  it('is found by its name, and its id is read in either spelling', () => {
    const {key} = cloudDatabase.identity
    expect([
      key({name: 'cache'}),
      key({}),
      idOf(cloudDatabase, {databaseId: 51}),
      idOf(cloudDatabase, {id: '51'}),
      idOf(cloudDatabase, {id: null}),
    ]).toEqual(['cache', undefined, '51', '51', undefined])
  })

  it('is ready when active, failed on error, and on its way in every other status', () => {
    const states = ['active', 'Active', 'pending', 'active-change-pending', 'draft', 'error']
    expect(states.map(status => cloudDatabase.ready({status}))).toEqual(['ready', 'ready', 'waiting', 'waiting', 'waiting', 'failed'])
    expect(cloudDatabase.ready({})).toBe('ready')
  })

  it('warns of what a change may lose', () => {
    const risk = (pointer: string, ...values: Parameters<NonNullable<ReturnType<typeof ruleAt>['risk']>>) =>
      ruleAt(cloudDatabase, pointer).risk?.(...values)
    expect(risk('/memoryLimitInGb', 2, 1)).toBe('less memory: data may be evicted or writes refused')
    expect(risk('/memoryLimitInGb', '2.0', 1)).toBeDefined()
    expect(risk('/memoryLimitInGb', 1, 2)).toBeUndefined()
    expect(risk('/memoryLimitInGb', undefined, 2)).toBeUndefined()
    expect(risk('/replication', true, false)).toBe('no replica left to fail over to')
    expect(risk('/replication', false, true)).toBeUndefined()
    expect(risk('/dataPersistence', 'aof-every-write', 'none')).toBe('weaker persistence: a restart may lose data')
    expect(risk('/dataPersistence', 'none', 'aof-every-1-second')).toBeUndefined()
    expect(risk('/dataPersistence', 'aof-every-1-second', 'a-new-word')).toBeDefined()
    expect(risk('/dataEvictionPolicy', 'noeviction', 'allkeys-lru')).toBeDefined()
    expect(risk('/backup/enabled', true, false)).toBe('backups stop')
    expect(risk('/modules', [], [{name: 'json'}])).toBe('the database is replaced and its data is lost')
    expect(risk('/alerts/*/value', 80, 90)).toBeUndefined()
  })
})
