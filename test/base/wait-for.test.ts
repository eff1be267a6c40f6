import {describe, expect, it} from 'vitest'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {waitFor} from '../../src/base/wait-for.ts'

describe('waiting for something', () => {
  it('ends with the first look that sees it', async () => {
    const clock = new VirtualClock(0)
    let looks = 0
    const seen = await clock.run(waitFor(async () => (++looks === 3 ? 'there' : undefined), {clock, everyMs: 100, timeoutMs: 1_000}))
    expect(seen).toBe('there')
    expect(clock.now()).toBe(200)
  })

  it('looks once more when the time runs out, and then gives up', async () => {
    const clock = new VirtualClock(0)
    const at: number[] = []
    const look = async () => void at.push(clock.now())
    expect(await clock.run(waitFor(look, {clock, everyMs: 400, timeoutMs: 1_000}))).toBeUndefined()
    expect(at).toEqual([0, 400, 800, 1_000])
  })

  it('does not look sooner than it may, not even at the end of the time', async () => {
    const clock = new VirtualClock(0)
    const at: number[] = []
    const look = async () => void at.push(clock.now())
    expect(await clock.run(waitFor(look, {clock, everyMs: 400, shortestMs: 400, timeoutMs: 1_000}))).toBeUndefined()
    expect([at, clock.now()]).toEqual([[0, 400, 800], 1_000])
  })

  it('may pause longer from look to look', async () => {
    const clock = new VirtualClock(0)
    const at: number[] = []
    const look = async () => void at.push(clock.now())
    await clock.run(waitFor(look, {clock, everyMs: looks => 100 * 2 ** looks, timeoutMs: 1_400}))
    expect(at).toEqual([0, 200, 600, 1_400])
  })

  it('ends with the reason of the signal', async () => {
    const clock = new VirtualClock(0)
    const stop = new AbortController()
    const waiting = waitFor(
      async () => {
        stop.abort(new Error('enough'))
        return undefined
      },
      {clock, everyMs: 100, timeoutMs: 1_000, signal: stop.signal},
    )
    await expect(clock.run(waiting)).rejects.toThrow('enough')
  })

  it('is over as soon as the signal comes, also in the middle of a look, and of what that comes to nobody hears', async () => {
    const clock = new VirtualClock(0)
    const stop = new AbortController()
    let failed = false
    const look = async () => {
      await clock.sleep(60_000)
      failed = true
      throw new Error('no answer')
    }
    const ended = clock.run(
      (async () => {
        const waiting = waitFor(look, {clock, everyMs: 100, timeoutMs: 100_000, signal: stop.signal})
        void clock.sleep(500).then(() => stop.abort(new Error('enough')))
        await expect(waiting).rejects.toThrow('enough')
        return clock.now()
      })(),
    )
    expect(await ended).toBe(500)
    await clock.run(clock.sleep(60_000))
    expect(failed).toBe(true)
  })

  it('does not begin to look when the signal came before', async () => {
    const clock = new VirtualClock(0)
    let looks = 0
    const look = async () => void looks++
    const waiting = waitFor(look, {clock, everyMs: 100, timeoutMs: 1_000, signal: AbortSignal.abort(new Error('enough'))})
    await expect(clock.run(waiting)).rejects.toThrow('enough')
    expect(looks).toBe(0)
  })
})
