import {Ansis} from 'ansis'
import {describe, expect, it} from 'vitest'
import type {ApplyEvent} from '../../src/engine/model/events.ts'
import {applyLines} from '../../src/report/apply-text.ts'
import {LiveView} from '../../src/report/live-view.ts'

const paint = new Ansis(0)
let time = 0
const now = () => time
const begin = (...more: readonly ApplyEvent[]): readonly ApplyEvent[] => [
  {type: 'begin', run: 'r1', operations: 3},
  {type: 'estimate', requests: 9, seconds: 90, bound: 'rate'},
  {type: 'started', key: 'shop:a', action: 'create', step: 'create'},
  ...more,
]

describe('what waits, in a log', () => {
  it('is one line in ten seconds, however many they are: the oldest by name, the others counted by what they wait for', () => {
    time = 0
    const lines = applyLines({paint, now, several: false})
    lines.on({type: 'begin', run: 'r1', operations: 218})
    for (let i = 0; i < 218; i++) lines.on({type: 'started', key: `shop:o${i}`, action: 'create', step: 'create'})
    for (let i = 0; i < 30; i++) lines.on({type: 'waiting', key: `shop:o${i}`, for: 'task', elapsedMs: 0, status: 'processing'})
    const said: string[] = []
    for (time = 1000; time <= 60_000; time += 1000) said.push(...lines.tick())
    expect(said).toHaveLength(6)
    expect(said[0]).toBe(
      'o0: still waiting for its task (processing), 10 s; 217 more: 188 at its create, 29 waiting for its task (processing)',
    )
    for (let i = 1; i < 218; i++) lines.on({type: 'ended', key: `shop:o${i}`, action: 'create', state: 'done', ms: 1})
    time = 70_000
    expect(lines.tick()).toEqual(['o0: still waiting for its task (processing), 1 min 10 s'])
  })
})

describe('the time that is left of an apply', () => {
  it('is counted down on a terminal from one estimate to the next, and not shown once it is over', () => {
    time = 0
    const view = new LiveView({paint, now, several: false, measure: text => text.length})
    for (const event of begin()) view.on(event)
    const headline = () => view.frame({columns: 100, rows: 20})[0]
    expect(headline()).toBe('0 of 3 done, 1 in progress, 0 s, about 1 min 30 s left (bound by rate)')
    time = 60_000
    expect(headline()).toBe('0 of 3 done, 1 in progress, 1 min, about 30 s left (bound by rate)')
    view.on({type: 'estimate', requests: 3, seconds: 10, bound: 'critical path'})
    expect(headline()).toBe('0 of 3 done, 1 in progress, 1 min, about 10 s left (bound by critical path)')
    time = 70_000
    expect(headline()).toBe('0 of 3 done, 1 in progress, 1 min 10 s')
  })

  it('is a line a minute in a log', () => {
    time = 0
    const lines = applyLines({paint, now, several: false})
    for (const event of begin({type: 'ended', key: 'shop:b', action: 'create', state: 'done', ms: 1})) lines.on(event)
    const said: string[] = []
    for (time = 1000; time <= 125_000; time += 1000) {
      if (time === 80_000) lines.on({type: 'estimate', requests: 5, seconds: 200, bound: 'rate'})
      said.push(...lines.tick().filter(it => it.includes('left')))
    }
    expect(said).toEqual(['1 of 3 done, about 30 s left (bound by rate)', '1 of 3 done, about 2 min 40 s left (bound by rate)'])
  })
})

describe('what is read before anything is begun', () => {
  const reading = (answered: number): ApplyEvent => ({type: 'reading', doing: `Reading live state: ${answered} of 5 requests`})

  it('is shown on a terminal once it takes a second, from one answer to the next', () => {
    time = 0
    const view = new LiveView({paint, now, several: false, measure: text => text.length})
    const frame = () => view.frame({columns: 100, rows: 20})
    view.on(reading(0))
    time = 999
    expect(frame()).toEqual([])
    view.on({type: 'reading'})
    time = 1000
    expect(frame()).toEqual([])
    view.on(reading(1))
    expect(frame()).toEqual(['Reading live state: 1 of 5 requests ...'])
    view.on({type: 'reading'})
    time = 2000
    view.on(reading(2))
    expect(frame()).toEqual([])
    time = 3000
    expect(frame()).toEqual(['Reading live state: 2 of 5 requests ...'])
    view.on({type: 'begin', run: 'r1', operations: 3})
    expect(frame()).toEqual(['0 of 3 done, 0 in progress, 0 s'])
  })

  it('is a line in a log after that second, and one every ten seconds from there on', () => {
    time = 0
    const lines = applyLines({paint, now, several: false})
    lines.on(reading(0))
    const said: string[] = []
    for (time = 500; time <= 12_000; time += 500) {
      if (time === 6000) lines.on(reading(3))
      said.push(...lines.tick())
    }
    expect(said).toEqual(['Reading live state: 0 of 5 requests ...', 'Reading live state: 3 of 5 requests ...'])
  })
})
