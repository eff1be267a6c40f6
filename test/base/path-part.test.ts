import {join, resolve} from 'node:path'
import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {nameOfStack, partOfPath} from '../../src/base/path-part.ts'
import {seedOr} from '../support/seed.ts'

describe('a name in a path', () => {
  it.each(['shop', 'shop.eu-1', 'a b', 'größe', '...', '-x', '❤️‍🔥', 'می‌خواهم'])('%j is taken as it is', name => {
    expect(partOfPath(name, 'a stack')).toBe(name)
  })

  it.each(['', '.', '..', '../x', 'a/b', 'a\\b', '/etc', 'a\0b', 'a\nb', 'a\u202eb', 'x'.repeat(201)])('%j is refused', name => {
    expect(() => partOfPath(name, 'a stack')).toThrow(expect.objectContaining({code: 'E_NAME_IN_PATH', exit: 64}))
  })

  // The name of another stack to whoever reads it.
  it.each(['prod\u{e0041}', 'prod\u200b', 'pr\u00adod', 'prod\u3164', 'prod\u2060', 'prod\ufe0f\ufe0f\ufe0f'])('%j is refused', name => {
    expect(() => partOfPath(name, 'a stack')).toThrow(expect.objectContaining({code: 'E_NAME_IN_PATH', exit: 64}))
  })

  it('never leads out of its folder, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({unit: fc.constantFrom('.', '/', '\\', 'a', ' ', '\0', '~')}), name => {
        let part: string
        try {
          part = partOfPath(name, 'a stack')
        } catch {
          return
        }
        expect(resolve('/base', join('/base', part))).toBe(`/base/${part}`)
      }),
      {seed: seedOr(5), numRuns: 500},
    )
  })
})

describe('the name of a stack', () => {
  it.each(['shop', 'shop.eu-1', 'a b', 'größe'])('%j is one', name => {
    expect(nameOfStack(name)).toBe(name)
  })

  it.each(['*', 'prod*', 'a?', 'a:b', ':', '-x', '--all', '../x'])('%j is none: it means something else on a command line', name => {
    expect(() => nameOfStack(name)).toThrow(expect.objectContaining({code: 'E_NAME_IN_PATH', exit: 64}))
  })
})
