import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {rootRule, ruleAt} from '../../../src/engine/model/field-rules.ts'

const kind = kinds.get('cloud.database')
if (kind === undefined) throw new Error('there are databases')

describe('the rule of a field', () => {
  it('is worked out once where a schema knows what it is in', () => {
    expect(rootRule(kind).below('memoryLimitInGb')).toBe(ruleAt(kind, '/memoryLimitInGb'))
    expect(ruleAt(kind, '/newcomer')).toBe(ruleAt(kind, '/newcomer'))
  })

  it('is the same each time, and not kept, below what no schema knows', () => {
    const [first, second] = [ruleAt(kind, '/newcomer/password/x'), ruleAt(kind, '/newcomer/password/x')]
    expect(first).not.toBe(second)
    for (const rule of [first, second]) expect(rule).toMatchObject({secret: true, known: false, pattern: '/newcomer/password/x'})
  })
})
