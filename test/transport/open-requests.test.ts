import {once} from 'node:events'
import {createServer, type Server, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../src/base/clock.ts'
import {createBudget, NO_LIMITS} from '../../src/transport/budget.ts'
import {createApiClient} from '../../src/transport/create-api-client.ts'
import {OpenRequests} from '../../src/transport/open-requests.ts'
import {createTransport} from '../../src/transport/undici-transport.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const end of cleanups.splice(0)) await end()
})

/** A client of a real server, which may have so many requests on their way. */
async function client(maxInFlight: number | undefined, answer: (url: string, response: ServerResponse) => void) {
  const server: Server = createServer((request, response) => answer(request.url ?? '', response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const {send, openStream, close} = createTransport()
  cleanups.push(
    () => server.close(),
    () => server.closeAllConnections(),
    () => close(),
  )
  return createApiClient({
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authentication: {},
    transport: send,
    openStream,
    budget: createBudget({limits: NO_LIMITS, clock: systemClock, ...(maxInFlight !== undefined && {maxInFlight})}),
    clock: systemClock,
  })
}

/** Holds answers back until so many wait for one. */
function held(count: number) {
  const waiting: ServerResponse[] = []
  let open = 0
  const seen = {most: 0}
  const answer = (url: string, response: ServerResponse) => {
    if (url === '/first') return void response.end()
    open += 1
    seen.most = Math.max(seen.most, open)
    waiting.push(response)
    if (waiting.length < count) return
    for (const one of waiting.splice(0)) {
      open -= 1
      one.end()
    }
  }
  return {seen, answer}
}

describe('requests on their way', () => {
  it('are as many as one limiter says, over all connections', async () => {
    const {seen, answer} = held(2)
    const {call} = await client(2, answer)
    const outcomes = await Promise.all(Array.from({length: 10}, () => call({method: 'GET', path: '/'})))
    expect([outcomes.every(it => it.answered), seen.most]).toEqual([true, 2])
  })

  it('are sixteen, where nobody says otherwise', async () => {
    const {seen, answer} = held(16)
    const {call} = await client(undefined, answer)
    // Of an account nobody has heard of, two go first to see how things are.
    await call({method: 'GET', path: '/first'})
    await Promise.all(Array.from({length: 48}, () => call({method: 'GET', path: '/'})))
    expect(seen.most).toBe(16)
  })

  it('do not wait for what flows, however many there are', async () => {
    const {call, openStream} = await client(1, (url, response) => {
      if (url === '/short') response.end('ok')
      else response.writeHead(200).write('begin')
    })
    await Promise.all([1, 2, 3].map(() => openStream({method: 'GET', path: '/long'})))
    expect((await call({method: 'GET', path: '/short'})).answered).toBe(true)
  })

  it('make room when they end, and tell so', async () => {
    const ends: (() => void)[] = []
    let told = 0
    const open = new OpenRequests(() => {
      told += 1
    }, 2)
    for (const _ of [1, 2]) open.begin(end => ends.push(end))
    expect([open.count, open.room]).toEqual([2, 0])
    ends[0]?.()
    await expect.poll(() => [told, open.count, open.room]).toEqual([1, 1, 1])
  })
})
