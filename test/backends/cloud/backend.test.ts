import {describe, expect, it} from 'vitest'
import type {BackendWarning} from '../../../src/backends/api/warning.ts'
import {openCloudBackend} from '../../../src/backends/cloud/backend.ts'
import {readCloudAccount} from '../../../src/backends/cloud/cloud-api.ts'
import {systemClock} from '../../../src/base/clock.ts'
import {VirtualClock} from '../../../src/base/virtual-clock.ts'
import {PRIORITY} from '../../../src/engine/model/backend.ts'
import {answering, type Scripted, scriptedClient} from '../scripted-client.ts'

const create = {method: 'POST', path: '/subscriptions/1/databases', body: {name: 'cache'}} as const
const update = {method: 'PUT', path: '/subscriptions/1/databases/2', body: {name: 'cache'}} as const
const remove = {method: 'DELETE', path: '/subscriptions/1/databases/2'} as const

const cloudThat = (answer: Scripted, options = {}) =>
  openCloudBackend(
    scriptedClient(() => answer),
    {clock: systemClock, ...options},
  )
const refusal = (status: number, code: string, details = {}): Scripted => ({status, json: {error: {code, message: 'no', details}}})
const html = '<html><head><title>Sign in</title></head></html>'

describe('a write to the cloud', () => {
  it('sends exactly what the kind asked for', async () => {
    const client = answering({'POST /subscriptions/1/databases': {status: 202, json: {taskId: 't'}}})
    await openCloudBackend(client, {clock: systemClock}).write(create, {priority: 7})
    expect(client.calls).toMatchObject([{call: create, options: {priority: 7}}])
  })

  it.each([
    ['202 with a task', {status: 202, json: {taskId: 't', status: 'received'}}, {outcome: 'accepted', taskId: 't'}],
    ['200 with a task', {status: 200, json: {taskId: 't'}}, {outcome: 'accepted', taskId: 't'}],
    ['201 with the object', {status: 201, json: {databaseId: 2}}, {outcome: 'accepted', body: {databaseId: 2}}],
    ['200 with an empty body', {status: 200}, {outcome: 'accepted'}],
    ['204', {status: 204}, {outcome: 'accepted'}],
    ['a success that is cut short: the task it began is not known', {status: 202, text: '{"taskId": "t'}, {outcome: 'unknown'}],
    ['a page in place of the API', {status: 200, text: html}, {outcome: 'unknown'}],
    ['404', refusal(404, 'NOT_FOUND'), {outcome: 'gone'}],
    ['409', refusal(409, 'CONFLICT'), {outcome: 'busy', reason: 'no (409 CONFLICT)'}],
    [
      '409 in the other shape',
      {status: 409, json: {status: 409, error: 'Conflict', message: 'wait'}},
      {outcome: 'busy', reason: 'wait (409)'},
    ],
    ['409 for a name that is taken', refusal(409, 'DATABASE_NAME_ALREADY_EXISTS'), {outcome: 'refused', error: {code: 'E_CLOUD_REFUSED'}}],
    ['403 that means "not now"', refusal(403, 'SUBSCRIPTION_NOT_ACTIVE'), {outcome: 'busy', reason: 'no (403 SUBSCRIPTION_NOT_ACTIVE)'}],
    ['400 with too many at once', refusal(400, 'TOO_MANY_PENDING_SUBSCRIPTIONS'), {outcome: 'crowded'}],
    ['429 of the rate', refusal(429, 'TOO_MANY_REQUESTS'), {outcome: 'unsent', error: {code: 'E_CLOUD_RATE_LIMITED', exit: 8}}],
    ['429 of changes', refusal(429, 'TOO_MANY_CONCURRENT_CHANGES'), {outcome: 'crowded'}],
    ['400', refusal(400, 'INVALID_REQUEST'), {outcome: 'refused', error: {code: 'E_CLOUD_REFUSED', exit: 1}}],
    ['401', {status: 401}, {outcome: 'refused', error: {code: 'E_CLOUD_UNAUTHORIZED', exit: 9}}],
    ['403', refusal(403, 'FORBIDDEN'), {outcome: 'refused', error: {code: 'E_CLOUD_FORBIDDEN', exit: 9}}],
    ['500', refusal(500, 'INTERNAL'), {outcome: 'unknown', error: {code: 'E_CLOUD_OUTCOME_UNKNOWN'}}],
    ['502 of a gateway', {status: 502, text: html}, {outcome: 'unknown'}],
    ['503', refusal(503, 'UNAVAILABLE'), {outcome: 'unknown'}],
    ['501', {status: 501}, {outcome: 'refused'}],
    ['a redirect', {status: 307, headers: {location: 'https://elsewhere/'}}, {outcome: 'refused'}],
  ] satisfies [string, Scripted, object][])('that is answered by %s', async (_, answer, outcome) => {
    for (const request of [create, update, remove]) expect(await cloudThat(answer).write(request)).toMatchObject(outcome)
  })

  it('is unknown when the connection broke after it was sent, and unsent when it never left', async () => {
    expect(await cloudThat('lost').write(create)).toMatchObject({outcome: 'unknown', error: {exit: 6, cause: {code: 'E_TEST_CONNECTION'}}})
    expect(await cloudThat('unsent').write(create)).toMatchObject({outcome: 'unsent', error: {code: 'E_TEST_CONNECTION'}})
  })

  it('takes a bare 429 for too many changes while changes are running, and for the rate otherwise', async () => {
    expect(await cloudThat({status: 429}, {changesInFlight: () => 3}).write(create)).toMatchObject({outcome: 'crowded'})
    expect(await cloudThat({status: 429}, {changesInFlight: () => 0}).write(create)).toMatchObject({outcome: 'unsent'})
  })

  it('names the field that is wrong, and says to set it', async () => {
    const answer = refusal(400, 'INVALID_REQUEST', {field: 'memoryLimitInGb', constraint: 'required'})
    expect(await cloudThat(answer).write(create)).toMatchObject({
      error: {
        message: 'POST /subscriptions/1/databases was refused: no (400 INVALID_REQUEST)',
        suggestions: ['Set "memoryLimitInGb" in the stack (the API says: required), then plan again.'],
      },
    })
  })
})

