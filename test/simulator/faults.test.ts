import {describe, expect, it} from 'vitest'
import {createSimulator, world} from '../../src/simulator/index.ts'
import type {ConnectionError} from '../../src/transport/connection-error.ts'
import {CLOUD_KEYS, clientOf, inVirtualTime} from './client.ts'

const failure = async (work: Promise<unknown>): Promise<ConnectionError> =>
  work.then(
    () => expect.unreachable('the connection held'),
    error => error,
  )

describe('a fault', () => {
  it('strikes the requests it matches, after some, so many times', () =>
    inVirtualTime({}, async ({cloud, simulator}) => {
      simulator.inject({
        match: {api: 'cloud', method: 'get', path: '/subscriptions/*'},
        after: 1,
        times: 2,
        action: {type: 'status', status: 503},
      })
      const statuses = []
      for (let at = 0; at < 5; at++) statuses.push((await cloud('GET', '/subscriptions/1')).status)
      statuses.push((await cloud('GET', '/subscriptions')).status)
      expect(statuses).toEqual([404, 503, 503, 404, 404, 200])
    }))

  it('matches regular expressions too', () =>
    inVirtualTime(
      {faults: [{match: {path: 're:^/tasks/?$'}, action: {type: 'status', status: 500, body: {why: 'told to'}}}]},
      async ({cloud}) => {
        expect((await cloud('GET', '/tasks')).json).toEqual({why: 'told to'})
      },
    ))

  it('breaks the connection before or after the effect', () =>
    inVirtualTime({cloud: {asynchronous: false}}, async ({cloud, simulator}) => {
      simulator.inject({times: 1, action: {type: 'drop-before-effect'}})
      expect(await failure(cloud('POST', '/subscriptions', {name: 'a'}))).toMatchObject({code: 'E_CONNECTION_LOST', arrived: true})
      expect((await cloud('GET', '/subscriptions')).json).toEqual([])
      simulator.clearFaults()
      simulator.inject({times: 1, action: {type: 'drop-after-effect'}})
      expect(await failure(cloud('POST', '/subscriptions', {name: 'a'}))).toMatchObject({arrived: true})
      expect((await cloud('GET', '/subscriptions')).json).toHaveLength(1)
    }))

  it('refuses a connection, which proves that nothing arrived', () =>
    inVirtualTime({}, async ({cloud, simulator}) => {
      simulator.inject({action: {type: 'refuse'}})
      expect(await failure(cloud('GET', '/'))).toMatchObject({code: 'E_CONNECTION_REFUSED', arrived: false})
    }))

  it('hangs until the client gives up', () =>
    inVirtualTime({}, async ({clock, simulator}) => {
      simulator.inject({action: {type: 'hang'}})
      const request = {method: 'GET', url: `${simulator.bases.cloud}/`, headers: CLOUD_KEYS}
      const before = clock.now()
      expect(await failure(simulator.transport({...request, timeoutMs: 30_000}))).toMatchObject({code: 'E_REQUEST_TIMEOUT'})
      expect(clock.now() - before).toBe(30_000)
      const stop = new AbortController()
      const hanging = failure(simulator.transport({...request, signal: stop.signal}))
      await clock.sleep(10)
      stop.abort()
      expect(await hanging).toMatchObject({code: 'E_REQUEST_ABORTED'})
    }))

  it('spoils the answer: garbage, cut short and complete, cut in the middle', () =>
    inVirtualTime({}, async ({cloud, simulator}) => {
      simulator.inject({times: 1, action: {type: 'garbage'}})
      expect(await cloud('GET', '/regions')).toMatchObject({status: 200, json: undefined})
      simulator.clearFaults()
      simulator.inject({times: 1, action: {type: 'truncate', bytes: 5}})
      expect((await cloud('GET', '/regions')).text).toBe('[{"id')
      simulator.clearFaults()
      simulator.inject({times: 1, action: {type: 'cut'}})
      expect(await failure(cloud('GET', '/regions'))).toMatchObject({code: 'E_CONNECTION_LOST', arrived: true})
    }))

  it('delays', () =>
    inVirtualTime({faults: [{action: {type: 'delay', ms: 700}}]}, async ({cloud, clock}) => {
      const before = clock.now()
      await cloud('GET', '/')
      expect(clock.now() - before).toBe(700)
    }))

  it('lets a task fail with a code, a message and a field', () =>
    inVirtualTime({}, async ({cloud, clock, simulator}) => {
      world().subscription('a').into(simulator)
      simulator.inject({match: {method: 'POST'}, action: {type: 'fail-task', code: 'QUOTA', message: 'No room.', field: 'memoryLimitInGb'}})
      const {taskId} = (await cloud('POST', '/subscriptions/1/databases', {name: 'one', memoryLimitInGb: 1})).json
      await clock.sleep(200)
      expect((await cloud('GET', `/tasks/${taskId}`)).json).toMatchObject({
        status: 'failed',
        response: {error: {code: 'QUOTA', message: 'No room.', details: {field: 'memoryLimitInGb'}}},
      })
      expect((await cloud('GET', '/subscriptions/1/databases')).json).toEqual([])
    }))

  it('lets an object end in error', () =>
    inVirtualTime({faults: [{match: {method: 'POST'}, action: {type: 'end-status'}}]}, async ({cloud, cluster, clock}) => {
      await cloud('POST', '/subscriptions', {name: 'a'})
      await cluster('POST', '/v1/bdbs', {name: 'local', memory_size: 1})
      await clock.sleep(1000)
      expect((await cloud('GET', '/subscriptions/1')).json.status).toBe('error')
      expect((await cluster('GET', '/v1/bdbs/1')).json.status).toBe('error')
    }))
})

