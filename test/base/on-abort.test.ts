import {describe, expect, it} from 'vitest'
import {onAbort} from '../../src/base/on-abort.ts'

describe('many who wait on one signal', () => {
  it('are told once, in the order they came', () => {
    const controller = new AbortController()
    const told: string[] = []
    onAbort(controller.signal, () => void told.push('first'))
    onAbort(controller.signal, () => void told.push('second'))
    controller.abort()
    expect(told).toEqual(['first', 'second'])
  })

  it('are not told once they no longer wait', () => {
    const controller = new AbortController()
    const told: string[] = []
    const leave = onAbort(controller.signal, () => void told.push('gone before'))
    leave()
    onAbort(controller.signal, () => void told.push('there'))
    controller.abort()
    expect(told).toEqual(['there'])
  })
})
