import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {PRIORITY} from '../../src/engine/model/backend.ts'
import {type Budget, CLOUD_LIMITS, createBudget, NO_LIMITS} from '../../src/transport/budget.ts'
import {createApiClient} from '../../src/transport/create-api-client.ts'
import {type AccountOptions, RateLimitedServer} from './rate-limited-server.ts'

const limits = (perMinute: number, burst: number, reserve = 0) => ({perMinute, burst, reserve})
/** What a server says that has a token for everybody. */
const plenty = {'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '10'}
const answer = (headers: Record<string, string> = {}, status = 200) => ({status, headers})

/** Takes a token and returns it to its end at once. */
const spend = async (budget: Budget, priority: number, headers?: Record<string, string>) => {
  const permit = await budget.acquire(priority)
  permit.ended(answer(headers))
}

describe('a wait for the budget', () => {
  it('is told at once, with how long and why, and again once a minute', async () => {
    const clock = new VirtualClock(0)
    const told: [number, object][] = []
    const budget = createBudget({limits: limits(60, 2), clock, onWait: wait => told.push([clock.now(), wait])})
    await clock.run(Promise.all(Array.from({length: 92}, () => spend(budget, 0))))
    expect(told[0]).toEqual([0, {ms: 91_000, requests: 90, perMinute: 60, paused: false}])
    expect(told).toHaveLength(2)
    expect(told[1]?.[0]).toBeGreaterThanOrEqual(60_000)
  })

  it('of less than a second is not worth a word; a pause that the server asked for is called one', async () => {
    const clock = new VirtualClock(0)
    const told: object[] = []
    const budget = createBudget({limits: limits(600, 1), clock, onWait: wait => told.push(wait)})
    await clock.run(Promise.all([spend(budget, 0), spend(budget, 0)]))
    expect(told).toEqual([])
    budget.pause(240_000)
    await clock.run(spend(budget, 0))
    expect(told).toEqual([{ms: 240_000, requests: 1, perMinute: 600, paused: true}])
  })
})

describe('a budget', () => {
  it('lets through what the burst and the rate allow, and no more, in any window of time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({min: 1, max: 600}),
        fc.integer({min: 1, max: 50}),
        fc.array(
          fc.record({
            after: fc.integer({min: 0, max: 20_000}),
            priority: fc.integer({min: -5, max: 5}),
            took: fc.integer({min: 0, max: 3_000}),
          }),
          {
            minLength: 1,
            maxLength: 60,
          },
        ),
        async (perMinute, burst, requests) => {
          const clock = new VirtualClock()
          const budget = createBudget({limits: limits(perMinute, burst), clock})
          const sent: number[] = []
          const one = async ({priority, took}: {priority: number; took: number}) => {
            const permit = await budget.acquire(priority)
            sent.push(clock.now())
            await clock.sleep(took)
            permit.ended(answer())
          }
          const all = async () => {
            const running: Promise<void>[] = []
            for (const request of requests) {
              await clock.sleep(request.after)
              running.push(one(request))
            }
            await Promise.all(running)
          }
          await clock.run(all())
          expect(sent).toHaveLength(requests.length)
          for (const [i, from] of sent.entries()) {
            for (const [j, to] of sent.entries()) {
              if (j >= i) expect(j - i + 1).toBeLessThanOrEqual(burst + ((to - from) * perMinute) / 60_000 + 1e-6)
            }
          }
        },
      ),
      {numRuns: 100},
    )
  })

  it('really gives what the rate promises: 10 000 requests at 600 a minute take 16 minutes and 40 seconds', async () => {
    const clock = new VirtualClock()
    const budget = createBudget({limits: limits(600, 10), clock})
    const began = clock.now()
    await clock.run(Promise.all(Array.from({length: 10_000}, () => spend(budget, PRIORITY.read))))
    const seconds = (clock.now() - began) / 1_000
    expect(seconds).toBeGreaterThanOrEqual((10_000 - 10) / 10)
    expect(seconds).toBeLessThanOrEqual(1_000)
  })

  it('serves the lower number first, and among equals who came first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({min: 1, max: 4}), {minLength: 1, maxLength: 40}), async priorities => {
        const clock = new VirtualClock()
        const budget = createBudget({limits: limits(60, 1), clock})
        const served: (readonly [number, number])[] = []
        // The first takes the only token there is, so that all others meet in the line.
        await spend(budget, 0)
        await clock.run(
          Promise.all(
            priorities.map(async (priority, order) => {
              await spend(budget, priority)
              served.push([priority, order])
            }),
          ),
        )
        expect(served).toEqual(priorities.map((priority, order) => [priority, order] as const).toSorted(([a, x], [b, y]) => a - b || x - y))
      }),
      {numRuns: 50},
    )
  })

  it('forgets who stopped waiting', async () => {
    const clock = new VirtualClock()
    const budget = createBudget({limits: limits(60, 1), clock})
    await spend(budget, PRIORITY.read)
    const off = new AbortController()
    const gone = budget.acquire(PRIORITY.write, off.signal)
    const stays = spend(budget, PRIORITY.read)
    expect(budget.waiting).toBe(2)
    off.abort(new Error('no longer needed'))
    await expect(gone).rejects.toThrow('no longer needed')
    expect(budget.waiting).toBe(1)
    const began = clock.now()
    await clock.run(stays)
    expect(clock.now() - began).toBe(1_000)
  })

  it('keeps its reserve for people', async () => {
    const clock = new VirtualClock()
    const budget = createBudget({limits: limits(60, 10, 4), clock})
    for (let i = 0; i < 6; i++) await spend(budget, PRIORITY.write, plenty)
    const writes = Promise.all([spend(budget, PRIORITY.write), spend(budget, PRIORITY.poll)])
    expect(budget.waiting).toBe(2)
    for (let i = 0; i < 3; i++) await spend(budget, PRIORITY.interactive, plenty)
    expect(budget.waiting).toBe(2)
    const began = clock.now()
    await clock.run(writes)
    // Three tokens of the reserve grow back first.
    expect(clock.now() - began).toBe(5_000)
  })

  it('takes over a lower limit of the server, and gives it up again', async () => {
    const clock = new VirtualClock()
    const budget = createBudget({limits: CLOUD_LIMITS, clock})
    await spend(budget, PRIORITY.read, {'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '29'})
    expect([budget.perMinute, budget.available]).toEqual([20, 29])
    await spend(budget, PRIORITY.read, {'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '28'})
    expect(budget.perMinute).toBe(100)
  })

  it('is never raised by the server', async () => {
    const clock = new VirtualClock()
    const budget = createBudget({limits: limits(30, 5), clock})
    await spend(budget, PRIORITY.read, {'x-ratelimit-limit': '1000', 'x-ratelimit-remaining': '1500'})
    expect([budget.perMinute, budget.burst, budget.available]).toEqual([30, 5, 4])
  })

  it('without a limit of its own learns one from the headers', async () => {
    const clock = new VirtualClock()
    const budget = createBudget({limits: NO_LIMITS, clock})
    const began = clock.now()
    await clock.run(Promise.all(Array.from({length: 500}, () => spend(budget, PRIORITY.read))))
    expect(clock.now() - began).toBe(0)
    await spend(budget, PRIORITY.read, {'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0'})
    expect([budget.perMinute, budget.available]).toEqual([60, 0])
    await clock.run(spend(budget, PRIORITY.read))
    expect(clock.now() - began).toBeGreaterThanOrEqual(1_000)
  })

  it('stops for everybody when told to pause, and lets a few try before the others', async () => {
    const clock = new VirtualClock()
    const budget = createBudget({limits: limits(6_000, 100), clock})
    await spend(budget, PRIORITY.read)
    budget.pause(5_000)
    const began = clock.now()
    const sent: number[] = []
    await clock.run(
      Promise.all(
        Array.from({length: 5}, async () => {
          const permit = await budget.acquire(PRIORITY.read)
          sent.push(clock.now() - began)
          await clock.sleep(300)
          permit.ended(answer())
        }),
      ),
    )
    expect(sent).toEqual([5_000, 5_000, 5_300, 5_300, 5_300])
  })

  it('survives a clock that jumps', async () => {
    let skew = 0
    const virtual = new VirtualClock()
    const clock = {now: () => virtual.now() + skew, sleep: virtual.sleep.bind(virtual)}
    const budget = createBudget({limits: limits(60, 2), clock})
    for (let i = 0; i < 2; i++) await spend(budget, PRIORITY.read, plenty)
    budget.pause(1_000)
    skew = -86_400_000
    const began = virtual.now()
    await virtual.run(spend(budget, PRIORITY.read, plenty))
    expect(virtual.now() - began).toBe(1_000)
    skew = 86_400_000
    // What a day would have brought is no more than the burst.
    await Promise.all([spend(budget, PRIORITY.read, plenty), spend(budget, PRIORITY.read, plenty)])
    const next = virtual.now()
    await virtual.run(spend(budget, PRIORITY.read, plenty))
    expect(virtual.now() - next).toBe(1_000)
  })
})

describe('the account as a server sees it', () => {
  /** A thousand reads as fast as the budget lets them; others take from the same account meanwhile. */
  async function thousand(
    seed: number,
    account: Omit<AccountOptions, 'clock'>,
    others: {everyMs: number; count: number} | 'chance' | undefined,
  ) {
    const clock = new VirtualClock()
    const chance = sequence(seed)
    const server = new RateLimitedServer({clock, headers: 'x-ratelimit', latencyMs: () => 50 + 100 * chance(), ...account})
    const budget = createBudget({limits: CLOUD_LIMITS, clock})
    const client = createApiClient({address: 'https://api.example/v1', authentication: {}, transport: server.transport, budget, clock})
    const off = new AbortController()
    const elsewhere = async () => {
      while (others !== undefined && !off.signal.aborted) {
        await clock.sleep(others === 'chance' ? -Math.log(1 - chance()) * 2_000 : others.everyMs, off.signal).catch(() => {})
        server.takeElsewhere(others === 'chance' ? 1 : others.count)
      }
    }
    const began = clock.now()
    const noise = elsewhere()
    const calls = Array.from({length: 1_000}, () => client.call({method: 'GET', path: '/subscriptions'}))
    const results = await clock.run(Promise.all(calls))
    off.abort()
    await noise
    expect(results.every(result => result.answered && result.answer.status === 200)).toBe(true)
    return {refused: server.refused, seconds: (clock.now() - began) / 1_000}
  }

  it('gets no 429 out of us when the whole budget is ours, and we waste nothing of it', async () => {
    const {refused, seconds} = await thousand(1, {}, undefined)
    expect(refused).toBe(0)
    // 850 of the thousand are paid by the rate: 510 s.
    expect(seconds).toBeLessThan(515)
  })

  it('gets none either when it tells nothing in its headers, or is slow', async () => {
    for (const account of [{headers: 'none'}, {latencyMs: () => 1_500}, {headers: 'x-rate-limit'}] as const) {
      expect((await thousand(2, account, undefined)).refused).toBe(0)
    }
  })

  it('gets at most two out of us when somebody else spends 30 % of the account', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const {refused, seconds} = await thousand(seed, {}, 'chance')
      expect(refused).toBeLessThanOrEqual(2)
      expect(seconds).toBeLessThan(1.1 * (850 / 70) * 60)
    }
    for (const everyMs of [2_000, 6_000]) {
      expect((await thousand(9, {}, {everyMs, count: everyMs / 2_000})).refused).toBeLessThanOrEqual(2)
    }
  })

  it('gets at most two when it is used up before we begin', async () => {
    for (const left of [0, 5, 60]) expect((await thousand(3, {left}, undefined)).refused).toBeLessThanOrEqual(2)
  })

  it('is believed when its burst is smaller than the one we count on', async () => {
    const {refused} = await thousand(4, {burst: 40}, undefined)
    expect(refused).toBe(0)
  })
})

/** The same numbers for the same seed. */
function sequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
