/** What a plan says of objects that it lets be where nothing undeclared may stay. */
import {describe, expect, it} from 'vitest'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const databases = [
  {name: 'one', memoryLimitInGb: 1},
  {name: 'two', memoryLimitInGb: 1},
]
const shop = () => stackOf().subscription('main', {databases}, {exclusive: ['databases']})

describe('databases that a subscription is made with, which is exclusive for them', () => {
  it('are named where nothing declares them, and go with the next plan', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const notes = async (stack: StackBuilder) => (await lab.plan([stack])).plan.notes
      expect(await notes(shop().database('one', 'main'))).toEqual([
        'null_resource.main: nothing declares "two", made with it, but null_resource.main is exclusive for its databases: the next plan removes that',
      ])
      expect(await notes(shop().database('one', 'main').database('two', 'main'))).toEqual([])
      expect(await notes(stackOf().subscription('main', {databases}))).toEqual([])
      await lab.apply([shop().database('one', 'main')])
      await lab.clock.sleep(60_000)
      const {operations} = (await lab.plan([shop().database('one', 'main')])).plan
      expect(active(operations)).toMatchObject([{action: 'delete', cause: 'exclusive', name: 'two'}])
    })
  })
})
