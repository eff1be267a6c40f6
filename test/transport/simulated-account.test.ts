/** The budget and the client against the simulator, as a run uses them. */
import {describe, expect, it} from 'vitest'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {createSimulator, type SimulatorConfigInput} from '../../src/simulator/index.ts'
import {CLOUD_LIMITS, createBudget} from '../../src/transport/budget.ts'
import {createApiClient} from '../../src/transport/create-api-client.ts'

async function listOften(count: number, cloud: SimulatorConfigInput['cloud']) {
  const clock = new VirtualClock()
  const simulator = createSimulator({clock, config: {cloud}})
  const {apiKey, secretKey} = simulator.config.credentials
  const client = createApiClient({
    address: simulator.bases.cloud,
    authentication: {'x-api-key': apiKey, 'x-api-secret-key': secretKey},
    transport: simulator.transport,
    budget: createBudget({limits: CLOUD_LIMITS, clock}),
    clock,
  })
  const results = await clock.run(Promise.all(Array.from({length: count}, () => client.call({method: 'GET', path: '/subscriptions'}))))
  expect(new Set(results.map(result => result.answered && result.answer.status))).toEqual(new Set([200]))
  expect(client.spending.used).toBe(simulator.log.length)
  return simulator.log.filter(({status}) => status === 429).length
}

const rateLimit = {perMinute: 100, burst: 150}

describe('a simulated account', () => {
  it('never answers 429 when it is all ours, whatever its headers are called or whether it has any', async () => {
    for (const rateHeaders of ['x-ratelimit', 'x-rate-limit', 'none'] as const) {
      expect(await listOften(500, {rateLimit, rateHeaders})).toBe(0)
    }
  })

  it('answers it at most twice when somebody else spends 30 %', async () => {
    expect(await listOften(1_000, {rateLimit: {...rateLimit, foreignPerMinute: 30}})).toBeLessThanOrEqual(2)
  })

  it('with a lower limit than ours is believed', async () => {
    expect(await listOften(200, {rateLimit: {perMinute: 30, burst: 20}})).toBeLessThanOrEqual(2)
  })
})
