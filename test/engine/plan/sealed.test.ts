/** A plan's name: made again wherever a part that it covers says something else, and only there. */
import {describe, expect, it} from 'vitest'
import type {Plan} from '../../../src/engine/model/plan.ts'
import {assertSealed, resealed, sealed} from '../../../src/engine/plan/document.ts'
import {created, madePlan} from '../../support/made-plan.ts'

const plan = sealed({...madePlan({operations: [created('cache', 2)]}), unmanaged: 2, notes: ['one']})
const others: Partial<Omit<Plan, 'hash'>> = {
  requests: {used: 7, avoided: 8},
  notes: ['another'],
  unmanaged: [{kind: 'cloud.database', name: 'theirs', remoteId: 'cloud/subscriptions/1/databases/9'}],
  guards: [{code: 'G_READ_ONLY', addresses: [], allow: 'nothing', message: 'it is read-only'}],
  accounts: {cloud: {address: 'https://example.test', keyHash: 'other'}},
  notAfter: '2026-01-01T00:00:00.000Z',
  source: {commit: '12345678'},
  freezes: [],
}

describe('a plan with another part', () => {
  it.each(Object.entries(others))('%s: has the hash of a plan that was made so', (name, part) => {
    const now = resealed(plan, {[name]: part})
    assertSealed(now)
    expect(now).toEqual(sealed({...plan, [name]: part}))
  })

  it('keeps its hash where the part says the same in another object', () => {
    expect(resealed(plan, {notes: ['one'], unmanaged: 2}).hash).toBe(plan.hash)
  })

  it('is not read again, operation by operation, for a part outside of the hash', () => {
    const {operations: _, ...without} = plan
    expect(resealed(without as Plan, {requests: {used: 9, avoided: 9}}).hash).toBe(plan.hash)
    expect(resealed(without as Plan, {notes: ['another']}).hash).not.toBe(sealed({...plan, notes: ['another']}).hash)
  })
})
