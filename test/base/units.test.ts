import {describe, expect, it} from 'vitest'
import {formatSizeBytes, parseSizeBytes, SizeError} from '../../src/base/units.ts'

describe('a size in a stack', () => {
  it.each([
    ['4GiB', 4_294_967_296],
    ['4GB', 4_000_000_000],
    ['512 MiB', 536_870_912],
    ['1.5 GB', 1_500_000_000],
    ['2TiB', 2_199_023_255_552],
    ['100B', 100],
    ['1kB', 1000],
  ])('%s is %d bytes', (text, bytes) => {
    expect(parseSizeBytes(text)).toBe(bytes)
  })

  it.each(['4', '4G', '4gib', 'GiB', '-1GiB', '4 GiB of memory', ''])('%j is refused with the units that exist', text => {
    expect(() => parseSizeBytes(text)).toThrow(SizeError)
  })

  it('is refused when it is no whole number of bytes', () => {
    expect(() => parseSizeBytes('0.3B')).toThrow('whole number of bytes')
  })
})

describe('a size for people', () => {
  it.each([
    [900, '900 B'],
    [1536, '1.5 KiB'],
    [4_294_967_296, '4 GiB'],
    [5_000_000_000, '4.7 GiB'],
  ])('%d bytes read %s', (bytes, text) => {
    expect(formatSizeBytes(bytes)).toBe(text)
  })
})