describe('a read from the cloud', () => {
  const read = {method: 'GET', path: '/subscriptions/1'} as const

  it('is nothing for a 404', async () => {
    expect(await cloudThat({status: 404, text: 'not found'}).reader.read(read)).toBeUndefined()
  })

  it.each([
    [
      {status: 401, text: 'who are you'},
      {code: 'E_CLOUD_UNAUTHORIZED', exit: 9, raw: 'who are you'},
    ],
    [{status: 401}, {message: 'GET /subscriptions/1: the API does not accept the credentials (they come from profile prod): (401)'}],
    [
      {status: 403, text: html},
      {code: 'E_CLOUD_FORBIDDEN', message: expect.stringContaining('Sign in (403)')},
    ],
    [{status: 429}, {code: 'E_CLOUD_RATE_LIMITED', exit: 8}],
    [
      {status: 500, json: {timestamp: 'x', status: 500, error: 'Internal', message: 'oops', path: '/'}},
      {code: 'E_CLOUD_SERVER', exit: 1},
    ],
    ['unsent' as const, {code: 'E_TEST_CONNECTION', exit: 13}],
  ] satisfies [Scripted, object][])('answered by %j is an error with a next step', async (answer, error) => {
    const cloud = cloudThat(answer, {credentialSource: 'profile prod'})
    await expect(cloud.reader.read(read)).rejects.toMatchObject(error)
  })

  it('is asked for again when it is cut short, after one second and two', async () => {
    const clock = new VirtualClock(0)
    const client = answering({'GET /subscriptions/1': [{text: '{"id": 1'}, {text: html}, {json: {id: 1}}]})
    const row = await clock.run(openCloudBackend(client, {clock}).reader.read(read))
    expect(row).toEqual({id: 1})
    expect(clock.now()).toBe(3_000)
  })

  it('is an error when it stays unreadable, and shows how it begins', async () => {
    const clock = new VirtualClock(0)
    const client = answering({'GET /subscriptions?limit=1000&offset=0': {text: html}})
    await expect(clock.run(openCloudBackend(client, {clock}).reader.list({method: 'GET', path: '/subscriptions'}))).rejects.toMatchObject({
      code: 'E_CLOUD_UNREADABLE',
      message: expect.stringContaining('<title>Sign in</title>'),
      raw: html,
    })
    expect(client.asked).toHaveLength(3)
  })

  it('takes a list of the wrong type for unreadable, never for empty', async () => {
    for (const answer of [{json: {accountId: 1}}, {json: 'x'}, {status: 200, text: ''}, {status: 204}] satisfies Scripted[]) {
      const clock = new VirtualClock(0)
      const list = openCloudBackend(
        scriptedClient(() => answer),
        {clock},
      ).reader.list({method: 'GET', path: '/subscriptions'})
      await expect(clock.run(list)).rejects.toMatchObject({code: 'E_CLOUD_UNREADABLE'})
    }
  })

  it('follows the task of an object that is read asynchronously', async () => {
    const client = answering({
      'GET /subscriptions/1': {status: 202, json: {taskId: 't'}},
      'GET /tasks/t': {json: {taskId: 't', status: 'completed', response: {resource: {id: 1, name: 'orders'}}}},
    })
    expect(await openCloudBackend(client, {clock: systemClock}).reader.read(read)).toEqual({id: 1, name: 'orders'})
  })

  it.each([
    [{id: 1001, name: 'Shop'}, '1001'],
    [{account: {id: 1001, name: 'Shop'}}, '1001'],
    [{accountId: '1001'}, '1001'],
    [{name: 'Shop'}, 'Shop'],
    [{b: 1, a: 2}, '{"a":2,"b":1}'],
  ])('tells accounts apart: %j', async (json, key) => {
    expect(await readCloudAccount(cloudThat({json}))).toMatchObject({key})
  })
})

