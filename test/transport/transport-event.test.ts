import {describe, expect, it} from 'vitest'
import {shownPath} from '../../src/transport/transport-event.ts'
import {processorTime} from '../support/processor-time.ts'

describe('the path as it may be shown', () => {
  it.each([
    ['/x?a=1&api_key=v?w&b=2', '/x?a=1&api_key=…&b=2'],
    ['/x?a=1?token=v', '/x?a=1?token=…'],
    ['/x?a?Secret=v', '/x?a?Secret=…'],
    ['/keys/1?page=2', '/keys/1?page=2'],
  ])('of %s is %s', (path, shown) => {
    expect(shownPath(path)).toBe(shown)
  })

  it('takes no longer than the path is long', () => {
    const takenMs = processorTime()
    for (const part of ['?key', 'key', '?', '&key']) shownPath(`/x?${part.repeat(20_000)}`)
    expect(takenMs()).toBeLessThan(1_000)
  })
})
