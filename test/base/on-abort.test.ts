import {getEventListeners} from 'node:events'
import {describe, expect, it} from 'vitest'
import {systemClock} from '../../src/base/clock.ts'
import {onAbort} from '../../src/base/on-abort.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {createBudget} from '../../src/transport/budget.ts'

describe('many who wait on one signal', () => {
  it('are told once, in the order they came', () => {
    const controller = new AbortController()
    const told: string[] = []
    onAbort(controller.signal, () => void told.push('first'))
    onAbort(controller.signal, () => void told.push('second'))
    controller.abort()
    expect(told).toEqual(['first', 'second'])
  })

  it('are not told once they no longer wait', () => {
    const controller = new AbortController()
    const told: string[] = []
    const leave = onAbort(controller.signal, () => void told.push('gone before'))
    leave()
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    onAbort(controller.signal, () => void told.push('there'))
    controller.abort()
    expect(told).toEqual(['there'])
  })

  it.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ['the clock', signal => systemClock.sleep(60_000, signal)],
    ['virtual time', signal => new VirtualClock().sleep(60_000, signal)],
    [
      'a budget',
      signal => {
        const budget = createBudget({limits: {perMinute: 1, burst: 1, reserve: 0}, clock: new VirtualClock()})
        return Promise.all(Array.from({length: 3}, () => budget.acquire(0, signal)))
      },
    ],
  ])('cost it one listener when they wait for %s, and are all told', async (_, wait) => {
    const controller = new AbortController()
    const waits = Array.from({length: 5}, () => wait(controller.signal))
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort(new Error('enough'))
    expect((await Promise.allSettled(waits)).map(it => it.status)).toEqual(Array(5).fill('rejected'))
  })
})
