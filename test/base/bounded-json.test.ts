import {describe, expect, it} from 'vitest'
import {parseAnyJson, parseJson} from '../../src/base/bounded-json.ts'

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
