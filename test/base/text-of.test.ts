import {expect, it} from 'vitest'
import {textOf} from '../../src/base/text-of.ts'

it('a byte order mark is no part of a text, and what is no UTF-8 stands as a mark of its own', () => {
  expect(textOf(Buffer.from('\uFEFF{"a": "ü"}'))).toBe('{"a": "ü"}')
  expect(textOf(Buffer.from([0x61, 0xff, 0x62]))).toBe('a\uFFFDb')
})
