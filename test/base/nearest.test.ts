import {describe, expect, it} from 'vitest'
import {nearest} from '../../src/base/nearest.ts'

describe('the nearest known word', () => {
  it.each([
    ['memoryLimitInGB', 'memoryLimitInGb'],
    ['porfile', 'profile'],
    ['pln', 'plan'],
    ['xyz', undefined],
    ['a', undefined],
  ])('to %s is %s', (word, known) => {
    expect(nearest(word, ['memoryLimitInGb', 'profile', 'plan', 'apply'])).toBe(known)
  })
})
