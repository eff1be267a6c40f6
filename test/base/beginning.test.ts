import {describe, expect, it} from 'vitest'
import {beginningOf} from '../../src/base/beginning.ts'
import {AppError} from '../../src/base/errors.ts'
import {Redactor} from '../../src/base/redact.ts'

describe('the beginning of a text', () => {
  it('is the text where that is short, and says how long it was where it is not', () => {
    expect(beginningOf('abc', 3)).toBe('abc')
    expect(beginningOf('abcd', 3)).toBe('abc… (4 characters)')
  })

  it('ends with no half of a character', () => {
    expect(beginningOf('a😀b', 2)).toBe('a… (4 characters)')
  })

  it('leaves nothing of a secret that the cut went through, once it is redacted', () => {
    const redactor = new Redactor()
    redactor.register('hunter2-and-more')
    expect(redactor.text(beginningOf('the password hunter2-and-more is weak', 20))).toBe('the password [redacted]… (37 characters)')
  })
})

describe('an error', () => {
  const long = 'x'.repeat(100_000)

  it('has no name in it that is longer than a person reads, wherever the name stands', () => {
    const problem = {message: long, address: long, path: long, source: long}
    const error = new AppError(`locked by ${long}`, {
      code: 'E_X',
      suggestions: [`svcctl force-unlock ${long}`],
      problems: [problem, {message: 'short'}],
    })
    expect(error.message).toMatch(/^locked by x+… \(100010 characters\)$/)
    expect(error.problems?.[1]).toEqual({message: 'short'})
    for (const text of [error.message, ...error.suggestions, ...Object.values(error.problems?.[0] ?? {})])
      expect(text.length).toBeLessThan(10_100)
  })

  it('that has lines has so many, and each is bounded', () => {
    const error = new AppError(`query\n${long}\n  ^${'\n'.repeat(1_000_000)}`, {code: 'E_X', lines: true})
    expect(error.message.split('\n').slice(0, 3)).toEqual(['query', `${'x'.repeat(2_000)}… (100000 characters)`, '  ^'])
    expect(error.message).toMatch(/\n… \(1000003 lines\)$/)
    expect(error.message.length).toBeLessThan(3_000)
  })
})
