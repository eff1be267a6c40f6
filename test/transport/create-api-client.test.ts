import {describe, expect, it} from 'vitest'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import type {CallResult} from '../../src/transport/api-client.ts'
import {createBudget, NO_LIMITS} from '../../src/transport/budget.ts'
import {ConnectionError, type ConnectionFailure} from '../../src/transport/connection-error.ts'
import {type ApiClientOptions, createApiClient} from '../../src/transport/create-api-client.ts'
import type {HttpRequest, HttpResponse} from '../../src/transport/http.ts'
import {RequestAllowance} from '../../src/transport/request-allowance.ts'
import type {TransportEvent} from '../../src/transport/transport-event.ts'

type Turn = {status?: number; headers?: Record<string, string>; text?: string} | ConnectionFailure

/** A server that answers its turns one after the other, and 200 when they are over. */
function scripted(turns: readonly Turn[], options: Partial<ApiClientOptions> = {}) {
  const clock = new VirtualClock()
  const began = clock.now()
  const requests: (HttpRequest & {at: number})[] = []
  const events: TransportEvent[] = []
  const left = [...turns]
  const client = createApiClient({
    address: 'https://api.example/v1/',
    authentication: {'X-Api-Key': 'key-1', 'x-api-secret-key': 'hush'},
    transport: async (request): Promise<HttpResponse> => {
      requests.push({...request, at: clock.now() - began})
      const turn = left.shift() ?? {}
      if (typeof turn === 'string') throw new ConnectionError(turn, request)
      const {status = 200, headers = {}, text = ''} = turn
      return {status, headers, body: Buffer.from(text)}
    },
    budget: createBudget({limits: NO_LIMITS, clock}),
    clock,
    onEvent: event => events.push(event),
    ...options,
  })
  const call = (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH',
    path = '/subscriptions',
    more: Parameters<typeof client.call>[1] = {},
  ) => clock.run(client.call({method, path, ...(method === 'GET' || method === 'DELETE' ? {} : {body: {name: 'orders'}})}, more))
  return {client, call, clock, requests, events}
}

const statusOf = (result: CallResult) => (result.answered ? result.answer.status : result.error.code)
const times = (requests: readonly {at: number}[]) => requests.map(({at}) => at)

describe('a call', () => {
  it('goes below the base address, as JSON, with the credentials', async () => {
    const {call, requests} = scripted([{status: 202, text: '{"taskId":"t"}'}])
    const result = await call('POST')
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: 'https://api.example/v1/subscriptions',
      headers: {'x-api-key': 'key-1', 'x-api-secret-key': 'hush', accept: 'application/json', 'content-type': 'application/json'},
      body: '{"name":"orders"}',
      timeoutMs: 30_000,
    })
    expect(result.answered && [result.answer.text, result.answer.attempts]).toEqual(['{"taskId":"t"}', 1])
  })

  it('leaves as long as what was looked at before it says, and each try anew', async () => {
    const {call, requests} = scripted(['unreachable', {status: 202}])
    const result = await call('POST', '/subscriptions', {beforeSend: async () => 2_000})
    expect([statusOf(result), requests.map(it => it.leaveWithinMs)]).toEqual([202, [2_000, 2_000]])
    await call('GET')
    expect(requests.at(-1)?.leaveWithinMs).toBeUndefined()
  })

  it('reads an answer that begins with a byte order mark', async () => {
    const result = await scripted([{text: '\uFEFF{"taskId":"t"}'}]).call('GET')
    expect(result.answered && result.answer.text).toBe('{"taskId":"t"}')
  })

  it('asks for the credentials anew each time, and lets the caller set headers of its own', async () => {
    let key = 0
    const {client, requests} = scripted([], {authentication: () => ({authorization: `Basic ${++key}`})})
    await client.call({method: 'GET', path: '/'})
    await client.call({method: 'GET', path: '/tasks?limit=5', headers: {Accept: 'text/plain'}})
    expect(requests.map(({url, headers}) => [url, headers.authorization, headers.accept])).toEqual([
      ['https://api.example/v1/', 'Basic 1', 'application/json'],
      ['https://api.example/v1/tasks?limit=5', 'Basic 2', 'text/plain'],
    ])
  })

  it('takes 400, 401, 404, 406 and 409 as answers', async () => {
    for (const status of [400, 401, 404, 406, 409]) {
      const {call, requests} = scripted([{status}])
      expect([statusOf(await call('PUT')), requests.length]).toEqual([status, 1])
    }
  })

  it('tells what it did without a header, a body or a secret in a query', async () => {
    const {call, events} = scripted([{status: 500}, {text: '{"password":"hush"}'}])
    await call('GET', '/tasks?api_key=hush&status=processing')
    expect(events).toMatchObject([
      {type: 'asked'},
      {type: 'request', method: 'GET', path: '/tasks?api_key=…&status=processing', status: 500, attempt: 1, waitedMs: 0},
      {type: 'retry', attempt: 1, delayMs: 1_000, because: '500'},
      {type: 'request', status: 200, attempt: 2},
      {type: 'answered'},
    ])
    expect(JSON.stringify(events)).not.toMatch(/hush|key-1/)
  })
})

