import {describe, expect, it} from 'vitest'
import {world} from '../../src/simulator/index.ts'
import {inVirtualTime, type Loose} from './client.ts'

const ONE = {name: 'one', memoryLimitInGb: 1}

describe('lists of the cloud API', () => {
  const five = () => world().subscription('a').subscription('b').subscription('c').subscription('d').subscription('e')
  const names = (rows: Loose) => rows.map((row: Loose) => row.name)

  it('may cap a page silently', () =>
    inVirtualTime({cloud: {paging: {maxLimit: 2}}}, async ({cloud, simulator}) => {
      five().into(simulator)
      expect(names((await cloud('GET', '/subscriptions?limit=1000')).json)).toEqual(['a', 'b'])
      expect(names((await cloud('GET', '/subscriptions?limit=1000&offset=4')).json)).toEqual(['e'])
    }))

  it('may refuse a large page', () =>
    inVirtualTime({cloud: {paging: {maxLimit: 100, largeLimit: 'refuse'}}}, async ({cloud}) => {
      expect((await cloud('GET', '/subscriptions?limit=101')).json.error.details).toEqual({field: 'limit', constraint: 'max 100'})
      expect((await cloud('GET', '/subscriptions?limit=100')).status).toBe(200)
    }))

  it('may ignore limit and offset', () =>
    inVirtualTime({cloud: {paging: {ignored: true, defaultLimit: 3}}}, async ({cloud, simulator}) => {
      five().into(simulator)
      expect(names((await cloud('GET', '/subscriptions?limit=1&offset=3')).json)).toEqual(['a', 'b', 'c'])
    }))

  it('may look at limit alone', () =>
    inVirtualTime({cloud: {paging: {ignored: 'offset', maxLimit: 3}}}, async ({cloud, simulator}) => {
      five().into(simulator)
      expect(names((await cloud('GET', '/subscriptions?limit=1000&offset=3')).json)).toEqual(['a', 'b', 'c'])
      expect(names((await cloud('GET', '/subscriptions?limit=1&offset=3')).json)).toEqual(['a'])
    }))

  it('keep one shuffled order over all pages', () =>
    inVirtualTime({cloud: {shuffled: true}}, async ({cloud, simulator}) => {
      five().into(simulator)
      const whole = names((await cloud('GET', '/subscriptions')).json)
      const pages = [
        ...names((await cloud('GET', '/subscriptions?limit=3')).json),
        ...names((await cloud('GET', '/subscriptions?limit=3&offset=3')).json),
      ]
      expect(whole).not.toEqual(['a', 'b', 'c', 'd', 'e'])
      expect(pages).toEqual(whole)
    }))

  it('may show the state before a change for a while', () =>
    inVirtualTime({cloud: {asynchronous: false, readyMs: 0, listLagMs: 1000}}, async ({cloud, clock, simulator}) => {
      world().subscription('a').database('cache').into(simulator)
      await cloud('PUT', '/subscriptions/1/databases/1', {memoryLimitInGb: 2})
      await cloud('POST', '/subscriptions/1/databases', ONE)
      expect((await cloud('GET', '/subscriptions/1/databases/1')).json.memoryLimitInGb).toBe(2)
      const sizes = async () => (await cloud('GET', '/subscriptions/1/databases')).json.map((row: Loose) => [row.name, row.memoryLimitInGb])
      expect(await sizes()).toEqual([['cache', 1]])
      await clock.sleep(1000)
      expect(await sizes()).toEqual([
        ['cache', 2],
        ['one', 1],
      ])
      await cloud('DELETE', '/subscriptions/1/databases/1')
      expect((await cloud('GET', '/subscriptions/1/databases/1')).status).toBe(404)
      expect(await sizes()).toHaveLength(2)
      await clock.sleep(1000)
      expect(await sizes()).toHaveLength(1)
    }))

  it('may answer a task that holds the list', () =>
    inVirtualTime({cloud: {asynchronousLists: ['peerings']}}, async ({cloud, clock, simulator}) => {
      world().subscription('a').peering({vpcId: 'vpc-1'}).into(simulator)
      const begun = await cloud('GET', '/subscriptions/1/peerings')
      expect(begun.status).toBe(202)
      await clock.sleep(200)
      const {response} = (await cloud('GET', `/tasks/${begun.json.taskId}`)).json
      expect(response.resource).toEqual([{id: 'pcx-1', vpcId: 'vpc-1', status: 'pending-acceptance'}])
    }))
})

