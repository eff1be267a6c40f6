import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {canonicalJson, writeCanonicalJson} from '../../src/base/json.ts'

describe('canonical JSON', () => {
  it('sorts keys at every depth, and leaves out what is undefined', () => {
    expect(canonicalJson({b: [{d: 1, c: null}], a: undefined, '': 'x'})).toBe('{"":"x","b":[{"c":null,"d":1}]}')
  })

  it('spells text as JSON.stringify does, whatever is in it', () => {
    expect(canonicalJson('plain ü 😀 \u2028')).toBe('"plain ü 😀 \u2028"')
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff)), units => {
        const text = String.fromCharCode(...units)
        expect(canonicalJson({[text]: text})).toBe(JSON.stringify({[text]: text}))
      }),
    )
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
