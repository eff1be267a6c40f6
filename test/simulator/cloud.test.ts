import {describe, expect, it} from 'vitest'
import {world} from '../../src/simulator/index.ts'
import {inVirtualTime} from './client.ts'

describe('the cloud API in the spelling of the contract', () => {
  it('answers the account, payment methods and regions', () =>
    inVirtualTime({}, async ({cloud}) => {
      expect((await cloud('GET', '/')).json).toMatchObject({id: 1001, name: 'Simulated account'})
      expect((await cloud('GET', '/payment-methods')).json).toHaveLength(1)
      expect((await cloud('GET', '/regions')).json[0]).toEqual({id: 1, name: 'us-east-1', provider: 'AWS'})
    }))

  it('makes a database through a task, and the database is active a while after its task is done', () =>
    inVirtualTime({cloud: {taskMs: 1000, readyMs: 500}}, async ({cloud, clock, simulator}) => {
      world().subscription('a').into(simulator)
      const created = await cloud('POST', '/subscriptions/1/databases', {name: 'cache', memoryLimitInGb: 1.5, port: 12345})
      expect(created.status).toBe(202)
      expect(created.json).toMatchObject({status: 'processing'})
      expect((await cloud('GET', '/subscriptions/1/databases')).json).toEqual([])
      await clock.sleep(1000)
      expect((await cloud('GET', `/tasks/${created.json.taskId}`)).json).toMatchObject({status: 'completed', response: {resourceId: 1}})
      expect((await cloud('GET', '/subscriptions/1/databases/1')).json.status).toBe('pending')
      await clock.sleep(500)
      expect((await cloud('GET', '/subscriptions/1/databases/1')).json).toEqual({
        id: 1,
        name: 'cache',
        memoryLimitInGb: 1.5,
        port: 12345,
        status: 'active',
        publicEndpoint: 'db-1.c1.cloud.example:12345',
      })
    }))

  it.each([
    ['name', {memoryLimitInGb: 1}],
    ['memoryLimitInGb', {name: 'cache'}],
  ])('refuses a database without %s as the contract shows it', (field, body) =>
    inVirtualTime({}, async ({cloud, simulator}) => {
      world().subscription('a').into(simulator)
      const refused = await cloud('POST', '/subscriptions/1/databases', body)
      expect(refused.status).toBe(400)
      expect(refused.json).toEqual({
        error: {code: 'INVALID_REQUEST', message: `${field} is required.`, details: {field, constraint: 'required'}},
      })
    }),
  )

  it('refuses a name that another database of the subscription has, one whose task still runs included', () =>
    inVirtualTime({}, async ({cloud, simulator}) => {
      world().subscription('a').subscription('b').into(simulator)
      const body = {name: 'cache', memoryLimitInGb: 1}
      expect((await cloud('POST', '/subscriptions/1/databases', body)).status).toBe(202)
      expect((await cloud('POST', '/subscriptions/1/databases', body)).status).toBe(409)
      expect((await cloud('POST', '/subscriptions/2/databases', body)).status).toBe(202)
    }))

  it('changes what a PUT names, replaces its objects whole, and clears with an empty list', () =>
    inVirtualTime({cloud: {asynchronous: false, readyMs: 0}}, async ({cloud, simulator}) => {
      world()
        .subscription('a')
        .database('cache', {replication: true, backup: {interval: 6, enabled: true}, alerts: [{name: 'dataset-size', value: 80}]})
        .into(simulator)
      const updated = await cloud('PUT', '/subscriptions/1/databases/1', {backup: {interval: 12}, alerts: []})
      expect(updated.status).toBe(200)
      expect((await cloud('GET', '/subscriptions/1/databases/1')).json).toMatchObject({
        name: 'cache',
        replication: true,
        backup: {interval: 12},
        alerts: [],
      })
      expect(updated.json.backup).toEqual({interval: 12})
    }))

  it.each([
    ['port', {port: 2}],
    ['protocol', {protocol: 'memcached'}],
    ['modules', {modules: [{name: 'json'}]}],
    ['throughputMeasurement.by', {throughputMeasurement: {by: 'number-of-shards', value: 2}}],
  ])('refuses to change %s', (field, body) =>
    inVirtualTime({}, async ({cloud, simulator}) => {
      world()
        .subscription('a')
        .database('cache', {port: 1, throughputMeasurement: {by: 'operations-per-second', value: 1}})
        .into(simulator)
      const refused = await cloud('PUT', '/subscriptions/1/databases/1', body)
      expect(refused.status).toBe(400)
      expect(refused.json.error.details).toEqual({field, constraint: 'immutable'})
    }),
  )

  it('makes the databases written inside a subscription', () =>
    inVirtualTime({cloud: {requireInlineDatabases: true}}, async ({cloud, clock}) => {
      expect((await cloud('POST', '/subscriptions', {name: 'a'})).json.error.details.field).toBe('databases')
      await cloud('POST', '/subscriptions', {name: 'a', databases: [{name: 'first', memoryLimitInGb: 1}]})
      await clock.sleep(1000)
      expect((await cloud('GET', '/subscriptions/1')).json).toMatchObject({id: 1, name: 'a', status: 'active'})
      expect((await cloud('GET', '/subscriptions/1/databases')).json).toMatchObject([{name: 'first', status: 'active'}])
    }))

  it('deletes a subscription only when it has no databases', () =>
    inVirtualTime({}, async ({cloud, clock, simulator}) => {
      world().subscription('a').database('cache').into(simulator)
      expect((await cloud('DELETE', '/subscriptions/1')).json.error.code).toBe('SUBSCRIPTION_NOT_EMPTY')
      await cloud('DELETE', '/subscriptions/1/databases/1')
      expect((await cloud('GET', '/subscriptions/1/databases/1')).json.status).toBe('delete-pending')
      await clock.sleep(200)
      expect((await cloud('GET', '/subscriptions/1/databases/1')).status).toBe(404)
      expect((await cloud('DELETE', '/subscriptions/1')).status).toBe(202)
      await clock.sleep(200)
      expect((await cloud('GET', '/subscriptions')).json).toEqual([])
    }))

  it('connects a peering, which then waits for its acceptance', () =>
    inVirtualTime({}, async ({cloud, clock, simulator}) => {
      world().subscription('a').into(simulator)
      await cloud('POST', '/subscriptions/1/peerings', {region: 'us-east-1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'})
      await clock.sleep(1000)
      const [peering] = (await cloud('GET', '/subscriptions/1/peerings')).json
      expect(peering).toEqual({id: 'pcx-1', region: 'us-east-1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24', status: 'pending-acceptance'})
      expect((await cloud('GET', '/subscriptions/1/peerings/pcx-1')).json).toEqual(peering)
      await cloud('DELETE', '/subscriptions/1/peerings/pcx-1')
      await clock.sleep(200)
      expect((await cloud('GET', '/subscriptions/1/peerings/pcx-1')).status).toBe(404)
    }))

  it('never answers the password of an ACL user, and has no verb to change or delete one', () =>
    inVirtualTime({cloud: {asynchronous: false}}, async ({cloud, simulator}) => {
      world().subscription('a').database('cache').rule('read-only').into(simulator)
      const path = '/subscriptions/1/databases/1/acl'
      const created = await cloud('POST', `${path}/users`, {name: 'app', role: 'read-only', password: 'hush'})
      expect(created.json).toEqual({id: 1, name: 'app', role: 'read-only'})
      expect((await cloud('GET', `${path}/users`)).text).not.toContain('hush')
      expect((await cloud('GET', `${path}/rules`)).json).toEqual([{id: 1, name: 'read-only', rule: '+@read ~*'}])
      expect((await cloud('DELETE', `${path}/users/1`)).status).toBe(404)
      expect(JSON.stringify(simulator.log)).not.toContain('hush')
    }))

  it('checks both keys', () =>
    inVirtualTime({}, async ({cloud}) => {
      expect((await cloud('GET', '/', undefined, {'x-api-key': 'wrong'})).status).toBe(401)
      expect((await cloud('GET', '/', undefined, {'x-api-secret-key': 'wrong'})).status).toBe(401)
    }))

  it('refuses with 403 what the credentials may not do', () =>
    inVirtualTime({cloud: {forbidden: ['DELETE /subscriptions/**']}}, async ({cloud}) => {
      expect((await cloud('DELETE', '/subscriptions/1')).json.error.code).toBe('FORBIDDEN')
      expect((await cloud('GET', '/subscriptions')).status).toBe(200)
    }))

  it('lists tasks newest first, by status and by limit', () =>
    inVirtualTime({}, async ({cloud, clock}) => {
      for (const name of ['a', 'b', 'c']) {
        await cloud('POST', '/subscriptions', {name})
        await clock.sleep(150)
      }
      const all = (await cloud('GET', '/tasks')).json
      expect(all.map((task: {status: string}) => task.status)).toEqual(['processing', 'completed', 'completed'])
      expect((await cloud('GET', '/tasks?status=processing')).json).toEqual([all[0]])
      expect((await cloud('GET', '/tasks?limit=1&offset=1')).json).toEqual([all[1]])
    }))

  it('filters, sorts, pages and selects fields of a list', () =>
    inVirtualTime({}, async ({cloud, simulator}) => {
      world().subscription('b').subscription('a').subscription('c').into(simulator)
      expect((await cloud('GET', '/subscriptions?sort=name&order=desc&limit=2&fields=name')).json).toEqual([{name: 'c'}, {name: 'b'}])
      expect((await cloud('GET', '/subscriptions?filter=name:a&fields=id')).json).toEqual([{id: 2}])
      expect((await cloud('GET', '/subscriptions?offset=3&limit=2')).json).toEqual([])
      expect((await cloud('GET', '/subscriptions?limit=many')).status).toBe(400)
    }))
})

