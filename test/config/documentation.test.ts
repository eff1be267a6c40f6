import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {PROFILE_FIELDS} from '../../src/config/profile-fields.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = read('docs/configuration.md')

describe('the page on configuration', () => {
  it('has every variable the program reads, and no other', () => {
    const variables = (text: string) => [...new Set(text.match(/\bSVC_[A-Z_]*[A-Z]\b/g))].sort()
    expect(variables(page)).toEqual(variables(read('src/config/environment.ts')))
  })

  it('has every field of a profile', () => {
    expect(Object.keys(PROFILE_FIELDS).filter(field => !new RegExp(`\\b${field}\\b`).test(page))).toEqual([])
  })
})
