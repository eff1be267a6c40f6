import {describe, expect, it} from 'vitest'
import {world} from '../../src/simulator/index.ts'
import {inVirtualTime} from './client.ts'

describe('the cluster API', () => {
  it('starts with three nodes, an administrator, roles and no database', () =>
    inVirtualTime({}, async ({cluster}) => {
      expect((await cluster('GET', '/v1/nodes')).json).toHaveLength(3)
      expect((await cluster('GET', '/v1/nodes/2')).json).toMatchObject({uid: 2, rack_id: 'rack-2', status: 'active'})
      expect((await cluster('GET', '/v1/cluster')).json).toMatchObject({name: 'cluster.local', state: 'active'})
      expect((await cluster('GET', '/v1/users')).json).toHaveLength(1)
      expect((await cluster('GET', '/v1/roles')).json).toHaveLength(5)
      expect((await cluster('GET', '/v1/bdbs')).json).toEqual([])
      expect((await cluster('GET', '/v2/bdbs')).json).toEqual([])
    }))

  it('answers bootstrap without credentials and nothing else', () =>
    inVirtualTime({}, async ({cluster}) => {
      const nobody = {authorization: ''}
      expect((await cluster('GET', '/v1/bootstrap', undefined, nobody)).json.bootstrap_status.state).toBe('completed')
      expect((await cluster('GET', '/v1/cluster', undefined, nobody)).status).toBe(401)
    }))

  it('leads a database from pending to active, through a change, to its end', () =>
    inVirtualTime({cluster: {changeMs: 1000}}, async ({cluster, clock}) => {
      const created = await cluster('POST', '/v1/bdbs', {name: 'local', memory_size: 104857600})
      expect(created.json).toMatchObject({uid: 1, name: 'local', memory_size: 104857600, status: 'pending'})
      const action = async () => (await cluster('GET', `/v1/actions/${created.json.action_uid}`)).json
      await clock.sleep(500)
      expect(await action()).toMatchObject({status: 'running', progress: 50})
      await clock.sleep(500)
      expect(await action()).toMatchObject({status: 'completed', progress: 100})
      expect((await cluster('GET', '/v1/bdbs/1')).json.status).toBe('active')
      const updated = await cluster('PUT', '/v1/bdbs/1', {memory_size: 209715200})
      expect(updated.json).toMatchObject({memory_size: 209715200, status: 'active-change-pending'})
      await clock.sleep(1000)
      const deleted = await cluster('DELETE', '/v1/bdbs/1')
      expect([deleted.status, deleted.headers['content-length']]).toEqual([200, '0'])
      expect((await cluster('GET', '/v1/bdbs/1')).json.status).toBe('delete-pending')
      await clock.sleep(1000)
      expect((await cluster('GET', '/v1/bdbs/1')).json).toEqual({error_code: 'bdb_not_exist', description: 'There is no bdb 1.'})
    }))

  it('refuses a database without a size and a name that is taken', () =>
    inVirtualTime({}, async ({cluster}) => {
      expect((await cluster('POST', '/v1/bdbs', {name: 'local'})).json.error_code).toBe('missing_field')
      await cluster('POST', '/v1/bdbs', {name: 'local', memory_size: 1})
      expect((await cluster('POST', '/v1/bdbs', {name: 'local', memory_size: 1})).json.error_code).toBe('name_already_exists')
    }))

  it.each([
    ['409', 409],
    ['406', 406],
  ] as const)('may refuse a change of a busy database with %s', (busy, status) =>
    inVirtualTime({cluster: {busy}}, async ({cluster, clock}) => {
      await cluster('POST', '/v1/bdbs', {name: 'local', memory_size: 1})
      expect((await cluster('PUT', '/v1/bdbs/1', {memory_size: 2})).status).toBe(status)
      await clock.sleep(200)
      expect((await cluster('PUT', '/v1/bdbs/1', {memory_size: 2})).status).toBe(200)
    }),
  )

  it('changes nodes, policy and settings, with an empty answer where told to', () =>
    inVirtualTime({cluster: {emptyBodies: true}}, async ({cluster}) => {
      for (const [path, body] of [
        ['/v1/nodes/1', {rack_id: 'r9'}],
        ['/v1/cluster/policy', {rack_aware: true}],
        ['/v1/cluster', {name: 'renamed'}],
      ] as const) {
        expect(await cluster('PUT', path, body)).toMatchObject({status: 200, text: ''})
        expect((await cluster('GET', path)).json).toMatchObject(body)
      }
      expect((await cluster('PUT', '/v1/nodes/9', {rack_id: 'r9'})).status).toBe(404)
      expect((await cluster('DELETE', '/v1/nodes/1')).status).toBe(405)
    }))

  it('checks a node', () =>
    inVirtualTime({}, async ({cluster, simulator}) => {
      expect((await cluster('POST', '/v1/nodes/1/actions/check')).json).toMatchObject({node_uid: 1, status: 'ok'})
      simulator.edit({path: 'cluster/nodes/1', status: 'down'})
      expect((await cluster('POST', '/v1/nodes/1/actions/check')).json.status).toBe('failed')
    }))

  it('keeps users and never answers their passwords', () =>
    inVirtualTime({}, async ({cluster}) => {
      const created = await cluster('POST', '/v1/users', {name: 'ops', email: 'ops@cluster.local', password: 'hush'})
      expect(created.json).toEqual({uid: 2, name: 'ops', email: 'ops@cluster.local'})
      await cluster('PUT', '/v1/users/2', {name: 'operations'})
      expect((await cluster('GET', '/v1/users/2')).json.name).toBe('operations')
      expect((await cluster('DELETE', '/v1/users/2')).status).toBe(200)
      expect((await cluster('GET', '/v1/users/2')).status).toBe(404)
    }))

  it('filters its log by time and limits it', () =>
    inVirtualTime({}, async ({cluster, clock}) => {
      await cluster('PUT', '/v1/cluster', {name: 'a'})
      await clock.sleep(10_000)
      await cluster('PUT', '/v1/cluster/policy', {rack_aware: true})
      await cluster('PUT', '/v1/nodes/1', {rack_id: 'r9'})
      const types = async (query: string) => (await cluster('GET', `/v1/logs${query}`)).json.map((entry: {type: string}) => entry.type)
      expect(await types('')).toEqual(['cluster_updated', 'policy_updated', 'node_updated'])
      expect(await types('?stime=2026-01-01T00:00:05Z&limit=1')).toEqual(['policy_updated'])
      expect(await types('?etime=2026-01-01T00:00:05Z')).toEqual(['cluster_updated'])
      expect((await cluster('GET', '/v1/logs?stime=yesterday')).status).toBe(400)
    }))

  it('has statistics of the cluster, its databases, nodes and shards', () =>
    inVirtualTime({}, async ({cluster, simulator}) => {
      world().bdb('local').into(simulator)
      expect((await cluster('GET', '/v1/cluster/stats/last')).json).toHaveProperty('total_req')
      expect(Object.keys((await cluster('GET', '/v1/bdbs/stats/last')).json)).toEqual(['1'])
      expect(Object.keys((await cluster('GET', '/v1/nodes/stats/last')).json)).toEqual(['1', '2', '3'])
      expect(Object.keys((await cluster('GET', '/v1/shards/stats/last')).json)).toEqual(['1'])
    }))

  it('tells the same of an endpoint in both shapes', () =>
    inVirtualTime({}, async ({cluster, simulator}) => {
      world().bdb('local', {port: 12345}).into(simulator)
      const [record] = (await cluster('GET', '/v1/endpoints/stats')).json
      simulator.configure({cluster: {endpointStats: 'intervals'}})
      const [{uid, intervals}] = (await cluster('GET', '/v1/endpoints/stats')).json
      expect(record).toMatchObject({endpoint_name: 'redis-12345.cluster.local:12345', bdb_uid: 1})
      expect(uid).toBe('1:1:1')
      expect(record.requests_per_sec).toBe(intervals[0].total_req)
      expect(record.bandwidth_in_mbps).toBe((intervals[0].ingress_bytes * 8) / 1e6)
      expect(record.avg_latency_ms).toBeCloseTo(intervals[0].acc_latency / intervals[0].total_res / 1000)
      simulator.configure({cluster: {endpointStats: 'none'}})
      expect((await cluster('GET', '/v1/endpoints/stats')).status).toBe(404)
    }))

  it('says with an empty answer that a database is available, and with a code why not', () =>
    inVirtualTime({}, async ({cluster, simulator}) => {
      world().bdb('local').into(simulator)
      expect(await cluster('GET', '/v1/bdbs/1/availability')).toMatchObject({status: 200, text: ''})
      simulator.world.cluster.unavailable['1'] = 'no_quorum'
      expect(await cluster('GET', '/v1/bdbs/1/availability')).toMatchObject({status: 503, json: {error_code: 'no_quorum'}})
      expect((await cluster('GET', '/v1/bdbs/2/availability')).status).toBe(404)
      simulator.configure({cluster: {availability: {path: 'local', body: 'record'}}})
      expect((await cluster('GET', '/v1/bdbs/1/availability')).status).toBe(404)
      expect((await cluster('GET', '/v1/local/bdbs/1/endpoint/availability')).json).toMatchObject({bdb_uid: 1, available: false})
      simulator.configure({cluster: {availability: {path: 'none'}}})
      expect((await cluster('GET', '/v1/local/bdbs/1/endpoint/availability')).status).toBe(404)
    }))

  it.each([
    ['message', '{"message":"There is no bdb 9.","error_code":"bdb_not_exist"}'],
    ['empty', ''],
    ['html', '<html><head><title>404</title></head><body><h1>404</h1></body></html>'],
  ] as const)('may tell errors as %s', (errors, text) =>
    inVirtualTime({cluster: {errors}}, async ({cluster}) => {
      expect(await cluster('GET', '/v1/bdbs/9')).toMatchObject({status: 404, text})
    }),
  )

  it('may send clients to the primary node, here or elsewhere', () =>
    inVirtualTime({cluster: {redirect: {}}}, async ({cluster, simulator}) => {
      const sent = await cluster('GET', '/v1/nodes?limit=1')
      expect([sent.status, sent.headers.location]).toEqual([307, 'https://cluster.simulator:9443/primary/v1/nodes?limit=1'])
      expect((await cluster('GET', '/primary/v1/nodes?limit=1')).json).toHaveLength(1)
      simulator.configure({cluster: {redirect: {status: 302, to: 'https://elsewhere.example', methods: ['PUT']}}})
      expect((await cluster('PUT', '/v1/nodes/1', {})).headers.location).toBe('https://elsewhere.example/v1/nodes/1')
      expect((await cluster('GET', '/v1/nodes')).status).toBe(200)
    }))

  it('may be rate limited, not ready, without actions and without v2', () =>
    inVirtualTime({cluster: {rateLimit: {perMinute: 60, burst: 1}}}, async ({cluster, simulator}) => {
      expect((await cluster('GET', '/v1/nodes')).status).toBe(200)
      expect((await cluster('GET', '/v1/nodes')).status).toBe(429)
      simulator.configure({cluster: {rateLimit: null, notReady: true}})
      expect((await cluster('GET', '/v1/nodes')).status).toBe(503)
      simulator.configure({cluster: {notReady: false, actions: false, v2: false}})
      expect((await cluster('GET', '/v1/actions')).status).toBe(404)
      expect((await cluster('GET', '/v2/bdbs')).status).toBe(404)
    }))
})