describe('the tasks of the account', () => {
  const list = (...ids: string[]) => ({json: {tasks: ids.map(taskId => ({taskId, status: 'completed'}))}})
  const first = 'GET /tasks?limit=1000&offset=0'

  it('come with one request in a poll, even where the list is not proven', async () => {
    const client = answering({[first]: list('a', 'b')})
    const tasks = await openCloudBackend(client, {clock: systemClock}).tasks({priority: PRIORITY.poll})
    expect(tasks).toMatchObject({tasks: [{id: 'a', state: 'done'}, {id: 'b'}], complete: false})
    expect(client.asked).toEqual([first])
  })

  it('are proven for any other look', async () => {
    const client = answering({[first]: list('a', 'b'), 'GET /tasks?limit=1000&offset=1': list('b')})
    expect(await openCloudBackend(client, {clock: systemClock}).tasks({priority: PRIORITY.read})).toMatchObject({complete: true})
    expect(client.asked).toHaveLength(2)
  })

  it('are not complete where a task is missing that is known to exist', async () => {
    const client = answering({
      [first]: list('a', 'b'),
      'GET /tasks?limit=1000&offset=1': list('b'),
      'GET /tasks/hidden': {json: {taskId: 'hidden', status: 'processing'}},
    })
    const cloud = openCloudBackend(client, {clock: systemClock})
    await cloud.task('hidden')
    expect(await cloud.tasks()).toMatchObject({complete: false})
  })

  it('prove nothing about a collection that is cut where they are not, nor does a collection about them', async () => {
    const page = (...names: string[]) => ({json: {subscriptions: names.map((name, i) => ({subscriptionId: 10 + i, name}))}})
    const subscriptions = {method: 'GET', path: '/subscriptions'} as const
    const oneAtATime = answering({[first]: list('a', 'b', 'c'), 'GET /subscriptions?limit=1000&offset=0': page('orders')})
    const cut = openCloudBackend(oneAtATime, {clock: systemClock})
    await cut.tasks({priority: PRIORITY.poll})
    expect(await cut.reader.list(subscriptions)).toMatchObject({rows: [{name: 'orders'}], proven: false})

    const tasksCut = answering({[first]: list('a'), 'GET /subscriptions?limit=1000&offset=0': page('orders', 'shop', 'web')})
    const whole = openCloudBackend(tasksCut, {clock: systemClock})
    await whole.reader.list(subscriptions)
    expect(await whole.tasks({priority: PRIORITY.poll})).toMatchObject({complete: false})
  })

  it('are complete when there are none', async () => {
    expect(await cloudThat({json: []}).tasks()).toEqual({tasks: [], complete: true})
  })

  it('are unavailable where the list answers 404, and are not asked for again once there must be one', async () => {
    const client = answering({'POST /subscriptions/1/databases': {status: 202, json: {taskId: 't'}}})
    const cloud = openCloudBackend(client, {clock: systemClock})
    await cloud.write(create)
    expect(await cloud.tasks()).toBeUndefined()
    expect(await cloud.tasks()).toBeUndefined()
    expect(client.asked.filter(it => it === first)).toHaveLength(1)
  })

  it('are unavailable where these credentials may not read the list', async () => {
    const client = answering({[first]: refusal(403, 'FORBIDDEN')})
    const cloud = openCloudBackend(client, {clock: systemClock})
    expect(await cloud.tasks()).toBeUndefined()
    expect(await cloud.tasks()).toBeUndefined()
    expect(client.asked).toHaveLength(1)
  })

  it('are single tasks too, and nothing for a 404', async () => {
    const client = answering({'GET /tasks/t%2F1': {json: {taskId: 't/1', status: 'processing'}}})
    const cloud = openCloudBackend(client, {clock: systemClock})
    expect(await cloud.task('t/1')).toEqual({id: 't/1', state: 'running', status: 'processing'})
    expect(await cloud.task('other')).toBeUndefined()
  })

  it('warn once of a status that nobody knows, and count as running', async () => {
    const warnings: BackendWarning[] = []
    const cloud = cloudThat({json: {taskId: 't', status: 'on-hold'}}, {onWarning: (it: BackendWarning) => warnings.push(it)})
    expect(await cloud.task('t')).toMatchObject({state: 'running'})
    await cloud.task('t')
    expect(warnings).toEqual([{code: 'W_TASK_STATUS', message: expect.stringContaining('"on-hold"')}])
  })
})
