import {describe, expect, it} from 'vitest'
import {clusterDatabase} from '../../../../src/backends/cluster/kinds/database.ts'
import {ruleAt} from '../../../../src/engine/model/field-rules.ts'

const {matches} = clusterDatabase.identity

describe('a cluster database', () => {
  it('is found by its name', () => {
    expect(matches({name: 'cache'}, {uid: 3, name: 'cache'})).toBe(true)
    expect(matches({name: 'cache'}, {uid: 3, name: 'other'})).toBe(false)
    expect(matches({memory_size: 1}, {uid: 3})).toBe(false)
  })

  it('is found by its uid when that is declared, whatever its name', () => {
    expect(matches({uid: 3, name: 'renamed'}, {uid: '3', name: 'cache'})).toBe(true)
    expect(matches({uid: 3, name: 'cache'}, {uid: 4, name: 'cache'})).toBe(false)
    expect(clusterDatabase.identity.key({uid: 3})).toBe('3')
  })

  it('needs a name or a uid, sizes in whole bytes, and takes fields the contract does not show', () => {
    const valid = (spec: object) => clusterDatabase.spec.safeParse(spec).success
    expect(valid({memory_size: 1073741824})).toBe(false)
    expect(valid({uid: 3, memory_size: 1073741824})).toBe(true)
    expect(valid({name: 'cache', memory_size: 1.5})).toBe(false)
    expect(valid({name: 'cache', oss_cluster: true})).toBe(true)
  })

  it('is ready when active, failed when it could not be made, leaving while it is deleted, and on its way otherwise', () => {
    const states = ['active', 'pending', 'active-change-pending', 'delete-pending', 'recovery', 'creation-failed', 'error']
    expect(states.map(status => clusterDatabase.ready({status}))).toEqual([
      'ready',
      'waiting',
      'waiting',
      'leaving',
      'waiting',
      'failed',
      'failed',
    ])
  })

  it('never shows its passwords', () => {
    const {writeOnly, secret} = ruleAt(clusterDatabase, '/authentication_redis_pass')
    expect([writeOnly, secret]).toEqual([true, true])
  })

  it('warns of what a change may lose', () => {
    expect(ruleAt(clusterDatabase, '/memory_size').risk?.(2048, 1024)).toBe('less memory: data may be evicted or writes refused')
    expect(ruleAt(clusterDatabase, '/data_persistence').risk?.('aof', 'disabled')).toBe('weaker persistence: a restart may lose data')
    expect(ruleAt(clusterDatabase, '/data_persistence').risk?.('disabled', 'aof')).toBeUndefined()
    expect(ruleAt(clusterDatabase, '/max_connections').risk).toBeUndefined()
  })
})
