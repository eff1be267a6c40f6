/** Databases that their subscription was created with, and that are declared themselves. */
import {describe, expect, it} from 'vitest'
import {Secret, type ValueObject} from '../../../src/engine/model/value.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const item = (name: string) => ({name, memoryLimitInGb: 1})

/** Its subscription makes all of them; each is declared to come after the one before. */
function chainOf(names: readonly string[], last: ValueObject = {}): StackBuilder {
  const stack = stackOf().subscription('main', {databases: names.map(item)})
  for (const [i, name] of names.entries()) {
    const spec = {...item(name), ...(i === names.length - 1 ? last : {})}
    stack.add('cloud.database', name, spec, {parent: stack.in('main'), after: names.slice(0, i).slice(-1)})
  }
  return stack
}

describe('databases that a subscription is created with', () => {
  it('stay where they are to be retained, also when the subscription is to go in a later run', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('main', {databases: [item('one')]})
    stack.add('cloud.database', 'one', item('one'), {parent: stack.in('main'), policy: {removal: 'retain'}})
    await lab.run(async () => {
      await lab.apply([stack])
      for (let runs = 0; runs < 3; runs++) {
        await lab.clock.sleep(60_000)
        await lab.apply([stackOf()])
      }
    })

    expect(lab.writes).toEqual(['POST /subscriptions'])
    expect(lab.entry('shop', 'main')).toMatchObject({remoteId: 'cloud/subscriptions/1'})
  })

  it('do not stand for what somebody else makes by their names, once they are deleted', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('main', {databases: [item('one')]})
    const both = stackOf()
      .subscription('main', {databases: [item('one')]})
      .database('one', 'main')
    await lab.run(async () => {
      await lab.apply([both])
      await lab.apply([stack])
      await lab.clock.sleep(60_000)
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: item('one')})
      const {plan} = await lab.plan([stackOf()])
      expect(plan.operations).toMatchObject([{action: 'blocked', cause: 'not-empty'}])
    })
  })

  it('are taken over one after the other, also where a look for the first has shown the others', async () => {
    const lab = new Lab()
    const stack = chainOf(['one', 'two', 'three'])

    const {summary, residual} = await lab.run(() => lab.apply([stack]))

    expect(summary).toMatchObject({done: 4, failed: 0})
    expect(residual).toEqual([])
    expect(lab.writes).toEqual(['POST /subscriptions'])
    expect((await lab.run(() => lab.plan([stack]))).plan.summary).toMatchObject({'no-op': 4})
  })

  it('are changed where they are declared otherwise than they were made', async () => {
    const lab = new Lab()
    const stack = chainOf(['one', 'two'], {memoryLimitInGb: 2, password: new Secret('pw', 'var.password')})

    const {summary} = await lab.run(() => lab.apply([stack]))

    expect(summary).toMatchObject({done: 3, failed: 0})
    expect(lab.writes).toEqual(['POST /subscriptions', 'PUT /subscriptions/1/databases/2'])
    expect((await lab.run(() => lab.plan([stack]))).plan.summary).toMatchObject({'no-op': 3})
  })
})
