/** What a shared budget does at high rates: tokens are leased some at a time, and exchanges with the file are counted. */
import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import type {Clock} from '../../src/base/clock.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {PRIORITY} from '../../src/engine/model/backend.ts'
import type {Budget} from '../../src/transport/budget.ts'
import {budgetFile, createSharedBudget} from '../../src/transport/shared-budget.ts'
import {RateLimitedServer} from './rate-limited-server.ts'

let stateDir = ''
beforeEach(() => {
  stateDir = join(mkdtempSync(join(tmpdir(), 'leases-')), 'state')
})
afterEach(() => rmSync(dirname(stateDir), {recursive: true, force: true}))

const account = {address: 'https://api.example/v1', keyHash: 'k'}
const ENOUGH = {status: 200, headers: {'x-ratelimit-remaining': '1000'}}
const written = () => JSON.parse(readFileSync(budgetFile(stateDir, account.address, account.keyHash), 'utf8')) as {own: number}

function processes(clock: Clock, perMinute: number, burst = 150, reserve = 0) {
  const dead = new Set<number>()
  const exchanges = new Map<number, number>()
  let chance = 0
  const start = (pid: number): Budget =>
    createSharedBudget({
      stateDir,
      ...account,
      limits: {perMinute, burst, reserve},
      clock,
      // Eight bytes name the lock of each exchange.
      random: count => {
        if (count === 8) exchanges.set(pid, (exchanges.get(pid) ?? -1) + 1)
        return Uint8Array.from({length: count}, () => ++chance % 256)
      },
      process: {host: 'here', pid, start: '', pidSpace: ''},
      stateOf: it => (dead.has(it.pid) ? 'dead' : 'alive'),
    })
  return {dead, exchanges, start}
}

/** So many who ask again as soon as they have an answer, until the time is over; how many answers they had. */
async function spending(clock: VirtualClock, budget: Budget, server: RateLimitedServer, seconds: number): Promise<number> {
  const ends = clock.now() + seconds * 1_000
  let answers = 0
  const one = async () => {
    while (clock.now() < ends) {
      const permit = await budget.acquire(PRIORITY.read)
      permit.ended(await server.transport({method: 'GET', url: 'https://api.example/v1/a', headers: {}}))
      answers++
    }
  }
  await Promise.all(Array.from({length: 40}, one))
  return answers
}

describe('a budget of 3 000 a minute', () => {
  it('asks the file four times a second, has no 429 and leaves nothing of the rate', async () => {
    const clock = new VirtualClock()
    const {start, exchanges} = processes(clock, 3_000)
    const server = new RateLimitedServer({clock, perMinute: 3_000, headers: 'x-ratelimit', latencyMs: () => 30})
    const answers = await clock.run(spending(clock, start(1), server, 60))
    expect(server.refused).toBe(0)
    expect(answers).toBeGreaterThan(0.98 * (150 + 3_000))
    expect(exchanges.get(1)).toBeLessThan(250 + 80)
  })

  it('is shared by four processes in equal parts, with as few questions of each', async () => {
    const clock = new VirtualClock()
    const {start, exchanges} = processes(clock, 3_000)
    const server = new RateLimitedServer({clock, perMinute: 3_000, headers: 'x-ratelimit', latencyMs: () => 30})
    const answers = await clock.run(Promise.all([1, 2, 3, 4].map(pid => spending(clock, start(pid), server, 60))))
    expect(server.refused).toBe(0)
    const all = answers.reduce((sum, it) => sum + it, 0)
    expect(all).toBeGreaterThan(0.97 * (150 + 3_000))
    expect(Math.min(...answers)).toBeGreaterThan((0.9 * all) / 4)
    expect(Math.max(...exchanges.values())).toBeLessThan(7 * 60)
  })

  it('is whole for one of four that alone has something to send', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock, 3_000)
    const server = new RateLimitedServer({clock, perMinute: 3_000, headers: 'x-ratelimit', latencyMs: () => 30})
    const budgets = [1, 2, 3, 4].map(start)
    for (const budget of budgets) (await budget.acquire(PRIORITY.read)).ended(ENOUGH)
    expect(await clock.run(spending(clock, budgets[0] as Budget, server, 60))).toBeGreaterThan(0.97 * (146 + 3_000))
    expect(server.refused).toBe(0)
  })
})

