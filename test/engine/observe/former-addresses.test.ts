import {describe, expect, it} from 'vitest'
import {formerAddresses} from '../../../src/engine/observe/former-addresses.ts'
import {processorTime} from '../../support/processor-time.ts'

const moved = (...pairs: readonly (readonly [from: string, to: string])[]) => pairs.map(([from, to]) => ({from, to}))

describe('the addresses that moved blocks lead back to', () => {
  it('are those of the blocks that name an address, newest first', () => {
    expect(formerAddresses(moved(['a', 'b'], ['b', 'c'], ['x', 'y']), 'c')).toEqual(['b', 'a'])
    expect(formerAddresses(moved(['a', 'b']), 'd')).toEqual([])
  })

  it('keep the index where a block for a bare address covers instances', () => {
    expect(formerAddresses(moved(['a', 'b']), 'b["x[1]"]')).toEqual(['a["x[1]"]'])
    expect(formerAddresses(moved(['a[0]', 'b']), 'b[1]')).toEqual([])
  })

  it('come from the block that stands first', () => {
    expect(formerAddresses(moved(['one', 'b'], ['two', 'b[0]']), 'b[0]')).toEqual(['one[0]'])
    expect(formerAddresses(moved(['two', 'b[0]'], ['one', 'b']), 'b[0]')).toEqual(['two'])
    expect(formerAddresses(moved(['one', 'b'], ['two', 'b']), 'b')).toEqual(['one'])
  })

  it('end where blocks go round', () => {
    expect(formerAddresses(moved(['a', 'b'], ['b', 'a']), 'a')).toEqual(['b', 'a', 'b'])
  })

  it('are found by one walk through the blocks, however many addresses are asked for', () => {
    const blocks = Array.from({length: 20_000}, (_, i) => ({from: `a${i}`, to: `b${i}`}))
    const takenMs = processorTime()
    const wrong = blocks.filter(({from, to}) => formerAddresses(blocks, to).join() !== from)
    expect(takenMs()).toBeLessThan(2_000)
    expect(wrong).toEqual([])
  })
})
