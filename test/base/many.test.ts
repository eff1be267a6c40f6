import {describe, expect, it} from 'vitest'
import {addAll, largest, smallest} from '../../src/base/many.ts'

describe('many values', () => {
  const many = Array.from({length: 500_000}, (_, at) => at)

  it('are added to a list, also when they are more than a call takes arguments', () => {
    const target = [-1]
    addAll(target, many)
    expect(target).toHaveLength(500_001)
    expect(target.at(-1)).toBe(499_999)
  })

  it('have a largest and a smallest one', () => {
    expect([largest(many), smallest(many)]).toEqual([499_999, 0])
    expect([largest([]), smallest([])]).toEqual([Math.max(), Math.min()])
    expect([largest([1, Number.NaN]), smallest([Number.NaN, 1])]).toEqual([Number.NaN, Number.NaN])
  })
})
