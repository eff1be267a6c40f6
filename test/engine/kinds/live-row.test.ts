import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {readyByStatus} from '../../../src/engine/kinds/live-row.ts'

describe('readiness by status', () => {
  const ready = readyByStatus({ready: ['active'], failed: ['error', 'failed']})

  it.each([
    [undefined, 'ready'],
    ['', 'ready'],
    ['active', 'ready'],
    ['ACTIVE', 'ready'],
    ['pending', 'waiting'],
    ['active-change-pending', 'waiting'],
    ['a-word-that-nobody-knows', 'waiting'],
    ['delete-pending', 'leaving'],
    ['pending_delete', 'leaving'],
    ['deleting', 'leaving'],
    ['delete-draft', 'leaving'],
    ['error', 'failed'],
  ])('%s is %s', (status, readiness) => {
    expect(ready(status === undefined ? {} : {status})).toBe(readiness)
  })

  it('of a peering that the other side has deleted is a failure', () => {
    const peering = kinds.get('cloud.peering')
    expect([peering?.ready?.({status: 'deleted'}), peering?.ready?.({status: 'deleting'})]).toEqual(['failed', 'leaving'])
  })
})
