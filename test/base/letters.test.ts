import {describe, expect, it} from 'vitest'
import {letters} from '../../src/base/letters.ts'

describe('letters', () => {
  it.each([
    ['plain', 'a b\n', ['a', ' ', 'b', '\n']],
    ['a line end of Windows, which is one', 'a\r\nb', ['a', '\r\n', 'b']],
    ['an accent of its own', 'ae\u0301', ['a', 'e\u0301']],
    ['nothing', '', []],
  ])('are those of %s', (_, text, expected) => {
    expect(letters(text)).toEqual(expected)
  })
})
