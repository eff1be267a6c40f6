import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {type ExactJson, ExactNumber, parseExactJson, parseSpelledJson, stringifyExactJson} from '../../src/base/lossless-json.ts'
import {seedOr} from '../support/seed.ts'

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

  // By the square of its digits it would take minutes, and answers may have millions of them.
  it('refuses a number of more than a thousand digits, and takes as many in a text', () => {
    const digits = '9'.repeat(1001)
    for (const parse of [parseExactJson, parseSpelledJson]) {
      for (const number of [digits, `-${digits}`, `0.${digits}`, `1${'0'.repeat(1_000_000)}1`]) {
        expect(() => parse(`{"id": ${number}}`)).toThrow('has a number of more than 1000 digits')
      }
      expect(parse(`{"id": "${digits}", "n": ${'9'.repeat(1000)}}`)).toEqual({id: digits, n: BigInt('9'.repeat(1000))})
    }
  })

  it('walks over a text of many million escapes', () => {
    const text = '\\n'.repeat(4_000_000)
    expect(parseSpelledJson(`["${text}",1e-400]`)).toEqual(['\n'.repeat(4_000_000), new ExactNumber('1e-400')])
    expect(parseExactJson('["1234567890123456789\\"1234567890123456789",1234567890123456789]')).toEqual([
      '1234567890123456789"1234567890123456789',
      1_234_567_890_123_456_789n,
    ])
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
        const text = stringifyExactJson(it as ExactJson)
        expect(stringifyExactJson(parseExactJson(text))).toBe(text)
      }),
      {numRuns: 300, seed: seedOr(7)},
    )
  })
})

describe('spelled JSON', () => {
  it('gives back every number as it came, and counts with the nearest one', () => {
    const text = '{"a":1e400,"b":1E-400,"c":12345678901234567890,"d":[1.10,-0,-0.0,0.1000000000000000055],"1.10":"1.10, 1e400"}'
    expect(stringifyExactJson(parseSpelledJson(text))).toBe(text)
    expect(parseSpelledJson('[1.10]')).toEqual([new ExactNumber('1.10')])
    expect(Number(new ExactNumber('1.10')) + 1).toBe(2.1)
    expect(parseSpelledJson('[1,2.5,-3]')).toEqual([1, 2.5, -3])
  })

  it('tells a number that no number can hold from one that is spelled in another way', () => {
    const beyond = (text: string) => new ExactNumber(text).isBeyond
    expect(['1.10', '1.0', '10e-1', '-0', '0.0', '1E5', '1e22'].map(beyond)).toEqual(Array(7).fill(false))
    expect(['1e400', '-1e400', '1e-400', '0.1000000000000000055', '12345678901234567.5'].map(beyond)).toEqual(Array(5).fill(true))
  })

  it('is the same text for any JSON', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        expect(JSON.parse(stringifyExactJson(parseSpelledJson(text)))).toEqual(JSON.parse(text))
      }),
      {numRuns: 300, seed: seedOr(8)},
    )
  })
})

describe('JSON that is shown', () => {
  it('escapes what a terminal would act on, and means the same', () => {
    const value = {'k\u202e': 'a\u009b31m\u202eb\u007f\u2066\u2028é\u00a0'}
    const text = stringifyExactJson(value)
    expect(text).toBe('{"k\\u202e":"a\\u009b31m\\u202eb\\u007f\\u2066\\u2028é\u00a0"}')
    expect(JSON.parse(text)).toEqual(value)
  })
})

describe('JSON that goes too deep', () => {
  it('is refused before anything walks through it', () => {
    const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`
    for (const parse of [parseExactJson, parseSpelledJson]) {
      expect(() => parse(nested(1_000))).not.toThrow()
      expect(() => parse(nested(1_002))).toThrow('goes more than 1000 levels deep')
      expect(() => parse(nested(100_000))).toThrow('goes more than 1000 levels deep')
    }
  })
})
