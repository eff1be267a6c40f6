import {describe, expect, it} from 'vitest'
import {countRefusals} from '../../bench/refusals.ts'

describe('refusals for too many requests', () => {
  it('do not happen: alone, while others use 30 % of the account, and with two processes at once', async () => {
    expect(Object.fromEntries((await countRefusals()).map(it => [it.what, it.refused]))).toEqual({
      'alone, 8 x 200': 0,
      '30 % used by others, 8 x 200': 0,
      'two processes, one budget file, 4 x 100 each': 0,
      'two processes, each with a budget of its own, 4 x 100 each': 0,
    })
  }, 240_000)
})
