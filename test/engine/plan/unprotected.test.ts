/** A plan that takes off what keeps an object from being deleted: the plan after it may delete that, so whoever approves this one sees it. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {Policy} from '../../../src/engine/model/declaration.ts'
import {safePart} from '../../../src/engine/plan/safe.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const user = (policy: Partial<Policy>, name = 'u') => stackOf().add('cluster.user', 'u', {name}, {policy})
const KEPT: Partial<Policy> = {preventDestroy: true, removal: 'retain'}

async function applied(policy: Partial<Policy>): Promise<Lab> {
  const lab = new Lab()
  await lab.run(() => lab.apply([user(policy)]))
  return lab
}

describe('a plan that takes a protection off', () => {
  it.each([
    ['nothing else', user({}), 'adopt'],
    ['a field', stackOf().add('cluster.user', 'u', {name: 'u', email: 'u@example.com'}), 'update'],
  ])('says so beside %s, and is no safe part', async (_, stack, action) => {
    const lab = await applied(KEPT)
    const {plan} = await lab.run(() => lab.plan([stack]))
    expect(plan.operations).toMatchObject([
      {
        action,
        unprotects: ['prevent_destroy', 'retain'],
        reason: expect.stringMatching(/; prevent_destroy is taken off; it is deleted from now on when its declaration goes/),
      },
    ])
    expect(safePart(plan, kinds)).toMatchObject({
      plan: {operations: []},
      leftOut: [{why: 'it takes off what keeps the object from being deleted'}],
    })
  })

  it('is none where protections stay, or come', async () => {
    const lab = await applied({preventDestroy: true})
    for (const policy of [{preventDestroy: true}, KEPT]) {
      const {plan} = await lab.run(() => lab.plan([user(policy)]))
      expect(plan.operations[0]).not.toHaveProperty('unprotects')
    }
  })

  it('is stale where the protection came to the ledger behind it', async () => {
    const lab = await applied({})
    await lab.run(async () => {
      const changed = stackOf().add('cluster.user', 'u', {name: 'u', email: 'u@example.com'})
      const {plan} = await lab.plan([changed])
      await lab.apply([user({preventDestroy: true})])
      await expect(lab.recheck(plan, [changed])).rejects.toMatchObject({
        code: 'E_PLAN_STALE',
        message: expect.stringContaining('the ledger has it under prevent_destroy by now'),
      })
    })
  })
})
