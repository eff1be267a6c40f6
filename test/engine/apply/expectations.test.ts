import {describe, expect, it} from 'vitest'
import {Expectations} from '../../../src/engine/apply/expectations.ts'

const SORT = 'cloud.acl_rule create task'

/** Between 1.9 and 2.0 s, as far as looks have told. */
function learned(): Expectations {
  const expected = new Expectations()
  expected.wasOver(SORT, 2_000, false)
  expected.wentOn(SORT, 1_900)
  expected.wasOver(SORT, 2_000, false)
  return expected
}

describe('how long something is expected to take', () => {
  it('is the age at which it was seen over, once that is known to a tenth', () => {
    const expected = new Expectations()
    expected.wasOver(SORT, 4_000, false)
    expect(expected.firstLookMs(SORT)).toBe(2_000)
    expect(learned().firstLookMs(SORT)).toBe(2_000)
  })

  it('is not longer because a look came later than it had to: what was known is as likely as before', () => {
    const expected = learned()
    expected.wentOn(SORT, 1_950)
    expected.wasOver(SORT, 2_950, false)
    expect(expected.firstLookMs(SORT)).toBe(2_000)
  })

  it('is longer once one goes on beyond it', () => {
    const expected = learned()
    expected.wentOn(SORT, 2_000)
    expected.wasOver(SORT, 3_000, false)
    expect(expected.firstLookMs(SORT)).toBeGreaterThan(2_000)
  })

  it('is tried out again when hundreds were over in that time, since it may go faster by now', () => {
    const expected = learned()
    for (let i = 0; i < 200; i++) expected.wasOver(SORT, 2_000, false)
    expect(expected.firstLookMs(SORT)).toBe(2_000)
    for (let i = 0; i < 400; i++) expected.wasOver(SORT, 2_000, false)
    expect(expected.firstLookMs(SORT)).toBeLessThan(2_000)
  })
})
