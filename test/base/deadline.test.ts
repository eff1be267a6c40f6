import {describe, expect, it} from 'vitest'
import {isOver, parseDeadline} from '../../src/base/deadline.ts'

const now = Date.parse('2026-11-22T10:00:00Z')

describe('until when something counts', () => {
  it.each([
    ['4h', '2026-11-22T14:00:00.000Z'],
    ['90d', '2027-02-20T10:00:00.000Z'],
    ['2026-12-01T08:00:00Z', '2026-12-01T08:00:00.000Z'],
    ['2026-12-01T08:00:00.250+02:00', '2026-12-01T06:00:00.250Z'],
    ['2026-12-01t08:00:00z', '2026-12-01T08:00:00.000Z'],
    [' 30m ', '2026-11-22T10:30:00.000Z'],
  ])('%s is %s', (text, moment) => {
    expect(parseDeadline(text, now, 90)).toBe(moment)
  })

  it.each([
    ['', 'invalid time or duration'],
    ['tomorrow', 'invalid time or duration'],
    ['2026-12-01', 'invalid time or duration'],
    ['2026-12-01T08:00:00', 'invalid time or duration'],
    ['2026-11-31T08:00:00Z', 'invalid time or duration'],
    ['2026-12-01T25:00:00Z', 'invalid time or duration'],
    ['90', 'invalid time or duration'],
    ['0s', 'over already'],
    ['2026-11-22T10:00:00Z', 'over already'],
    ['2026-11-22T11:30:00+02:00', 'over already'],
    ['91d', 'nothing may last for more than 90 days'],
    ['99999999d', 'nothing may last for more than 90 days'],
    ['2099-01-01T00:00:00Z', 'nothing may last for more than 90 days'],
  ])('%j is refused with exit 64: %s', (text, why) => {
    expect(() => parseDeadline(text, now, 90)).toThrow(
      expect.objectContaining({code: 'E_DEADLINE', exit: 64, message: expect.stringContaining(why)}),
    )
  })

  it('is bounded by whoever asks: a difference may be accepted for longer than a hold lasts', () => {
    expect(parseDeadline('180d', now, 180)).toBe('2027-05-21T10:00:00.000Z')
  })

  it('is over at its moment, and not before', () => {
    expect([isOver('2026-11-22T10:00:00.000Z', now), isOver('2026-11-22T10:00:00.001Z', now)]).toEqual([true, false])
  })
})
