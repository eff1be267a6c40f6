import {describe, expect, it} from 'vitest'
import {isUnedited, withBanner, withJsonBanner} from '../../src/export/banner.ts'

describe('a banner', () => {
  it.each([withBanner('a\nb\n', '//'), withBanner('A=\n', '#'), withJsonBanner('  "a": 1\n}\n')])('fits what was written', text => {
    expect(isUnedited(text)).toBe(true)
  })

  it('does not fit what somebody edited, and nothing has one by accident', () => {
    expect(isUnedited(`${withBanner('a\n', '//')}b\n`)).toBe(false)
    expect(isUnedited(withJsonBanner('  "a": 1\n}\n').replace('1', '2'))).toBe(false)
    expect(isUnedited('// svcctl export\na\n')).toBe(false)
    expect(isUnedited('')).toBe(false)
  })
})
