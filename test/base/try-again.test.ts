import {describe, expect, it} from 'vitest'
import {tryAgain} from '../../src/base/try-again.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'

describe('what is tried again', () => {
  it('waits between tries for as long as the try before said, and answers what the last one brought', async () => {
    const clock = new VirtualClock(0)
    const at: number[] = []
    const once = async (attempt: number) => {
      at.push(clock.now())
      return attempt < 3 ? {waitMs: attempt * 1_000} : {done: `after ${attempt}`}
    }
    expect(await clock.run(tryAgain(once, {clock}))).toBe('after 3')
    expect(at).toEqual([0, 1_000, 3_000])
  })

  it('ends with what a try throws, and in the middle of a wait at a word', async () => {
    const clock = new VirtualClock(0)
    await expect(tryAgain(() => Promise.reject(new Error('spent')), {clock})).rejects.toThrow('spent')
    const off = new AbortController()
    const waiting = tryAgain(async () => ({waitMs: 60_000}), {clock, signal: off.signal})
    off.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})
