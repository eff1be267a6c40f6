import {expect, it} from 'vitest'
import {MOST_NAMESAKES, Namesakes} from '../../../src/engine/model/namesakes.ts'

it('tells which one before is the same, slot by slot, and keeps what is like none', () => {
  const known = new Namesakes<{readonly id: number}>()
  const add = (slot: string, id: number, same = id) => known.add(slot, {id}, other => other.id === same)
  expect(add('a', 1)).toBeUndefined()
  expect(add('b', 1)).toBeUndefined()
  expect(add('a', 2)).toBeUndefined()
  expect(add('a', 3, 2)).toEqual({id: 2})
  expect(add('a', 4, 3)).toBeUndefined()
})

it('compares a hundred with each other, and no more however many there are', () => {
  const known = new Namesakes<{readonly id: number}>()
  let compared = 0
  const outcomes = Array.from({length: 50_000}, (_, id) =>
    known.add('one', {id}, () => {
      compared += 1
      return false
    }),
  )
  expect(compared).toBe((MOST_NAMESAKES * (MOST_NAMESAKES - 1)) / 2)
  expect(outcomes.filter(it => it === 'too-many')).toHaveLength(50_000 - MOST_NAMESAKES)
})
