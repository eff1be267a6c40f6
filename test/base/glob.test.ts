import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {globPattern} from '../../src/base/glob.ts'
import {processorTime} from '../support/processor-time.ts'
import {seedOr} from '../support/seed.ts'

describe('a pattern', () => {
  it.each([
    ['a*', 'a', true],
    ['a*', 'ba', false],
    ['*a', 'ba', true],
    ['a*a', 'a', false],
    ['a?c', 'a\nc', true],
    ['a?c', 'ac', false],
    ['*', '', true],
    ['?', '', false],
    ['**', 'anything', true],
    ['cache', 'cache', true],
    ['cache', 'caches', false],
    ['a.b', 'axb', false],
    ['null_resource.a["*"]', 'null_resource.a["x.y"]', true],
    ['*ab*abc', 'ababc', true],
    ['*ab*bc', 'abc', false],
  ])('%s: %j %j', (glob, text, fits) => {
    expect(globPattern(glob).test(text)).toBe(fits)
  })

  it('fits what a search that tries every way finds', () => {
    const word = (letters: readonly string[], maxLength: number) =>
      fc.array(fc.constantFrom(...letters), {maxLength}).map(it => it.join(''))
    const everyWay = (glob: string) => new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's')
    fc.assert(
      fc.property(word(['a', 'b', '*', '?'], 7), word(['a', 'b', '\n'], 9), (glob, text) => {
        expect(globPattern(glob).test(text)).toBe(everyWay(glob).test(text))
      }),
      {numRuns: 3_000, seed: seedOr(20_261_122)},
    )
  })

  it('has an answer at once, however many ways there are to try', () => {
    const takenMs = processorTime()
    expect(globPattern(`${'*a'.repeat(500)}*b`).test('a'.repeat(2_000))).toBe(false)
    expect(globPattern(`${'*'.repeat(5_000)}b`).test('a'.repeat(2_000))).toBe(false)
    expect(globPattern(`*${'?'.repeat(900)}b*c`).test('a'.repeat(2_000))).toBe(false)
    expect(takenMs()).toBeLessThan(2_000)
  })
})
