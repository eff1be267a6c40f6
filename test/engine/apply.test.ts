import {describe, expect, it} from 'vitest'
import {Lab, stackOf} from '../support/lab.ts'

const shop = () =>
  stackOf()
    .subscription('main')
    .database('cache', 'main')
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro', password: 'x'}, ['ro'])
    .bdb('local')

describe('apply', () => {
  it('creates parents before their children, and a second plan is empty', async () => {
    const lab = new Lab()
    const {first, second, requests} = await lab.run(async () => {
      const first = await lab.apply([shop()])
      const requests = lab.requests
      const second = await lab.plan([shop()])
      return {first, second, requests}
    })
    console.log(
      requests,
      first.ended.map(e => [e.operation.address, e.state, e.error?.message]),
      first.residual,
      first.readyMs,
      first.provenMs,
    )
    console.log(
      second.plan.operations.map(o => [o.address, o.action, o.reason, o.changes]),
      second.plan.requests,
      second.plan.notes,
    )
    expect(first.summary.done).toBe(5)
    expect(first.residual).toEqual([])
    expect(second.plan.summary['no-op']).toBe(5)
  })
})
