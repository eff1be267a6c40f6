import {describe, expect, it} from 'vitest'
import {Crowd} from '../../../src/engine/apply/crowd.ts'

const MINUTE = 60_000

/** So many changes were taken on and are still going on. */
function running(count: number): Crowd {
  const crowd = new Crowd()
  for (let taken = 0; taken < count; taken++) crowd.accepted()
  return crowd
}

/** So many of them come to a good end, and as many others are taken on. */
function rounds(crowd: Crowd, ends: number, now: number): void {
  for (let ended = 0; ended < ends; ended++) {
    crowd.running -= 1
    crowd.ended(now)
    crowd.accepted()
  }
}

describe('how many changes go out before anything was answered', () => {
  it('is one at first, one in four of those that were taken later, and as many as may once many were taken', () => {
    expect([0, 1, 4, 5, 8, 63, 64].map(count => running(count).guesses)).toEqual([1, 1, 1, 2, 2, 16, Number.POSITIVE_INFINITY])
  })
})

describe('a refusal while others of ours are there', () => {
  it('says how many places there are: as many as are running, and one where none is', () => {
    const crowd = running(5)
    expect(crowd.refused(5, 0)).toEqual({others: 5, inARow: 0, since: 0})
    expect([crowd.places, crowd.isClosed]).toEqual([5, false])
    const alone = new Crowd()
    alone.refused(1, 0)
    expect(alone.places).toBe(1)
  })

  it('lets one more in after two rounds of good ends, and after four where that was refused again', () => {
    const crowd = running(3)
    crowd.refused(3, 0)
    rounds(crowd, 5, 1)
    expect(crowd.places).toBe(3)
    rounds(crowd, 1, 1)
    expect(crowd.places).toBe(4)
    crowd.refused(3, 2)
    expect(crowd.places).toBe(3)
    rounds(crowd, 11, 3)
    expect(crowd.places).toBe(3)
    rounds(crowd, 1, 3)
    expect(crowd.places).toBe(4)
  })

  it('is taken at its word for five minutes once there were as many refusals as places', () => {
    const crowd = running(1)
    crowd.refused(1, 0)
    rounds(crowd, 100, 5 * MINUTE - 1)
    expect(crowd.places).toBe(1)
    rounds(crowd, 1, 5 * MINUTE)
    expect(crowd.places).toBe(2)
  })
})

describe('a refusal while nothing of ours is there', () => {
  it("is somebody else's change: the group is closed, and refusals are counted from the first of them on until one gets through", () => {
    const crowd = new Crowd()
    expect(crowd.refused(0, 100)).toEqual({others: 0, inARow: 1, since: 100})
    expect(crowd.isClosed).toBe(true)
    expect(crowd.refused(0, 200)).toEqual({others: 0, inARow: 2, since: 100})
    crowd.gotThrough()
    expect(crowd.refused(0, 300)).toEqual({others: 0, inARow: 1, since: 300})
  })
})

it('what was never refused has places without end, however many come to theirs', () => {
  const crowd = running(2)
  rounds(crowd, 10, 0)
  expect(crowd.places).toBe(Number.POSITIVE_INFINITY)
})
