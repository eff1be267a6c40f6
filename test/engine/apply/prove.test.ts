/** What is read back after an apply, and what was read already. */
import {describe, expect, it} from 'vitest'
import {EXCLUSIVE, RATE, shop} from '../../../bench/worlds.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const reads = (lab: Lab) => lab.requests.filter(it => it.startsWith('GET') && !it.includes('/tasks'))
const verified = (lab: Lab) => lab.journal.flatMap(it => (it.type === 'verified' ? it.keys : [])).toSorted()

describe('the proof of an apply', () => {
  it('is the look that showed an object ready, if that began after its change had settled', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 2_000, readyMs: 0}}})
    const stack = [stackOf().subscription('main').database('cache', 'main')]
    const built = await lab.run(() => lab.plan(stack))
    lab.simulator.clearLog()
    const result = await lab.run(() => lab.execute(built, stack))
    expect(result.residual).toEqual([])
    expect(verified(lab)).toEqual(['shop:null_resource.cache', 'shop:null_resource.main'])
    expect(reads(lab)).toEqual(['GET /subscriptions/1', 'GET /subscriptions/1/databases'])
  })

  it('is a look of its own where the one that showed objects ready still showed them as they were before', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 2_000, readyMs: 0, listLagMs: 1_900}}})
    const before = stackOf().subscription('main').database('a', 'main').database('b', 'main')
    await lab.run(() => lab.apply([before]))
    const more = {memoryLimitInGb: 2}
    const stack = [stackOf().subscription('main').database('a', 'main', more).database('b', 'main', more)]
    const built = await lab.run(() => lab.plan(stack))
    lab.simulator.clearLog()
    const result = await lab.run(() => lab.execute(built, stack))
    expect(result.residual).toEqual([])
    expect(verified(lab)).toEqual(['shop:null_resource.a', 'shop:null_resource.b'])
    expect(reads(lab).filter(it => it === 'GET /subscriptions/1/databases').length).toBeGreaterThan(1)
  })

  it('is read while others are still to be sent, with tokens that would be lost otherwise', async () => {
    const lab = new Lab({simulator: {cloud: {...EXCLUSIVE, rateLimit: RATE}}})
    const stack = [shop({subscriptions: 1, databases: 3})]
    const built = await lab.run(() => lab.plan(stack))
    lab.simulator.clearLog()
    await lab.run(() => lab.execute(built, stack, {limits: {perRoot: 1}}))
    const sent = lab.requests
    const lastWrite = sent.findLastIndex(it => it.startsWith('POST'))
    const firstProof = sent.indexOf('GET /subscriptions/1/databases/1/acl/users')
    expect(firstProof).toBeGreaterThan(-1)
    expect(firstProof).toBeLessThan(lastWrite)
  })

  it('does not send anybody to the next plan for what was said to be gone and is there: the ledger has it no more', async () => {
    const lab = new Lab()
    await lab.run(() => lab.apply([stackOf().subscription('main').database('a', 'main').database('b', 'main')]))
    lab.simulator.inject({match: {method: 'DELETE'}, action: {type: 'status', status: 404}})
    const rest = [stackOf().subscription('main').database('a', 'main')]
    const {residual} = await lab.run(() => lab.apply(rest))
    expect(residual.map(({address, fields}) => [address, fields.map(it => [it.diagnosis, it.advice])])).toEqual([
      ['null_resource.b', [['still there', expect.stringContaining('delete it by hand, for no ledger has it any more')]]],
    ])
    expect((await lab.run(() => lab.plan(rest))).plan.summary.delete).toBe(0)
  })
})
