import {describe, expect, it} from 'vitest'
import type {ValueObject} from '../../../src/engine/model/value.ts'
import {applyUntilCrash, settle} from '../../support/crash.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'

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

describe('a field that was kept as somebody else had set it', () => {
  const CACHE = 'cloud/subscriptions/1/databases/1'
  const cache = (spec: ValueObject) => stackOf().subscription('main').database('cache', 'main', spec)
  const keep = {lifts: {onDrift: 'keep'}} as const
  const changesOf = async (lab: Lab, stack: StackBuilder, more: Planning = {}) =>
    (await lab.plan([stack], more)).plan.operations.flatMap(it => (it.name === 'cache' ? [[it.action, it.cause, it.kept ?? []]] : []))

  /** Declared as 2 after it was applied as 1, while somebody had made 3 of it, and kept. */
  async function kept(lab: Lab): Promise<StackBuilder> {
    await lab.apply([cache({memoryLimitInGb: 1, replication: false})])
    lab.simulator.edit({path: CACHE, set: {memoryLimitInGb: 3}})
    const now = cache({memoryLimitInGb: 2, replication: true})
    await lab.apply([now], keep)
    return now
  }

  it('counts as applied as it was before, and what was sent beside it as it was sent', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const now = await kept(lab)
      expect(lab.writes.filter(it => it.startsWith('PUT'))).toHaveLength(1)
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 1, replication: true})
      // It is kept again, and there is nothing to record of it.
      expect(await changesOf(lab, now, keep)).toEqual([['no-op', 'as-declared', ['/memoryLimitInGb']]])
      expect(await changesOf(lab, now)).toEqual([['update', 'changed-both', []]])
      lab.simulator.edit({path: CACHE, set: {memoryLimitInGb: 1}})
      expect(await changesOf(lab, now)).toEqual([['update', 'changed-in-git', []]])
    })
  })

  it('counts so after a run that died, too', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache({memoryLimitInGb: 1, replication: false})])
      lab.simulator.edit({path: CACHE, set: {memoryLimitInGb: 3}})
      const now = cache({memoryLimitInGb: 2, replication: true})
      const built = await lab.plan([now], keep)
      expect(await applyUntilCrash(lab, built, [now], 0, 'journaled')).toBe(true)
      lab.store('shop').held()
      await settle(lab, built, [now])
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 1, replication: true})
    })
  })
})
