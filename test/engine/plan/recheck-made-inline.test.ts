/** A run that made a subscription with its databases, and ended before it had changed those. */
import {describe, expect, it} from 'vitest'
import {changedIn, madeIn} from '../../../src/engine/model/journal.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import type {Begun} from '../../../src/engine/plan/begun.ts'
import {applyUntilCrash, MOMENTS, settle} from '../../support/crash.ts'
import {Lab, stackOf} from '../../support/lab.ts'

describe('a database whose subscription makes it and that is declared otherwise, where the run made no more than the subscription', () => {
  const shop = () => stackOf().subscription('main', {databases: [{name: 'one', memoryLimitInGb: 1}]})
  const both = () => shop().database('one', 'main', {memoryLimitInGb: 2})
  const ONE = 'cloud/subscriptions/1/databases/1'
  const begun: Begun = {made: new Map([['shop:null_resource.main', 'cloud/subscriptions/1']]), before: []}
  const stopped = async (lab: Lab) => {
    const {plan} = await lab.plan([both()], {lifts: {adopt: []}})
    await lab.apply([shop()])
    await lab.clock.sleep(5000)
    return plan
  }

  it('is changed by the run that goes on, as was approved', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const again = await lab.recheck(await stopped(lab), [both()], begun)
      expect(again.plan.operations).toMatchObject([{action: 'no-op'}, {action: 'update', remoteId: ONE, origin: 'created'}])
      expect(again.plan.guards).toEqual([])
      lab.simulator.clearLog()
      await lab.execute(again, [both()])
      expect(lab.writes).toEqual(['PUT /subscriptions/1/databases/1'])
      expect(lab.entry('shop', 'one')).toMatchObject({remoteId: ONE, origin: 'created'})
    })
  })

  it('makes the plan stale where somebody has changed it since', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const plan = await stopped(lab)
      lab.simulator.edit({path: ONE, set: {memoryLimitInGb: 3}})
      await expect(lab.recheck(plan, [both()], begun)).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })

  it('makes the plan stale where no run of it has begun', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await expect(lab.recheck(await stopped(lab), [both()])).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })

  it.each(MOMENTS)('is changed by the run that goes on where nobody knows whether a secret of it has arrived: %s', async moment => {
    const lab = new Lab()
    const secret = () => shop().database('one', 'main', {memoryLimitInGb: 2, password: new Secret('pw', 'var.password')})
    await lab.run(async () => {
      const built = await lab.plan([secret()], {lifts: {adopt: []}})
      expect(await applyUntilCrash(lab, built, [secret()], 1, moment)).toBe(true)
      lab.store('shop').held()
      await settle(lab, built, [secret()])
      const again = await lab.recheck(built.plan, [secret()], {made: madeIn(lab.journal), changed: changedIn(lab.journal), before: []})
      expect(again.plan.guards).toEqual([])
      await lab.execute(again, [secret()])
      expect(lab.writes.filter(it => it.startsWith('POST'))).toEqual(['POST /subscriptions'])
      expect((await lab.plan([secret()])).plan.summary).toMatchObject({'no-op': 2})
    })
  })
})
