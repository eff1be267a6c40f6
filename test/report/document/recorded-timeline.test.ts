import {describe, expect, it} from 'vitest'
import type {ApplyEvent} from '../../../src/engine/model/events.ts'
import {RecordedTimeline} from '../../../src/report/document/recorded-timeline.ts'

const key = 'shop:null_resource.a'

describe('the timeline of a run', () => {
  it('is none of a run that did nothing', () => {
    expect(new RecordedTimeline(() => 0).timeline).toBeUndefined()
  })

  it('has of each change when it was sent, taken, settling and ready, and the 429s of the run', () => {
    let now = 50_000
    const timeline = new RecordedTimeline(() => now)
    const at = (ms: number, event: ApplyEvent | '429') => {
      now = 50_000 + ms
      if (event === '429') timeline.refused()
      else timeline.on(event)
    }
    // Before it began: planning is no part of it.
    at(-1_000, '429')
    at(0, {type: 'begin', run: 'r', operations: 2})
    at(100, {type: 'started', key, action: 'replace', step: 'delete'})
    at(250, '429')
    at(300, {type: 'accepted', key, step: 'delete'})
    at(400, {type: 'waiting', key, for: 'task', elapsedMs: 100})
    at(900, {type: 'started', key, action: 'replace', step: 'create'})
    at(1_000, {type: 'waiting', key, for: 'ready', elapsedMs: 10})
    at(2_000, {type: 'ended', key, action: 'replace', state: 'done', ms: 1_900})
    // Never sent.
    at(2_100, {type: 'ended', key: 'shop:null_resource.b', action: 'create', state: 'skipped', ms: 0})
    at(2_500, {type: 'proved', objects: 1, residual: 0})
    expect(timeline.timeline).toEqual({
      is: 'actual',
      rows: [{key, waiting: 0, sent: 0.1, task: 0.3, settling: 1, ready: 2}],
      seconds: 2.5,
      ready: 2,
      proven: 2.5,
      refusals: [0.25],
    })
  })
})
