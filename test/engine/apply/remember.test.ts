import {describe, expect, it} from 'vitest'
import {Lab, stackOf} from '../../support/lab.ts'

const wish = () =>
  stackOf()
    .subscription('main')
    .add(
      'cloud.database',
      'cache',
      {name: 'cache', memoryLimitInGb: 1},
      {
        parent: stackOf().in('main'),
        outputs: ['nobodyShowsThis'],
      },
    )

describe('what the ledger learns of an object', () => {
  it('that was just made is there, also when what others read of it cannot be looked at', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100}}})
    await lab.run(async () => {
      // The look at the one object, for an output that its row in the list does not have.
      lab.simulator.inject({match: {method: 'GET', path: '**/databases/*'}, action: {type: 'status', status: 403}})
      const result = await lab.apply([wish()])
      expect(result.ended.map(it => it.state)).toEqual(['done', 'failed'])
    })
    const ledger = (await lab.ledgers(['shop'])).get('shop')
    expect([...(ledger?.entries.keys() ?? [])].sort()).toEqual(['null_resource.cache', 'null_resource.main'])
  })
})
