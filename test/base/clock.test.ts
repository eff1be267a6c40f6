import {describe, expect, it} from 'vitest'
import {steadyClock, systemClock} from '../../src/base/clock.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {waitFor} from '../../src/base/wait-for.ts'

describe('a steady clock', () => {
  it('begins with the time of the machine and goes on evenly when that is set', async () => {
    const virtual = new VirtualClock(1_000)
    let set = 0
    const clock = steadyClock({now: () => virtual.now() + set, sleep: virtual.sleep.bind(virtual)}, () => virtual.now())
    expect(clock.now()).toBe(1_000)
    const looks: number[] = []
    await virtual.run(
      waitFor(
        async () => {
          set = looks.length % 2 === 0 ? 86_400_000 : -86_400_000
          looks.push(clock.now())
          return undefined
        },
        {clock, everyMs: 400, timeoutMs: 1_000},
      ),
    )
    expect(looks).toEqual([1_000, 1_400, 1_800, 2_000])
  })
})

describe('the clock of the system', () => {
  it('sleeps a month without a warning of Node, and does not wake at once', async () => {
    const waking = new AbortController()
    const ended: string[] = []
    const long = systemClock.sleep(31 * 86_400_000, waking.signal).then(
      () => ended.push('the month'),
      () => ended.push('told to wake'),
    )
    await systemClock.sleep(5)
    waking.abort()
    await long
    expect(ended).toEqual(['told to wake'])
  })
})