describe('an id of dots', () => {
  it.each(['/subscriptions/12/peerings/..', '/subscriptions/12/./databases', '/tasks/%2e%2E?x=1', '/subscriptions\\..'])(
    'leads to no other object: %s is not sent',
    async path => {
      const {call, requests} = scripted([])
      for (const method of ['GET', 'DELETE'] as const) await expect(call(method, path)).rejects.toMatchObject({code: 'E_DOT_SEGMENT'})
      expect(requests).toEqual([])
    },
  )

  it('dots that are a part of a name or of the query are sent as they are', async () => {
    const {call, requests} = scripted([])
    await call('GET', '/subscriptions/..a/b..?path=/../x')
    expect(requests[0]?.url).toBe('https://api.example/v1/subscriptions/..a/b..?path=/../x')
  })
})

describe('a try that failed', () => {
  it('is repeated after 1, 2, 4 and 8 seconds, and the fifth answer stands', async () => {
    const {call, requests} = scripted([{status: 500}, {status: 502}, {status: 503}, {status: 504}, {status: 500}, {status: 200}])
    expect(statusOf(await call('GET'))).toBe(500)
    expect(times(requests)).toEqual([0, 1_000, 3_000, 7_000, 15_000])
  })

  it('waits as long as the server wishes', async () => {
    const {call, requests} = scripted([{status: 503, headers: {'retry-after': '20'}}])
    expect(statusOf(await call('GET'))).toBe(200)
    expect(times(requests)).toEqual([0, 20_000])
  })

  it('does not wait for hours', async () => {
    const {call, requests} = scripted([{status: 429, headers: {'retry-after': '7200'}}])
    expect([statusOf(await call('GET')), requests.length]).toEqual([429, 1])
  })

  it('waits at most a tenth longer where chance is given', async () => {
    const {call, requests} = scripted([{status: 500}], {random: () => 0.5})
    await call('GET')
    expect(times(requests)).toEqual([0, 1_050])
  })

  it('is repeated for GET, PUT and DELETE when the connection broke, and never for POST and PATCH', async () => {
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const {call, requests} = scripted(['lost', 'lost'])
      expect([statusOf(await call(method)), requests.length]).toEqual([200, 3])
    }
    for (const method of ['POST', 'PATCH'] as const) {
      const {call, requests} = scripted(['lost'])
      expect(await call(method)).toMatchObject({answered: false, arrived: true, error: {code: 'E_CONNECTION_LOST', exit: 13}})
      expect(requests).toHaveLength(1)
    }
  })

  it('is repeated for a POST that never left', async () => {
    const {call, requests} = scripted(['refused', 'unreachable'])
    expect([statusOf(await call('POST')), requests.length]).toEqual([200, 3])
  })

  it('is not repeated for a POST that got a 5xx', async () => {
    const {call, requests} = scripted([{status: 503}])
    expect([statusOf(await call('POST')), requests.length]).toEqual([503, 1])
  })

  it('stays on record: a write that was lost once may have arrived, whatever came of the later tries', async () => {
    const {call} = scripted(['lost', 'refused', 'refused', 'refused', 'refused'])
    expect(await call('PUT')).toMatchObject({answered: false, arrived: true, error: {code: 'E_CONNECTION_REFUSED'}})
  })

  it('is given up sooner when the server was never reached at all', async () => {
    const {call, requests} = scripted(['refused', 'refused', 'refused', 'refused'])
    expect(await call('GET')).toMatchObject({answered: false, arrived: false, error: {code: 'E_CONNECTION_REFUSED', exit: 13}})
    expect(times(requests)).toEqual([0, 1_000, 3_000])
  })

  it('is not repeated when the certificate is not acceptable', async () => {
    const {call, requests} = scripted(['tls'])
    expect([statusOf(await call('GET')), requests.length]).toEqual(['E_TLS', 1])
  })

  it('is an answer where the caller says so', async () => {
    const {call, requests} = scripted([{status: 503, text: '{"error_code":"no_quorum"}'}])
    expect([statusOf(await call('GET', '/bdbs/1/availability', {answers: [503]})), requests.length]).toEqual([503, 1])
  })

  it('of a write to a node that is not ready is an answer, and of a read it is not', async () => {
    const write = scripted([{status: 503}], {retryWritesOn503: false})
    expect([statusOf(await write.call('PUT')), write.requests.length]).toEqual([503, 1])
    const read = scripted([{status: 503}], {retryWritesOn503: false})
    expect([statusOf(await read.call('GET')), read.requests.length]).toEqual([200, 2])
  })
})

