/** The published schemas of imports and absorbs are those of the code; that documents fit them is tested with the commands. */
import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {importJsonSchemas} from '../../src/run/import-document.ts'

describe('the schemas of imports and absorbs', () => {
  it('are published as they are', () => {
    for (const [name, schema] of Object.entries(importJsonSchemas())) {
      const published = readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8')
      expect(JSON.parse(published), name).toEqual(JSON.parse(JSON.stringify(schema)))
    }
  })
})