describe('modules of the cluster', () => {
  const form = (name = 'module', content = 'PK\u0003\u0004zip') =>
    `--xyz\r\ncontent-disposition: form-data; name="${name}"; filename="graph.zip"\r\ncontent-type: application/zip\r\n\r\n${content}\r\n--xyz--\r\n`
  const type = {'content-type': 'multipart/form-data; boundary=xyz'}

  it('are listed, shown, uploaded and deleted', () =>
    inVirtualTime({}, async ({cluster}) => {
      expect((await cluster('GET', '/v1/modules')).json.map((it: {module_name: string}) => it.module_name)).toEqual(['ReJSON', 'search'])
      const uploaded = await cluster('POST', '/v2/modules', form(), type)
      expect(uploaded.json).toMatchObject({uid: 3, module_name: 'graph', size: 7})
      expect((await cluster('GET', '/v1/modules/3')).json.module_name).toBe('graph')
      expect((await cluster('DELETE', '/v1/modules/3')).status).toBe(200)
      expect((await cluster('GET', '/v1/modules/3')).status).toBe(404)
    }))

  it('are refused when the form has another part or no zip in it', () =>
    inVirtualTime({}, async ({cluster}) => {
      expect((await cluster('POST', '/v2/modules', form('file'), type)).json.error_code).toBe('no_module')
      expect((await cluster('POST', '/v2/modules', form('module', 'text'), type)).json.error_code).toBe('invalid_module')
      expect((await cluster('POST', '/v2/modules', '{}', {'content-type': 'application/json'})).status).toBe(400)
    }))

  it('may be taken by the older path alone, with a long id and an action, or not at all', () =>
    inVirtualTime({cluster: {moduleUpload: 'v1', moduleIds: 'hex', moduleAction: true}}, async ({cluster, clock, simulator}) => {
      expect((await cluster('POST', '/v2/modules', form(), type)).status).toBe(404)
      const {uid, action_uid} = (await cluster('POST', '/v1/modules', form(), type)).json
      expect(uid).toMatch(/^[0-9a-f]{32}$/)
      await clock.sleep(200)
      expect((await cluster('GET', `/v1/actions/${action_uid}`)).json.status).toBe('completed')
      simulator.configure({cluster: {moduleUpload: 'none'}})
      expect((await cluster('POST', '/v2/modules', form(), type)).status).toBe(404)
      expect((await cluster('POST', '/v1/modules', form(), type)).status).toBe(405)
    }))
})
