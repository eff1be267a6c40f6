import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {canonicalJson, writeCanonicalJson} from '../../src/base/json.ts'

describe('canonical JSON', () => {
  it('sorts keys at every depth, and leaves out what is undefined', () => {
    expect(canonicalJson({b: [{d: 1, c: null}], a: undefined, '': 'x'})).toBe('{"":"x","b":[{"c":null,"d":1}]}')
  })

  it('is the same text written piece by piece, however deep lists and objects are opened', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(5), (value, depth) => {
        let text = ''
        writeCanonicalJson({list: [value, undefined], nothing: undefined}, depth, piece => {
          text += piece
        })
        expect(text).toBe(canonicalJson({list: [value, undefined], nothing: undefined}))
      }),
    )
  })
})
