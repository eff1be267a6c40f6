import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {quote} from '../../src/base/quoted-text.ts'
import {parseReference} from '../../src/declaration/language/expression-parser.ts'
import {printAddress as declared} from '../../src/declaration/language/values/expression.ts'
import {formatAddress, parseAddress} from '../../src/ledger/resource-address.ts'

const STRANGE = [
  '\u001b[31m',
  '\u0000',
  '\b\f\v',
  '\u007f\u0085\u009b',
  '\ud83d',
  '\udc00a',
  '${x}',
  '$${x}',
  '%{if}',
  '"]',
  '\\u0041',
  '\u202e',
  "'",
  'é🔑',
]
const key = fc.oneof(
  fc.constantFrom(...STRANGE),
  fc.string({unit: 'binary'}),
  fc.array(fc.constantFrom(...STRANGE, 'a')).map(it => it.join('')),
)

describe('the key of an instance', () => {
  it('is spelled by its stack as its ledger reads it, whatever it holds: what was made is never left out of a ledger', () => {
    fc.assert(
      fc.property(key, index => {
        const address = declared('each', index)
        expect(parseAddress(address)).toEqual({name: 'each', index})
        expect(formatAddress({name: 'each', index})).toBe(address)
        expect(parseReference(`${address}.id`)).toBeDefined()
        expect(address).not.toMatch(/\p{Cc}/u)
      }),
      {numRuns: 2_000},
    )
  })

  it.each([
    ['a', '"a"'],
    ['\u001b[31m\u007f', '"\\u001b[31m\\u007f"'],
    ['a\n"\\', '"a\\n\\"\\\\"'],
    ['${x} $${y} %{z}', '"$${x} $$${y} %%{z}"'],
    ['\ud83d🔑', '"\\ud83d🔑"'],
  ])('%j is %s', (text, quoted) => {
    expect(quote(text)).toBe(quoted)
  })
})
