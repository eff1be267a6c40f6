import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {parseExactJson, stringifyExactJson} from '../../src/base/lossless-json.ts'

describe('exact JSON', () => {
  it('keeps whole numbers beyond 2^53, also negative ones and inside lists', () => {
    const text = '{"id":9007199254740993,"list":[-18446744073709551615,1],"n":1.5}'
    expect(parseExactJson(text)).toEqual({id: 9007199254740993n, list: [-18446744073709551615n, 1], n: 1.5})
    expect(stringifyExactJson(parseExactJson(text))).toBe(text)
  })

  it('leaves digits inside texts and keys alone', () => {
    const text = '{"9007199254740993":"9007199254740993, \\"9007199254740993\\"","b":9007199254740993}'
    expect(parseExactJson(text)).toEqual({'9007199254740993': '9007199254740993, "9007199254740993"', b: 9007199254740993n})
    expect(stringifyExactJson(parseExactJson(text))).toBe(text)
  })

  it('leaves fractions and powers to the ordinary rules', () => {
    expect(parseExactJson('[0.10000000149011612, 12345678901234567e3, 1234567890123456.5]')).toEqual([
      0.10000000149011612, 12345678901234567e3, 1234567890123456.5,
    ])
  })

  it('does not take a text for its own mark', () => {
    const value = ['exact:12345678901234567', 'xexact:1', 12345678901234567n]
    expect(stringifyExactJson(value)).toBe('["exact:12345678901234567","xexact:1",12345678901234567]')
    expect(parseExactJson('["exact:1",12345678901234567]')).toEqual(['exact:1', 12345678901234567n])
  })

  it('refuses what JSON.parse refuses', () => {
    expect(() => parseExactJson('[9007199254740993,]')).toThrow(SyntaxError)
    expect(() => parseExactJson('[09007199254740993]')).toThrow(SyntaxError)
  })

  it('gives back what it wrote, for any JSON', () => {
    const value = fc.letrec(tie => ({
      node: fc.oneof(
        {depthSize: 'small'},
        fc.jsonValue(),
        fc.bigInt(2n ** 53n, 2n ** 80n),
        fc.array(tie('node')),
        fc.dictionary(fc.string(), tie('node')),
      ),
    })).node
    fc.assert(
      fc.property(value, it => {
        const text = stringifyExactJson(it)
        expect(stringifyExactJson(parseExactJson(text))).toBe(text)
      }),
      {numRuns: 300, seed: 7},
    )
  })
})
