import {describe, expect, it} from 'vitest'
import {pollInterval} from '../../src/base/poll-interval.ts'

const pauses = (shortestMs: number | undefined, looks: readonly number[]) => looks.map(pollInterval(shortestMs))

describe('the pause between two looks', () => {
  it('grows from one second to ten', () => {
    expect(pauses(undefined, [1, 2, 3, 4, 7, 50])).toEqual([1_000, 1_500, 2_250, 3_375, 10_000, 10_000])
  })

  it('is never shorter than --poll-interval', () => {
    expect(pauses(5_000, [1, 2, 3, 4])).toEqual([5_000, 7_500, 10_000, 10_000])
    expect(pauses(30_000, [1, 9])).toEqual([30_000, 30_000])
  })

  it('stays short where a short one is asked for', () => {
    expect(pauses(200, [1, 2, 20])).toEqual([200, 300, 2_000])
  })
})