describe('answers of the cloud API', () => {
  it.each([
    ['object', 201, true],
    ['empty', 201, false],
    ['no-content', 204, false],
  ] as const)('may be synchronous: %s', (synchronousAnswer, status, hasBody) =>
    inVirtualTime({cloud: {asynchronous: false, synchronousAnswer}}, async ({cloud, simulator}) => {
      world().subscription('a').into(simulator)
      const created = await cloud('POST', '/subscriptions/1/databases', ONE)
      expect(created.status).toBe(status)
      expect(created.json?.name).toBe(hasBody ? 'one' : undefined)
      expect((await cloud('GET', '/subscriptions/1/databases')).json).toHaveLength(1)
    }),
  )

  it('may carry a task under 200', () =>
    inVirtualTime({cloud: {taskAnswer: 200}}, async ({cloud}) => {
      const created = await cloud('POST', '/subscriptions', {name: 'a'})
      expect([created.status, typeof created.json.taskId]).toEqual([200, 'string'])
    }))

  it('may leave the new id out of a task, cap the list of tasks, or have none', () =>
    inVirtualTime({cloud: {taskResourceId: false, taskList: {maxRows: 1}}}, async ({cloud, clock, simulator}) => {
      const {taskId} = (await cloud('POST', '/subscriptions', {name: 'a'})).json
      await cloud('POST', '/subscriptions', {name: 'b'})
      await clock.sleep(200)
      expect((await cloud('GET', `/tasks/${taskId}`)).json).not.toHaveProperty('response')
      expect((await cloud('GET', '/tasks')).json).toHaveLength(1)
      simulator.configure({cloud: {taskList: {maxRows: null, runningOnly: true}}})
      expect((await cloud('GET', '/tasks')).json).toEqual([])
      simulator.configure({cloud: {taskList: {served: false}}})
      expect((await cloud('GET', '/tasks')).status).toBe(404)
    }))

  it('show a new object at once where they are told to', () =>
    inVirtualTime({cloud: {appears: 'accepted'}}, async ({cloud}) => {
      await cloud('POST', '/subscriptions', {name: 'a'})
      expect((await cloud('GET', '/subscriptions')).json).toEqual([{id: 1, name: 'a', status: 'pending'}])
    }))

  it('may forget a field, and may demand that a user has a rule', () =>
    inVirtualTime({cloud: {ignoredFields: ['replication'], checkRoles: true, asynchronous: false}}, async ({cloud, simulator}) => {
      world().subscription('a').into(simulator)
      await cloud('POST', '/subscriptions/1/databases', {...ONE, replication: true})
      expect((await cloud('GET', '/subscriptions/1/databases/1')).json).not.toHaveProperty('replication')
      expect((await cloud('POST', '/subscriptions/1/databases/1/acl/users', {name: 'app', role: 'none'})).status).toBe(400)
    }))

  it('may refuse a name that does not change', () =>
    inVirtualTime({cloud: {refuseUnchangedName: true}}, async ({cloud, simulator}) => {
      world().subscription('a').into(simulator)
      expect((await cloud('PUT', '/subscriptions/1', {name: 'a'})).status).toBe(400)
      expect((await cloud('PUT', '/subscriptions/1', {name: 'b'})).status).toBe(202)
    }))

  it.each(['text', 'empty'] as const)('may spell every error as %s', errors =>
    inVirtualTime({cloud: {errors}}, async ({cloud}) => {
      const missing = await cloud('GET', '/subscriptions/9')
      expect([missing.status, missing.text]).toEqual([404, errors === 'text' ? 'Subscription 9 not found.' : ''])
    }),
  )
})

