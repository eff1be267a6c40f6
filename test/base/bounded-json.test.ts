import {describe, expect, it} from 'vitest'
import {parseAnyJson, parseJson} from '../../src/base/bounded-json.ts'

describe('a number larger than any', () => {
  it.each(['1e400', '[-1E+999]', `{"a":{"b":${'9'.repeat(400)}}}`])('is refused, and would be null where it is sent: %s', text => {
    expect(() => parseJson(text)).toThrow('has a number larger than any that can be computed with')
  })

  it.each(['1e300', '"1e400"', '{"1e400":1e-400}', `"${'9'.repeat(400)}"`])('is none of %s', text => {
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })
})

describe('text that is no JSON', () => {
  it.each(['Sec-ret/1234 and more', '{"password": Sec-ret/1234}', '["a", "Sec-ret/1234" "b"]', '{"a": "Sec-ret', ''])(
    'is refused without a word of it: %s',
    text => {
      for (const parse of [parseAnyJson, parseJson]) {
        expect(() => parse(text)).toThrow(SyntaxError)
        expect(() => parse(text)).not.toThrow(/Sec|ret|1234/)
      }
    },
  )
})

describe('a text that takes many times its length as values', () => {
  const repeated = (item: string, count: number) => `[${item.repeat(count)}0]`

  it.each([
    ['brackets that nothing closes', '['.repeat(200_000), 'goes more than 1000 levels deep'],
    ['objects that nothing closes', '{"a":'.repeat(200_000), 'goes more than 1000 levels deep'],
    ['objects', repeated('{},', 1_300_000), 'would take more than 112 MiB of memory'],
    ['lists', repeated('[],', 1_700_000), 'would take more than 112 MiB of memory'],
    ['a field that is a place in a list of its own', repeated('{"1000":1},', 450_000), 'would take more than 112 MiB of memory'],
    [
      'a key for each object',
      `[${Array.from({length: 450_000}, (_, at) => `{"k${at}":1}`).join(',')}]`,
      'would take more than 112 MiB of memory',
    ],
    [
      'a key for each field',
      `{${Array.from({length: 700_000}, (_, at) => `"k${at}":1`).join(',')}}`,
      'would take more than 112 MiB of memory',
    ],
  ])('is refused before it is parsed: %s', (_, text, reason) => {
    for (const parse of [parseAnyJson, parseJson]) expect(() => parse(text)).toThrow(reason)
  })

  it.each([
    ['brackets in a text', JSON.stringify({a: '['.repeat(200_000), b: `\\"${'{'.repeat(200_000)}`})],
    ['one level less', `${'['.repeat(1000)}"${'x'.repeat(100_000)}"${']'.repeat(1000)}`],
    [
      'rows with the same fields',
      repeated(`{"id": 51000000, "name": "cache-and-more", "from": ["0.0.0.0/0"], "password": "\\n\\u0041"},`, 300_000),
    ],
  ])('is none of %s', (_, text) => {
    expect(JSON.stringify(parseJson(text)) === JSON.stringify(JSON.parse(text))).toBe(true)
  })
})
