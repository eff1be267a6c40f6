import {afterEach, describe, expect, it} from 'vitest'
import {makeThreadsFor} from '../../src/config/thread-pool.ts'

describe('the pool of threads', () => {
  const before = process.env.UV_THREADPOOL_SIZE
  afterEach(() => {
    if (before === undefined) delete process.env.UV_THREADPOOL_SIZE
    else process.env.UV_THREADPOOL_SIZE = before
  })

  it('has a thread for each processor and two for files and names, and never fewer than usual', () => {
    const made = [1, 2, 4, 16].map(processors => {
      delete process.env.UV_THREADPOOL_SIZE
      return [makeThreadsFor(processors), process.env.UV_THREADPOOL_SIZE]
    })
    expect(made).toEqual([
      ['4', '4'],
      ['4', '4'],
      ['6', '6'],
      ['18', '18'],
    ])
  })

  it('is as large as somebody chose', () => {
    process.env.UV_THREADPOOL_SIZE = '3'
    expect(makeThreadsFor(16)).toBe('3')
    expect(process.env.UV_THREADPOOL_SIZE).toBe('3')
  })
})
