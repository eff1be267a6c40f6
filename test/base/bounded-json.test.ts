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