describe('the request log', () => {
  it('tells every request in order, with its time, its answer and its fault, and no secret', () =>
    inVirtualTime({}, async ({cloud, cluster, clock, simulator}) => {
      await cloud('GET', '/subscriptions?limit=5')
      await clock.sleep(50)
      await cluster('POST', '/v1/users', {name: 'ops', password: 'hush'})
      simulator.inject({action: {type: 'drop-before-effect'}})
      await failure(cloud('DELETE', '/subscriptions/1'))
      const at = Date.UTC(2026, 0, 1)
      expect(simulator.log).toEqual([
        {sequence: 1, at, api: 'cloud', method: 'GET', path: '/subscriptions', query: 'limit=5', status: 200},
        {
          sequence: 2,
          at: at + 50,
          api: 'cluster',
          method: 'POST',
          path: '/v1/users',
          query: '',
          status: 200,
          body: {name: 'ops', password: '***'},
        },
        {
          sequence: 3,
          at: at + 50,
          api: 'cloud',
          method: 'DELETE',
          path: '/subscriptions/1',
          query: '',
          status: 0,
          fault: 'drop-before-effect',
        },
      ])
    }))
})

describe('a snapshot', () => {
  it('takes the budget and the faults along, into another simulator too', () =>
    inVirtualTime({cloud: {rateLimit: {perMinute: 60, burst: 2}}}, async ({cloud, clock, simulator}) => {
      simulator.inject({match: {path: '/tasks'}, times: 1, action: {type: 'status', status: 500}})
      expect((await cloud('GET', '/tasks')).status).toBe(500)
      await cloud('GET', '/')
      const other = createSimulator({clock})
      other.restore(simulator.snapshot())
      expect((await clientOf(other).cloud('GET', '/tasks')).headers['x-ratelimit-remaining']).toBe('0')
      expect((await clientOf(other).cloud('GET', '/tasks')).status).toBe(429)
    }))

  it('brings the world back, what was still to come included', () =>
    inVirtualTime({cloud: {taskMs: 1000, readyMs: 0}}, async ({cloud, clock, simulator}) => {
      await cloud('POST', '/subscriptions', {name: 'a'})
      const snapshot = simulator.snapshot()
      await cloud('POST', '/subscriptions', {name: 'b'})
      await clock.sleep(1000)
      expect((await cloud('GET', '/subscriptions')).json).toHaveLength(2)
      simulator.restore(snapshot)
      expect((await cloud('GET', '/subscriptions')).json).toEqual([{id: 1, name: 'a', status: 'active'}])
      expect((await cloud('GET', '/tasks')).json).toHaveLength(1)
    }))
})
