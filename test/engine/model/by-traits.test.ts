import {describe, expect, it} from 'vitest'
import {ByTraits, meantAmong} from '../../../src/engine/model/by-traits.ts'

type Row = Readonly<Record<string, string>>

describe('what may go together', () => {
  const rows: readonly Row[] = [
    {id: '1', net: 'a', range: 'x'},
    {id: '2', net: 'b'},
    {id: '3', range: 'y'},
    {id: '4'},
    {id: '5', net: 'a', range: 'y'},
  ]
  const among = new ByTraits(rows, (row, trait) => row[trait])
  const ids = (traits: Row) => among.of(Object.entries(traits)).map(it => it.id)

  it('is all where nothing is said', () => {
    expect(ids({})).toEqual(['1', '2', '3', '4', '5'])
  })

  it('shows what is said, or nothing of it, in the order it was in', () => {
    expect(ids({net: 'a'})).toEqual(['1', '3', '4', '5'])
    expect(ids({net: 'c'})).toEqual(['3', '4'])
  })

  it('is found by the trait that leaves the fewest', () => {
    expect(ids({net: 'a', range: 'x'})).toEqual(['1', '2', '4'])
    expect(ids({range: 'x', net: 'c'})).toEqual(['3', '4'])
  })

  it('is looked at once a trait, however much is asked', () => {
    let looks = 0
    const counted = new ByTraits(rows, (row, trait) => {
      looks++
      return row[trait]
    })
    for (const net of ['a', 'b', 'c', 'a']) counted.of([['net', net]])
    expect(looks).toBe(rows.length)
  })

  it('is all of a kind that knows of no traits', () => {
    expect(meantAmong({}, rows, it => it)({net: 'a'})).toBe(rows)
  })
})
