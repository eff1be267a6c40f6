import {describe, expect, it} from 'vitest'
import {boundsOf} from '../../bench/lower-bounds.ts'
import {type Makespan, measureMakespan, measureReference, type Service} from '../../bench/makespan.ts'

describe('the lower bounds of an apply', () => {
  it('count every write, one look for each level and list that must be seen ready, and each list of ACL objects for the proof', () => {
    const {readyRequests, provenRequests, ready, proven} = boundsOf({
      size: {subscriptions: 8, databases: 200},
      seconds: [35, 25, 2, 2],
      tokens: 149,
    })
    expect({readyRequests, provenRequests}).toEqual({readyRequests: 1021, provenRequests: 1421})
    // 60 s / 100 requests for each beyond the 149 that are there.
    expect(ready).toBeCloseTo(523.2)
    expect(proven).toBeCloseTo(763.2)
  })

  it('of one write at a time in a subscription are all of its writes in a row', () => {
    const {exclusivity} = boundsOf({size: {subscriptions: 8, databases: 200}, seconds: [35, 25, 2, 2], tokens: 149, exclusive: true})
    expect(exclusivity).toBe(35 + 25 * (25 + 4 * 2))
  })
})

describe('an apply of 8 subscriptions, 200 databases and 800 ACL objects', () => {
  const size = {subscriptions: 8, databases: 200}
  /** Time is virtual there and chance repeats itself: it is the same run each time. */
  const measured = new Map<Service, Promise<Makespan>>()
  const measuredOnce = (service: Service): Promise<Makespan> => {
    const run = measured.get(service) ?? measureMakespan({size, service})
    measured.set(service, run)
    return run
  }

  for (const service of ['instant', 'usual'] as const) {
    it(`is ready and proven within a twentieth of the lower bounds (${service} service), without a refusal`, async () => {
      const run = await measuredOnce(service)
      // In the bound is that for the first 35 s there is nothing but subscriptions to send.
      expect(run.readySeconds / run.bounds.tightReady).toBeLessThanOrEqual(1.05)
      expect(run.readyRatio).toBeLessThanOrEqual(1.08)
      expect(run.provenRatio).toBeLessThanOrEqual(1.05)
      // 1 008 changes and the 400 lists of ACL objects leave 32 for all that is looked at.
      expect(run.requests).toBeLessThanOrEqual(1440)
      expect(run).toMatchObject({tooManyRequests: 0, refusedWrites: 0, residual: 0})
    })
  }

  it('takes a third of the time of ten workers that each wait for what they made', async () => {
    const ours = await measuredOnce('usual')
    for (const schedule of ['barriers', 'graph'] as const) {
      const theirs = await measureReference({size, service: 'usual'}, schedule)
      expect(theirs.readySeconds).toBeGreaterThan(3 * ours.readySeconds)
      expect(theirs.provenSeconds).toBeGreaterThan(3 * ours.provenSeconds)
    }
  })
})

describe('an apply of 20 subscriptions, 1 000 databases and 4 000 ACL objects', () => {
  it('keeps to the bounds though the task list shows only the last thousand tasks', async () => {
    const run = await measureMakespan({size: {subscriptions: 20, databases: 1000}, service: 'usual'})
    expect(run.readyRatio).toBeLessThanOrEqual(1.1)
    expect(run.provenRatio).toBeLessThanOrEqual(1.1)
    expect(run.spent['GET /tasks/*'] ?? 0).toBeLessThan(20)
    expect(run).toMatchObject({tooManyRequests: 0, residual: 0})
  })
})

describe('an apply where a subscription takes one change at a time', () => {
  it('is ready within a tenth of what follows each other there, and is never refused', async () => {
    const run = await measureMakespan({size: {subscriptions: 8, databases: 200}, service: 'exclusive'})
    expect(run.bounds.ready).toBe(860)
    expect(run.readyRatio).toBeLessThanOrEqual(1.05)
    expect(run.provenRatio).toBeLessThanOrEqual(1.1)
    expect(run).toMatchObject({refusedWrites: 0, tooManyRequests: 0, residual: 0})
  })

  it('learns that on the way with a few refusals, and is proven within a quarter of what follows each other', async () => {
    const run = await measureMakespan({size: {subscriptions: 8, databases: 200}, service: 'exclusive', knows: false})
    expect(run.provenRatio).toBeLessThanOrEqual(1.25)
    expect(run.refusedWrites).toBeLessThanOrEqual(10)
    expect(run).toMatchObject({tooManyRequests: 0, residual: 0})
  })
})

describe('an apply on a slow service with requests to spare', () => {
  it('ends within a tenth of its longest chain', async () => {
    const run = await measureMakespan({size: {subscriptions: 2, databases: 20}, service: 'slow'})
    expect(run.bounds.ready).toBe(660 + 360 + 60 + 60)
    expect(run.readyRatio).toBeLessThanOrEqual(1.1)
  })
})