describe('the cloud API in the other spelling', () => {
  it('wraps lists, names ids, nests databases and leaves fields out of list items', () =>
    inVirtualTime({spelling: 'wire', cloud: {listLagMs: 0}}, async ({cloud, simulator}) => {
      world().subscription('a', {paymentMethodId: 7}).database('cache', {memoryLimitInGb: 0.1, replication: true}).into(simulator)
      expect((await cloud('GET', '/subscriptions')).json).toEqual({subscriptions: [{subscriptionId: '1', name: 'a', status: 'active'}]})
      expect((await cloud('GET', '/subscriptions/1')).json).toMatchObject({paymentMethod: {id: 7, type: 'credit-card'}})
      const listed = (await cloud('GET', '/subscriptions/1/databases')).json
      expect(listed.subscription[0]).toMatchObject({subscriptionId: '1', numberOfDatabases: 1})
      expect(listed.subscription[0].databases[0]).toMatchObject({databaseId: '1', memoryLimitInGb: 0.10000000149011612})
      expect(listed.subscription[0].databases[0]).not.toHaveProperty('replication')
      expect((await cloud('GET', '/subscriptions/1/databases/1')).json).toMatchObject({
        replication: true,
        dataPersistence: 'none',
        modules: [{name: 'timeseries'}],
      })
    }))

  it('renames the fields of peerings and ACL users, and spaces rules anew', () =>
    inVirtualTime({spelling: 'wire'}, async ({cloud, clock, simulator}) => {
      world()
        .subscription('a')
        .peering({provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1'})
        .database('cache')
        .rule('ro', '+@read ~*')
        .user('app', {role: 'ro'})
        .into(simulator)
      const begun = await cloud('GET', '/subscriptions/1/peerings')
      expect(begun.status).toBe(202)
      await clock.sleep(200)
      for (let read = 0; read < 2; read++) expect((await cloud('GET', `/tasks/${begun.json.taskId}`)).status).toBe(404)
      expect((await cloud('GET', `/tasks/${begun.json.taskId}`)).json.response.resource).toEqual({
        peerings: [{vpcPeeringId: 'pcx-1', regionName: 'us-east-1', vpcUid: 'vpc-1', status: 'pending-acceptance'}],
      })
      const acl = '/subscriptions/1/databases/1/acl'
      expect((await cloud('GET', `${acl}/rules`)).json.redisRules[0]).toMatchObject({id: '1', name: 'ro', rule: ' +@read  ~*'})
      expect((await cloud('GET', `${acl}/users`)).json.users[0]).toMatchObject({id: '1', name: 'app', acl: 'ro'})
    }))

  it('answers 404 for an empty list of databases and for a page past the end', () =>
    inVirtualTime({spelling: 'wire'}, async ({cloud, simulator}) => {
      world().subscription('a').into(simulator)
      expect((await cloud('GET', '/subscriptions/1/databases')).status).toBe(404)
      expect((await cloud('GET', '/subscriptions/1')).status).toBe(200)
      expect((await cloud('GET', '/subscriptions?offset=1&limit=10')).status).toBe(404)
    }))

  it('speaks the long words of tasks, and does not know a new task for its first reads', () =>
    inVirtualTime({spelling: 'wire', cloud: {taskMs: 1000}}, async ({cloud, clock}) => {
      const {taskId, status} = (await cloud('POST', '/subscriptions', {name: 'a'})).json
      expect(status).toBe('received')
      expect((await cloud('GET', `/tasks/${taskId}`)).status).toBe(404)
      expect((await cloud('GET', `/tasks/${taskId}`)).status).toBe(404)
      await clock.sleep(500)
      expect((await cloud('GET', `/tasks/${taskId}`)).json.status).toBe('processing-in-progress')
      await clock.sleep(500)
      expect((await cloud('GET', `/tasks/${taskId}`)).json.status).toBe('processing-completed')
    }))

  it('tells errors in the other body, and in plain text where access is refused', () =>
    inVirtualTime({spelling: 'wire'}, async ({cloud}) => {
      expect((await cloud('GET', '/subscriptions/9')).json).toEqual({
        timestamp: '2026-01-01T00:00:00.000Z',
        status: 404,
        error: 'Not Found',
        message: 'Subscription 9 not found.',
        path: '/v1/subscriptions/9',
      })
      const refused = await cloud('GET', '/', undefined, {'x-api-key': 'wrong'})
      expect(refused.json).toBeUndefined()
      expect(refused.text).toBe('The API key or the secret key is wrong.')
    }))

  it('refuses a second change of a subscription while the first one runs, and its status says so', () =>
    inVirtualTime({spelling: 'wire'}, async ({cloud, clock, simulator}) => {
      world().subscription('a').into(simulator)
      await cloud('POST', '/subscriptions/1/databases', {name: 'one', memoryLimitInGb: 1})
      expect((await cloud('GET', '/subscriptions/1')).json.status).toBe('pending')
      const second = {name: 'two', memoryLimitInGb: 1}
      expect((await cloud('POST', '/subscriptions/1/databases', second)).status).toBe(409)
      await clock.sleep(400)
      expect((await cloud('POST', '/subscriptions/1/databases', second)).status).toBe(202)
    }))
})
