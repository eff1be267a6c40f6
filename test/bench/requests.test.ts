import {describe, expect, it} from 'vitest'
import {countRequests} from '../../bench/requests.ts'

describe('requests of a plan', () => {
  it('are those of the read-set and not one more', async () => {
    expect(Object.fromEntries((await countRequests()).map(it => [it.what, it.requests]))).toEqual({
      'first plan, empty account, 8 x 25 databases': 1,
      '8 x 25 databases, nothing changed': 17,
      '8 x 25 databases, one changed field': 17,
      '8 x 200 databases, nothing changed': 17,
      '8 x 25 databases with 4 ACL objects each, nothing changed': 417,
      'cluster: settings, policy, databases, nodes, users, nothing changed': 6,
    })
  }, 240_000)
})