describe('limits of the cloud API', () => {
  it('count requests in a bucket, tell of it in headers, and fill it again', () =>
    inVirtualTime({cloud: {rateLimit: {perMinute: 60, burst: 2}, retryAfter: 'seconds'}}, async ({cloud, clock}) => {
      expect((await cloud('GET', '/')).headers).toMatchObject({'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '1'})
      await cloud('GET', '/')
      const refused = await cloud('GET', '/')
      expect([refused.status, refused.headers['retry-after'], refused.headers['x-ratelimit-remaining']]).toEqual([429, '1', '0'])
      await clock.sleep(1000)
      expect((await cloud('GET', '/')).status).toBe(200)
    }))

  it('spell the headers with another dash and the wait as a date', () =>
    inVirtualTime({cloud: {rateLimit: {perMinute: 60, burst: 1}, retryAfter: 'date', rateHeaders: 'x-rate-limit'}}, async ({cloud}) => {
      expect((await cloud('GET', '/')).headers).toHaveProperty('x-rate-limit-remaining', '0')
      expect((await cloud('GET', '/')).headers['retry-after']).toBe('Thu, 01 Jan 2026 00:00:01 GMT')
    }))

  it('share the bucket with somebody else', () =>
    inVirtualTime({cloud: {rateLimit: {perMinute: 60, burst: 1, foreignPerMinute: 30}}}, async ({cloud, clock}) => {
      await cloud('GET', '/')
      await clock.sleep(1000)
      expect((await cloud('GET', '/')).status).toBe(429)
      await clock.sleep(1000)
      expect((await cloud('GET', '/')).status).toBe(200)
    }))

  it('allow so many running changes, and say so with requests left', () =>
    inVirtualTime({cloud: {maxConcurrentChanges: 1, rateLimit: {}}}, async ({cloud, clock}) => {
      await cloud('POST', '/subscriptions', {name: 'a'})
      const refused = await cloud('POST', '/subscriptions', {name: 'b'})
      expect([refused.status, refused.json.error.code, refused.headers['x-ratelimit-remaining']]).toEqual([
        429,
        'TOO_MANY_CONCURRENT_CHANGES',
        '148',
      ])
      await clock.sleep(200)
      expect((await cloud('POST', '/subscriptions', {name: 'b'})).status).toBe(202)
    }))

  it('let the task of a change fail while its subscription is busy', () =>
    inVirtualTime({cloud: {busy: 'task', taskWords: 'long'}}, async ({cloud, clock, simulator}) => {
      world().subscription('a').into(simulator)
      await cloud('POST', '/subscriptions/1/databases', ONE)
      const {taskId} = (await cloud('POST', '/subscriptions/1/databases', {name: 'two', memoryLimitInGb: 1})).json
      await clock.sleep(400)
      expect((await cloud('GET', `/tasks/${taskId}`)).json).toMatchObject({
        status: 'processing-error',
        response: {error: {type: 'SUBSCRIPTION_NOT_ACTIVE', status: '403 FORBIDDEN'}},
      })
      expect((await cloud('GET', '/subscriptions/1/databases')).json).toHaveLength(1)
    }))

  it('allow so many subscriptions that are not active', () =>
    inVirtualTime({cloud: {maxPendingSubscriptions: 1, busy: '409'}}, async ({cloud, clock}) => {
      await cloud('POST', '/subscriptions', {name: 'a'})
      expect((await cloud('POST', '/subscriptions', {name: 'b'})).json.error.code).toBe('TOO_MANY_PENDING_SUBSCRIPTIONS')
      await clock.sleep(400)
      expect((await cloud('POST', '/subscriptions', {name: 'b'})).status).toBe(202)
    }))
})

describe('the same seed', () => {
  const story = async (seed: number) => {
    let text = ''
    await inVirtualTime(
      {spelling: 'wire', cloud: {taskMs: {min: 100, max: 900}, shuffled: true}},
      async ({cloud, clock, simulator}) => {
        const alerts = [1, 2, 3, 4, 5].map(value => ({name: `alert-${value}`, value}))
        world().subscription('a').database('cache', {alerts}).into(simulator)
        text += (await cloud('POST', '/subscriptions', {name: 'b'})).text
        await clock.sleep(500)
        text += (await cloud('GET', '/tasks')).text + (await cloud('GET', '/subscriptions/1/databases/1')).text
      },
      seed,
    )
    return text
  }

  it('gives the same answers, another one other answers', async () => {
    expect(await story(7)).toBe(await story(7))
    expect(await story(7)).not.toBe(await story(8))
  })
})
