import {describe, expect, it} from 'vitest'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {NoSuchObject, world} from '../../src/simulator/index.ts'
import {clientOf} from './client.ts'

describe('a world in a line', () => {
  it('holds every kind of object, each below the one named before', async () => {
    const simulator = world()
      .subscription('a')
      .database('one', {memoryLimitInGb: 2})
      .rule('ro')
      .user('app', {role: 'ro'})
      .peering({vpcId: 'vpc-1'})
      .subscription('b')
      .database('two')
      .bdb('local')
      .clusterUser('ops')
      .node(2, {rack_id: 'r9'})
      .settings({name: 'renamed'})
      .policy({rack_aware: true})
      .simulator({clock: new VirtualClock(), config: {cloud: {listLagMs: 1000}, cluster: {listLagMs: 1000}}})
    const {cloud, cluster} = clientOf(simulator)
    const names = async (path: string) =>
      (await cloud('GET', path)).json.map((row: {name?: string; vpcId?: string}) => row.name ?? row.vpcId)
    expect(await names('/subscriptions')).toEqual(['a', 'b'])
    expect(await names('/subscriptions/1/databases')).toEqual(['one'])
    expect(await names('/subscriptions/2/databases')).toEqual(['two'])
    expect(await names('/subscriptions/1/peerings')).toEqual(['vpc-1'])
    expect(await names('/subscriptions/1/databases/1/acl/rules')).toEqual(['ro'])
    expect(await names('/subscriptions/1/databases/1/acl/users')).toEqual(['app'])
    expect((await cluster('GET', '/v1/bdbs')).json).toMatchObject([{uid: 1, name: 'local', status: 'active'}])
    expect((await cluster('GET', '/v1/users/2')).json.name).toBe('ops')
    expect((await cluster('GET', '/v1/nodes/2')).json.rack_id).toBe('r9')
    expect((await cluster('GET', '/v1/cluster')).json.name).toBe('renamed')
    expect((await cluster('GET', '/v1/cluster/policy')).json.rack_aware).toBe(true)
  })

  it('can be edited by somebody else, who may take fields and objects away', async () => {
    const simulator = world().subscription('a').database('one', {port: 12345}).simulator({clock: new VirtualClock()})
    const {cloud} = clientOf(simulator)
    const path = 'cloud/subscriptions/1/databases/1'
    simulator.edit({path, set: {port: null, replication: true}, status: 'error'})
    const {json} = await cloud('GET', '/subscriptions/1/databases/1')
    expect(json).toMatchObject({name: 'one', replication: true, status: 'error'})
    expect(json).not.toHaveProperty('port')
    simulator.edit({path, delete: true})
    expect((await cloud('GET', '/subscriptions/1/databases/1')).status).toBe(404)
    expect(() => simulator.edit({path, delete: true})).toThrow(NoSuchObject)
  })
})
