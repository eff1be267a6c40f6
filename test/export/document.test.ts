import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {isUnedited, withBanner, withJsonBanner} from '../../src/export/banner.ts'
import {exportJsonSchema} from '../../src/export/document.ts'

const published = new URL('../../schemas/export.schema.json', import.meta.url)

describe('the document of an export', () => {
  it('is described by the published schema (npm run schema writes it)', () => {
    expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(JSON.parse(JSON.stringify(exportJsonSchema())))
  })
})

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
