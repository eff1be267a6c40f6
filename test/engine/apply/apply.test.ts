import {describe, expect, it} from 'vitest'
import {Secret} from '../../../src/engine/model/value.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const shop = () =>
  stackOf()
    .subscription('main')
    .database('cache', 'main')
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro', password: new Secret('x')}, ['ro'])
    .bdb('local')

describe('apply', () => {
  it('creates parents before their children, and a second plan is empty', async () => {
    const lab = new Lab()
    const {first, second} = await lab.run(async () => ({first: await lab.apply([shop()]), second: await lab.plan([shop()])}))
    expect(first.summary.done).toBe(5)
    expect(first.residual).toEqual([])
    expect(lab.writes.filter(it => !it.includes('/v1/'))).toEqual([
      'POST /subscriptions',
      'POST /subscriptions/1/databases',
      'POST /subscriptions/1/databases/1/acl/rules',
      'POST /subscriptions/1/databases/1/acl/users',
    ])
    expect(second.plan.summary['no-op']).toBe(5)
  })
})
