import {describe, expect, it} from 'vitest'
import {nearest} from '../../src/base/nearest.ts'
import {processorTime} from '../support/processor-time.ts'

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

  it('is found at once, or there is none: words of a megabyte are compared with nothing', () => {
    const takenMs = processorTime()
    expect(nearest('a'.repeat(1_000_000), ['b'.repeat(1_000_000), `${'a'.repeat(999_999)}b`])).toBeUndefined()
    expect(nearest('plan', ['b'.repeat(1_000_000), 'plam'])).toBe('plam')
    expect(takenMs()).toBeLessThan(2_000)
  })

  it('is not looked for any more when thousands of words were asked for: an error comes at once', async () => {
    const known = Array.from({length: 3_000}, (_, at) => `${'v'.repeat(300)}${at}`)
    const takenMs = processorTime()
    for (const word of known) nearest(`${word}_x`, known)
    expect(takenMs()).toBeLessThan(10_000)
    expect(nearest('pln', ['plan'])).toBeUndefined()
    await new Promise(resolve => setImmediate(resolve))
    expect(nearest('pln', ['plan'])).toBe('plan')
  })
})