describe('a lease', () => {
  /** Two tokens at once make it known that more are wanted; then there is a lease with tokens left. */
  async function leased(clock: VirtualClock, budget: Budget): Promise<void> {
    for (let i = 0; i < 5; i++) (await clock.run(budget.acquire(PRIORITY.read))).ended(ENOUGH)
  }

  it('is all that a crash costs', async () => {
    const clock = new VirtualClock()
    const {start, dead} = processes(clock, 3_000)
    await leased(clock, start(1))
    const before = written().own
    expect(before).toBeLessThan(145)
    dead.add(1)
    const next = start(2)
    const permits = await Promise.all(Array.from({length: 16}, () => next.acquire(PRIORITY.read)))
    for (const permit of permits) permit.ended(ENOUGH)
    next.close()
    // Five were used; of what else the dead process had taken no more is missing than one lease.
    expect(150 - 5 - 16 - written().own).toBeGreaterThan(0)
    expect(150 - 5 - 16 - written().own).toBeLessThanOrEqual(12)
  })

  it('goes back with the last exchange, as far as it was not used', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock, 3_000)
    const budget = start(1)
    await leased(clock, budget)
    expect(budget.available).toBe(145)
    budget.close()
    expect(written().own).toBe(145)
  })

  it('is no right to send while a server asks for a pause', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock, 3_000)
    const budget = start(1)
    await leased(clock, budget)
    budget.pause(7_000)
    const began = clock.now()
    ;(await clock.run(budget.acquire(PRIORITY.read))).ended(ENOUGH)
    expect(clock.now() - began).toBe(7_000)
  })

  it('that a person on call has taken is no way for others to the reserve', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock, 3_000, 30, 20)
    const budget = start(1)
    await leased(clock, budget)
    // All but the reserve is spent; what comes meanwhile is too little to count.
    const rest = await clock.run(Promise.all(Array.from({length: 5}, () => budget.acquire(PRIORITY.read))))
    for (const permit of rest) permit.ended(ENOUGH)
    const began = clock.now()
    ;(await clock.run(budget.acquire(PRIORITY.interactive))).ended(ENOUGH)
    expect(clock.now()).toBe(began)
    // One token of the reserve is gone, and so one more has to come before the next one of others.
    ;(await clock.run(budget.acquire(PRIORITY.read))).ended(ENOUGH)
    expect(clock.now() - began).toBe(40)
  })

  it('is one token at the usual rate, so that nobody holds what another one could send', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock, 100)
    const budget = start(1)
    for (let i = 0; i < 5; i++) {
      ;(await budget.acquire(PRIORITY.read)).ended(ENOUGH)
      expect(written().own).toBe(150 - 1 - i)
    }
  })

  it('keeps nobody waiting for a time that a clock, set back since, has yet to reach', async () => {
    for (const perMinute of [60, 3_000]) {
      const clock = new VirtualClock()
      let back = 0
      const {start} = processes({now: () => clock.now() - back, sleep: (ms, signal) => clock.sleep(ms, signal)}, perMinute, 2)
      const budget = start(perMinute)
      for (let i = 0; i < 2; i++) (await budget.acquire(PRIORITY.read)).ended(ENOUGH)
      const third = budget.acquire(PRIORITY.read)
      back = 3_600_000
      const began = clock.now()
      const fourth = budget.acquire(PRIORITY.read)
      for (const permit of await clock.run(Promise.all([third, fourth]))) permit.ended(ENOUGH)
      expect(clock.now() - began).toBeLessThanOrEqual(3_000)
      budget.close()
    }
  })
})
