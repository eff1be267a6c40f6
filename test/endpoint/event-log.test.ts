import {describe, expect, it} from 'vitest'
import type {JsonObject} from '../../src/base/json.ts'
import {parseMoment} from '../../src/base/moment.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {followLog, logLine} from '../../src/endpoint/event-log.ts'

const NOW = Date.UTC(2026, 0, 31, 12)

describe('a time of the log', () => {
  it.each([
    ['2026-01-31T08:00:00Z', Date.UTC(2026, 0, 31, 8)],
    ['2026-01-31T08:00', Date.UTC(2026, 0, 31, 8)],
    ['2026-01-31T08:00:00+02:00', Date.UTC(2026, 0, 31, 6)],
    ['2026-01-31', Date.UTC(2026, 0, 31)],
    ['15m', NOW - 900_000],
    ['3d', NOW - 3 * 86_400_000],
  ])('%s is understood', (text, at) => {
    expect(parseMoment('--since', text, NOW)).toBe(at)
  })

  it.each(['yesterday', '7', '2026-13-01', '', '104000000d'])('%j is refused', text => {
    expect(() => parseMoment('--since', text, NOW)).toThrow(expect.objectContaining({code: 'E_MOMENT', exit: 64}))
  })
})

it('an entry of the log is one line: when, how bad, what, and the rest', () => {
  expect(logLine({time: 't', severity: 'INFO', type: 'x', bdb_uid: 1, who: 'a b'})).toBe('t  INFO  x  bdb_uid=1  who=a b')
})

describe('following the log', () => {
  it('hands on each entry once and in order, late ones too, until the end of the window', async () => {
    const clock = new VirtualClock(NOW)
    const at = (seconds: number): JsonObject => ({time: new Date(NOW + seconds * 1000).toISOString(), type: `e${seconds}`})
    // The entry of second 3 is written by another node and shows up after that of second 4.
    const log = [
      {seen: 0, entry: at(0)},
      {seen: 2, entry: at(1)},
      {seen: 4, entry: at(4)},
      {seen: 6, entry: at(3)},
    ]
    const asked: unknown[] = []
    const got: unknown[] = []
    await clock.run(
      followLog({
        window: {untilMs: NOW + 10_000, limit: 100},
        clock,
        everyMs: 2000,
        read: async wanted => {
          asked.push(wanted)
          const from = Date.parse(wanted.stime ?? '')
          // Newest first, as some servers have it.
          return log
            .filter(it => NOW + it.seen * 1000 <= clock.now() && Date.parse(String(it.entry.time)) >= from)
            .map(it => it.entry)
            .reverse()
        },
        onEntry: async entry => void got.push(entry.type),
      }),
    )
    expect(got).toEqual(['e0', 'e1', 'e4', 'e3'])
    expect(asked[0]).toEqual({stime: '2026-01-31T11:59:00Z', etime: '2026-01-31T12:00:10Z', limit: 100})
    expect(asked[1]).toEqual({stime: '2026-01-31T11:59:55Z', etime: '2026-01-31T12:00:10Z'})
    expect(clock.now()).toBe(NOW + 10_000)
  })
})
