import {describe, expect, it} from 'vitest'
import type {Hold} from '../../../src/engine/model/controls.ts'
import {billOf} from '../../../src/engine/plan/bill.ts'
import {Lab, type Planning, stackOf} from '../../support/lab.ts'

const shop = () => {
  const stack = stackOf()
  for (const sub of ['a', 'b']) {
    stack.subscription(sub)
    for (const database of ['1', '2', '3']) stack.database(`${sub}${database}`, sub)
  }
  return stack
}
const planned = async () => {
  const lab = new Lab()
  const {plan} = await lab.run(() => lab.plan([shop()]))
  return plan.operations
}
const HOLD: Hold = {
  stack: 'shop',
  address: 'null_resource.a1',
  kind: 'cloud.database',
  by: 'ada',
  at: '2026-01-01T00:00:00Z',
  until: '2027-01-01T00:00:00Z',
  reason: 'load test',
}
const free = {perMinute: 100, tokens: 100, durationMs: () => 10_000}

describe('a bill', () => {
  it('gives what is needed until all is ready and until all is proven', async () => {
    // 8 writes, a look for each of 2 levels; the proof reads the subscriptions and the databases of each.
    expect(billOf({operations: await planned(), ...free, tokens: 0})).toEqual({
      requests: 13,
      seconds: 20,
      bound: 'critical path',
      ready: {requests: 10, seconds: 20, bound: 'critical path'},
    })
    expect(billOf({operations: await planned(), ...free, perMinute: 6, tokens: 0})).toMatchObject({
      seconds: 130,
      bound: 'rate',
      ready: {seconds: 100, bound: 'rate'},
    })
  })

  it('counts what may only happen one after the other', async () => {
    const operations = await planned()
    expect(billOf({operations, ...free, limits: {perRoot: 1}})).toMatchObject({seconds: 40, bound: 'exclusivity of null_resource.a'})
    expect(billOf({operations, ...free, limits: {perRoot: 1, roots: 1}})).toMatchObject({seconds: 80, bound: 'exclusivity of the account'})
    expect(billOf({operations, ...free, limits: {inFlight: 1}})).toMatchObject({seconds: 80, bound: 'exclusivity of --max-inflight'})
  })
})

it('of a plan counts nothing that --skip-held leaves out, nor what waits for that', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([stackOf().subscription('a').database('a1', 'a')])
    const now = [stackOf().subscription('a').database('a1', 'a', {memoryLimitInGb: 2}).rule('r', 'a1').subscription('b')]
    const holds = new Map([['shop', [HOLD]]])
    const billed = async (more: Planning) => (await lab.plan(now, {holds, ...more})).plan.bill
    const alone = (await lab.plan([stackOf().subscription('a').database('a1', 'a').subscription('b')])).plan.bill
    expect((await billed({})).requests).toBeGreaterThan(alone.requests)
    expect(await billed({lifts: {skipHeld: true}})).toEqual(alone)
  })
})

describe('a bill of what is made in objects that are there', () => {
  /** Databases added to subscriptions that stay as they are, with a change of one that is there. */
  const added = async () => {
    const lab = new Lab()
    return lab.run(async () => {
      await lab.apply([stackOf().subscription('a').database('a1', 'a').subscription('b')])
      const {plan} = await lab.plan([
        stackOf()
          .subscription('a')
          .database('a1', 'a', {memoryLimitInGb: 2})
          .database('a2', 'a')
          .database('a3', 'a')
          .subscription('b')
          .database('b1', 'b'),
      ])
      return plan.operations
    })
  }

  it('counts what may only happen one after the other there', async () => {
    const operations = await added()
    expect(billOf({operations, ...free, limits: {perRoot: 1}})).toMatchObject({seconds: 30, bound: 'exclusivity of null_resource.a'})
  })

  it('reads each collection back once', async () => {
    // 4 writes, a look, and the databases of both.
    expect(billOf({operations: await added(), ...free})).toMatchObject({requests: 7, ready: {requests: 5}})
  })

  it('reads an exclusive collection back once, whether something is made in it or deleted as undeclared', async () => {
    const exclusive = () => stackOf().subscription('a', {}, {exclusive: ['databases']})
    const lab = new Lab()
    const operations = await lab.run(async () => {
      await lab.apply([stackOf().subscription('a').database('theirs', 'a')])
      lab.store('shop').ledger = {...lab.store('shop').ledger, entries: new Map()}
      await lab.apply([stackOf().subscription('a')])
      return (await lab.plan([exclusive().database('own', 'a')])).plan.operations
    })
    expect(operations.filter(it => it.action === 'create' || it.action === 'delete')).toHaveLength(2)
    // 2 writes, a look, and the list of databases; the subscription is adopted.
    expect(billOf({operations, ...free}).requests - billOf({operations, ...free}).ready.requests).toBe(1)
  })

  it('knows of what is left where it stands, though nothing else is left there', async () => {
    const operations = await added()
    const left = operations.filter(it => it.action === 'create')
    expect(billOf({operations: left, among: operations, ...free, limits: {perRoot: 1}})).toMatchObject({
      seconds: 20,
      bound: 'exclusivity of null_resource.a',
    })
  })
})

describe('what is left of an apply', () => {
  it('is estimated anew as operations end, and shrinks', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 4000}}})
    await lab.run(() => lab.apply([shop()]))
    const left = lab.events.flatMap(it => (it.type === 'estimate' ? [it.requests] : []))
    expect(left[0]).toBe(13)
    expect(left.length).toBeGreaterThan(1)
    expect([...left].sort((a, b) => b - a)).toEqual(left)
  })
})
