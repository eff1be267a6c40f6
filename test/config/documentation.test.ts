import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {OPTION_TABLE, optionRow, type SourcedField} from '../../src/config/option-table.ts'
import {PROFILE_FIELDS} from '../../src/config/profile-fields.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = read('docs/configuration.md')

describe('the page on configuration', () => {
  it('has every variable the program reads, and no other', () => {
    const variables = (text: string) => [...new Set(text.match(/\bSVC_[A-Z_]*[A-Z]\b/g))].sort()
    expect(variables(page)).toEqual(variables(`${read('src/config/environment.ts')}${read('src/config/option-table.ts')}`))
  })

  it('has every option of the table of sources', () => {
    const options = (Object.keys(OPTION_TABLE) as SourcedField[]).flatMap(field => optionRow(field).option ?? [])
    expect(options.filter(option => !page.includes(`\`${option}\``))).toEqual([])
  })

  it('has every field of a profile', () => {
    expect(Object.keys(PROFILE_FIELDS).filter(field => !new RegExp(`\\b${field}\\b`).test(page))).toEqual([])
  })
})
