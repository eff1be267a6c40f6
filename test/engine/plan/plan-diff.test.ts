/** What is different between two plans: who approved the first one reads of nothing else. */
import {describe, expect, it} from 'vitest'
import {diffFrames, diffPlans} from '../../../src/engine/plan/plan-diff.ts'
import {planDiffText} from '../../../src/report/plan-diff-text.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const shop = () => stackOf().subscription('main').database('cache', 'main')

describe('the difference of two plans', () => {
  it('is nothing where both do the same', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const [one, two] = [(await lab.plan([shop()])).plan, (await lab.plan([shop()])).plan]
      expect(planDiffText(diffPlans(one, two), diffFrames(one, two))).toBe('The plans do the same.')
    })
  })

  it('names what has become of an object that goes', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop()])
      const one = (await lab.plan([stackOf().subscription('main')])).plan
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 9}})
      const two = (await lab.plan([stackOf().subscription('main')])).plan
      expect(diffPlans(one, two)).toMatchObject([
        {address: 'null_resource.cache', what: 'other changes', also: ['/memoryLimitInGb is 9, and was 1 when planned']},
      ])
      expect(planDiffText(diffPlans(one, two), [])).toContain('/memoryLimitInGb is 9')
    })
  })

  it('names what is declared beside the fields, and what lifts guards', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const one = (await lab.plan([shop()], {lifts: {allowDestroy: []}})).plan
      const kept = stackOf().subscription('main').database('cache', 'main', {}, {removal: 'retain'})
      const two = (await lab.plan([kept], {lifts: {allowDestroy: ['*']}})).plan
      expect(diffPlans(one, two)).toMatchObject([{address: 'null_resource.cache', also: ['declared policy: not the same']}])
      expect(diffFrames(one, two)).toEqual(['lifts allowDestroy: [] -> ["*"]'])
    })
  })
})
