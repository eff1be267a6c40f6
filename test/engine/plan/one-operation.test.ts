/** One object has one declaration: whoever finds it in whatever way is told who has it. */
import {describe, expect, it} from 'vitest'
import type {AppError} from '../../../src/base/errors.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'

const refusal = (lab: Lab, builders: readonly StackBuilder[], more: Planning = {}): Promise<AppError> =>
  lab.plan(builders, more).then(
    () => {
      throw new Error('it was planned')
    },
    error => error as AppError,
  )

describe('an object that a declaration has', () => {
  it('is not imported under a second address while the first one is left out of the run', async () => {
    const lab = new Lab()
    const before = stackOf().subscription('a').database('x', 'a', {name: 'cache'})
    await lab.run(async () => {
      await lab.apply([before])
      const importId = lab.entry('shop', 'x')?.remoteId ?? ''
      const spec = {name: 'cache', memoryLimitInGb: 2}
      const after = before.add('cloud.database', 'y', spec, {parent: before.in('a'), importId})
      const error = await refusal(lab, [after], {selection: {target: ['null_resource.y'], exclude: []}})
      expect(error).toMatchObject({code: 'E_PLAN_PROBLEMS', exit: 64})
      expect(error.problems?.[0]?.message).toMatch(/which (shop:)?null_resource.x has, .* plan both together/)
    })
  })

  it('is not taken for another one that has the name which it need not have any more', async () => {
    const lab = new Lab()
    const stack = () =>
      stackOf()
        .subscription('main')
        .database('db', 'main', {}, {ignoreChanges: ['/name']})
    await lab.run(async () => {
      await lab.apply([stack()])
      lab.simulator.edit({path: lab.entry('shop', 'db')?.remoteId ?? '', set: {name: 'renamed'}})
      await lab.apply([stackOf('z').add('cloud.database', 'o', {name: 'db', memoryLimitInGb: 1}, {parent: {by: 'name', name: 'main'}})])
      lab.stores.delete('z')
      const {plan} = await lab.plan([stack()])
      expect(plan.operations.map(it => it.action)).toEqual(['no-op', 'no-op'])
    })
  })

  it('is not made a second time by another stack that declares it too, also where objects have no names', async () => {
    const lab = new Lab()
    const first = stackOf('a').subscription('main').peering('p', 'main')
    const second = stackOf('b').add(
      'cloud.peering',
      'q',
      {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-p'},
      {parent: {by: 'name', name: 'main'}},
    )
    await lab.run(async () => {
      await lab.apply([first])
      const error = await refusal(lab, [first, second])
      expect(error).toMatchObject({code: 'E_PLAN_PROBLEMS', exit: 64})
      expect(error.problems?.[0]?.message).toContain('one object can have one declaration')
    })
  })
})
