import {describe, expect, it} from 'vitest'
import {VirtualClock} from '../../../src/base/virtual-clock.ts'
import {SharedLook} from '../../../src/engine/apply/shared-look.ts'

const LOOK_MS = 100

/** Looks that take a while, and show which one it was. */
function looks({fails = []}: {readonly fails?: readonly number[]} = {}): {
  clock: VirtualClock
  look: SharedLook<number>
  made: () => number
} {
  const clock = new VirtualClock()
  let count = 0
  const look = new SharedLook(clock, async () => {
    const number = ++count
    await clock.sleep(LOOK_MS)
    if (fails.includes(number)) throw new Error(`look ${number} failed`)
    return number
  })
  return {clock, look, made: () => count}
}

describe('one look', () => {
  it('is for all who ask for news of the same time, while it goes on and afterwards', async () => {
    const {clock, look, made} = looks()
    await clock.run(
      (async () => {
        const began = clock.now()
        const both = await Promise.all([look.since(began), look.since(began)])
        expect(both.map(it => it.value)).toEqual([1, 1])
        expect((await look.since(began)).value).toBe(1)
      })(),
    )
    expect(made()).toBe(1)
  })

  it('does not serve who asks for what came after it began: all of these wait for it, and share the next one', async () => {
    const {clock, look, made} = looks()
    await clock.run(
      (async () => {
        const first = look.since(clock.now())
        await clock.sleep(1)
        const later = [look.since(clock.now()), look.since(clock.now())]
        expect((await first).value).toBe(1)
        const seen = await Promise.all(later)
        expect(seen.map(it => it.value)).toEqual([2, 2])
        expect(seen[0]?.startedAt).toBeGreaterThanOrEqual((await first).startedAt + LOOK_MS)
      })(),
    )
    expect(made()).toBe(2)
  })

  it('that failed fails all who waited for it, and nobody else: who comes later looks again', async () => {
    const {clock, look, made} = looks({fails: [1]})
    await clock.run(
      (async () => {
        const began = clock.now()
        const both = await Promise.allSettled([look.since(began), look.since(began)])
        expect(both.map(it => it.status)).toEqual(['rejected', 'rejected'])
        expect((await look.since(began)).value).toBe(2)
      })(),
    )
    expect(made()).toBe(2)
  })
})

describe('the shortest pause between two looks', () => {
  const PAUSE_MS = 4_000

  it('is kept whoever looks, and those who wait for it together share one look, the most urgent of them said how', async () => {
    const clock = new VirtualClock(0)
    const made: [at: number, priority: number][] = []
    const look = new SharedLook(
      clock,
      async priority => {
        made.push([clock.now(), priority])
        await clock.sleep(LOOK_MS)
      },
      PAUSE_MS,
    )
    await clock.run(
      (async () => {
        await look.since(clock.now(), 5)
        await clock.sleep(1_000)
        const one = look.since(clock.now(), 9)
        await clock.sleep(1_000)
        await Promise.all([one, look.since(clock.now(), 3), look.since(clock.now(), 7)])
      })(),
    )
    expect(made).toEqual([
      [0, 5],
      [LOOK_MS + PAUSE_MS, 3],
    ])
  })

  it('is kept after a look that failed, too', async () => {
    const clock = new VirtualClock(0)
    const at: number[] = []
    const look = new SharedLook(
      clock,
      async () => {
        at.push(clock.now())
        throw new Error('no answer')
      },
      PAUSE_MS,
    )
    await clock.run(Promise.allSettled([look.since(0)]))
    await clock.run(Promise.allSettled([look.since(clock.now())]))
    expect(at).toEqual([0, PAUSE_MS])
  })
})
