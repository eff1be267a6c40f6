import {describe, expect, it} from 'vitest'
import {formatDuration, parseDuration} from '../../src/base/duration.ts'

describe('a length of time', () => {
  it.each([
    ['200ms', 200],
    ['5s', 5_000],
    ['5', 5_000],
    ['1.5m', 90_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['0', 0],
  ])('%s is %i milliseconds', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', 'soon', '-5s', '5 s', '5x', 'ms', '99999999999999999d', '1e3s'])('%j is refused with exit 64', text => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({code: 'E_DURATION', exit: 64}))
  })

  it.each([
    [0, '0 ms'],
    [240, '240 ms'],
    [3_400, '3.4 s'],
    [5_000, '5 s'],
    [9_960, '10 s'],
    [59_600, '1 min'],
    [125_000, '2 min 5 s'],
    [3_780_000, '1 h 3 min'],
    [187_200_000, '2 d 4 h'],
  ])('%i milliseconds are shown as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })
})