describe('a 429', () => {
  it('that may be one change too many is an answer after one try, while changes run; the account pauses all the same', async () => {
    const bare = [{status: 429}, {status: 429}]
    const {call, requests} = scripted(bare)
    expect([statusOf(await call('POST', '/a', {changesInFlight: () => 3})), ...times(requests)]).toEqual([429, 0])
    expect([statusOf(await call('GET')), ...times(requests)]).toEqual([200, 0, 1_000, 2_000])
    const idle = scripted(bare)
    expect([statusOf(await idle.call('POST', '/a', {changesInFlight: () => 0})), ...times(idle.requests)]).toEqual([200, 0, 1_000, 3_000])
  })

  it('stops everybody until the server wishes to hear from us again', async () => {
    const {client, clock, requests} = scripted([{status: 429, headers: {'retry-after': '10'}}])
    await clock.run(
      Promise.all([
        client.call({method: 'POST', path: '/a', body: {}}),
        clock.sleep(500).then(() => client.call({method: 'GET', path: '/b'})),
      ]),
    )
    expect(requests.map(({url, at}) => [url.slice(-1), at])).toEqual([
      ['a', 0],
      // Both wait, and the write goes first.
      ['a', 10_000],
      ['b', 10_000],
    ])
  })

  it('is tried five times, also for a POST', async () => {
    const {call, requests} = scripted(Array.from({length: 6}, () => ({status: 429})))
    expect([statusOf(await call('POST')), ...times(requests)]).toEqual([429, 0, 1_000, 3_000, 7_000, 15_000])
  })

  it('that is about changes is the answer at once, and stops nobody', async () => {
    const {client, clock, requests, events} = scripted([
      {status: 429, headers: {'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '80'}},
    ])
    expect(statusOf(await clock.run(client.call({method: 'POST', path: '/a', body: {}})))).toBe(429)
    await clock.run(client.call({method: 'GET', path: '/b'}))
    expect(times(requests)).toEqual([0, 0])
    expect(events.some(({type}) => type === 'paused')).toBe(false)
  })
})

describe('a redirect', () => {
  const to = (location: string, status = 302) => ({status, headers: {location}})

  it('of a read is followed within the configured server, with the credentials', async () => {
    const {call, requests} = scripted([to('/v1/elsewhere')])
    expect(statusOf(await call('GET'))).toBe(200)
    expect(requests[1]).toMatchObject({method: 'GET', url: 'https://api.example/v1/elsewhere', headers: {'x-api-key': 'key-1'}})
  })

  it('to another origin sends nothing there', async () => {
    for (const location of [
      'https://evil.example/v1/subscriptions',
      'http://api.example/v1/subscriptions',
      'https://api.example:8443/',
      '//evil.example/',
    ]) {
      const {call, requests} = scripted([to(location, 307)])
      expect(await call('GET')).toMatchObject({answered: false, arrived: false, error: {code: 'E_REDIRECT'}})
      expect(requests).toHaveLength(1)
    }
  })

  it('may lead to another origin the user configured', async () => {
    const {call, requests} = scripted([to('https://node2.example:9443/v1/bdbs', 307)], {origins: ['https://node2.example:9443']})
    expect(statusOf(await call('POST'))).toBe(200)
    expect(requests[1]).toMatchObject({method: 'POST', url: 'https://node2.example:9443/v1/bdbs', body: '{"name":"orders"}'})
  })

  it('of a write is repeated as it was after 307 and 308, and is a failure after 301, 302 and 303', async () => {
    for (const status of [307, 308]) {
      const {call, requests} = scripted([to('/v1/there', status)])
      expect(statusOf(await call('PUT'))).toBe(200)
      expect(requests[1]).toMatchObject({method: 'PUT', url: 'https://api.example/v1/there', body: '{"name":"orders"}'})
    }
    for (const [status, arrived] of [
      [301, false],
      [302, true],
      [303, true],
    ] as const) {
      const {call, requests} = scripted([to('/v1/there', status)])
      expect(await call('POST')).toMatchObject({answered: false, arrived, error: {code: 'E_REDIRECT'}})
      expect(requests).toHaveLength(1)
    }
  })

  it('that leads in circles ends', async () => {
    const {call, requests} = scripted(Array.from({length: 20}, () => to('/v1/subscriptions')))
    expect(statusOf(await call('GET'))).toBe('E_REDIRECT')
    expect(requests).toHaveLength(6)
  })
})

describe('a client that only reads', () => {
  it('refuses everything but GET before anything is sent', async () => {
    for (const mode of ['plan', 'read-only'] as const) {
      const {client, requests} = scripted([], {mode})
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        await expect(client.call({method, path: '/subscriptions/1'})).rejects.toMatchObject({code: 'E_READ_ONLY', exit: 3})
        await expect(client.openStream({method, path: '/modules'})).rejects.toMatchObject({code: 'E_READ_ONLY'})
      }
      expect([requests.length, client.spending.used]).toEqual([0, 0])
      expect(statusOf(await client.call({method: 'GET', path: '/subscriptions'}))).toBe(200)
    }
  })
})

describe('the count of requests', () => {
  it('holds every one that was sent, further tries and redirects too', async () => {
    const {client, call} = scripted([{status: 500}, {status: 307, headers: {location: '/v1/there'}}])
    await call('GET')
    expect(client.spending.used).toBe(3)
  })

  it('never goes beyond what the run may send', async () => {
    const allowance = new RequestAllowance(2)
    const {call, requests} = scripted([{status: 500}, {status: 500}], {allowance})
    expect(await call('PUT')).toMatchObject({answered: false, arrived: true, error: {code: 'E_MAX_REQUESTS', exit: 3}})
    expect(requests).toHaveLength(2)
    expect(allowance.left).toBe(0)
  })
})

describe('giving up', () => {
  it('while waiting for the budget sends nothing', async () => {
    const clock = new VirtualClock()
    const budget = createBudget({limits: {perMinute: 60, burst: 1, reserve: 0}, clock})
    const {client, requests} = scripted([], {budget})
    await client.call({method: 'GET', path: '/a'})
    const off = new AbortController()
    const second = client.call({method: 'POST', path: '/b', body: {}}, {signal: off.signal})
    off.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    expect(requests).toHaveLength(1)
  })

  it('on a write under way leaves its outcome open', async () => {
    const off = new AbortController()
    const {client} = scripted([], {
      transport: async request => {
        off.abort(new Error('enough'))
        throw new ConnectionError('aborted', request)
      },
    })
    const result = await client.call({method: 'POST', path: '/b', body: {}}, {signal: off.signal})
    expect(result).toMatchObject({answered: false, arrived: true, error: {code: 'E_REQUEST_ABORTED', exit: 4}})
  })
})

describe('a streamed call', () => {
  const streaming = (turns: readonly {status: number; headers?: Record<string, string>}[]) => {
    const sent: {method: string; url: string; body: string}[] = []
    const dropped: number[] = []
    const left = [...turns]
    const made = scripted([], {
      openStream: async ({method, url, body}) => {
        let text = ''
        if (typeof body === 'object' && !(body instanceof Uint8Array)) for await (const chunk of body) text += Buffer.from(chunk).toString()
        sent.push({method, url, body: text})
        const {status, headers = {}} = left.shift() ?? {status: 200}
        const flow = async function* () {
          try {
            yield Buffer.from('archive')
          } finally {
            dropped.push(status)
          }
        }
        return {status, headers, body: flow()}
      },
    })
    return {...made, sent, dropped}
  }
  const body = async function* () {
    yield Buffer.from('module')
  }

  it('is sent again after a 429 and a 307, its bytes made anew and the unread answers let go', async () => {
    const {client, clock, sent, dropped} = streaming([{status: 429}, {status: 307, headers: {location: '/v2/modules'}}])
    const answer = await clock.run(client.openStream({method: 'POST', path: '/modules', body}))
    expect(answer.status).toBe(200)
    expect(sent).toEqual([
      {method: 'POST', url: 'https://api.example/v1/modules', body: 'module'},
      {method: 'POST', url: 'https://api.example/v1/modules', body: 'module'},
      {method: 'POST', url: 'https://api.example/v2/modules', body: 'module'},
    ])
    expect(dropped).toEqual([429, 307])
    expect(client.spending.used).toBe(3)
  })

  it('hands on a server error, which only the caller can go on from', async () => {
    const {client, clock, sent} = streaming([{status: 500}])
    expect((await clock.run(client.openStream({method: 'GET', path: '/debuginfo/all'}))).status).toBe(500)
    expect(sent).toHaveLength(1)
  })
})
