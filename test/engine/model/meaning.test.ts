import {describe, expect, it} from 'vitest'
import {canonicalJson, type Json} from '../../../src/base/json.ts'
import {canonical, legible, same} from '../../../src/engine/model/meaning.ts'

describe('equality by meaning', () => {
  it('takes what single precision leaves of a fraction for the fraction', () => {
    expect(same(0.1, 0.10000000149011612)).toBe(true)
    expect(same(9999.99951171875, 10000)).toBe(true)
    expect(same(0.1, 0.2)).toBe(false)
  })

  it('is exact for whole numbers, bytes and ids', () => {
    expect(same(1073741825, 1073741824)).toBe(false)
  })

  it('takes digits for the number they spell, and texts for themselves', () => {
    expect(same(12, '12')).toBe(true)
    expect(same('2.0', 2)).toBe(true)
    expect(same('', 0)).toBe(false)
    expect(same('12', '12.0')).toBe(false)
    expect(same('true', true)).toBe(false)
  })

  it('keeps absent values, empty ones and zeros apart', () => {
    const values: readonly Json[] = [null, [], {}, false, 0, '']
    for (const a of values) for (const b of values) expect(same(a, b)).toBe(a === b)
  })

  it('does not see the order of lists and fields', () => {
    expect(same([{a: 1, b: [2, 1]}, 'x'], ['x', {b: [1, 2], a: '1'}])).toBe(true)
    expect(same(['x', 'x'], ['x'])).toBe(false)
  })
})

describe('the canonical form', () => {
  it('has equal bytes for equal meaning, and keeps versions apart', () => {
    const bytes = (value: Json) => canonicalJson(canonical(value))
    expect(bytes({b: ['2', 0.1], a: 1})).toBe(bytes({a: 1, b: [0.10000000149011612, 2]}))
    expect(bytes('1.10')).not.toBe(bytes('1.1'))
    expect(bytes(-0)).toBe('0')
  })
})

describe('a number that went through single precision', () => {
  it.each([
    [0.10000000149011612, 0.1],
    [2.5, 2.5],
    [9999.9995, 9999.9995],
    [0.30000001192092896, 0.3],
  ])('%d is shown as %d', (value, shown) => {
    expect(legible({sizes: [value]})).toEqual({sizes: [shown]})
  })
})
