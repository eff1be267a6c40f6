/** Published schemas are those of the code; that documents fit them is tested with the commands that print them. */
import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {graphJsonSchema} from '../../src/run/graph-document.ts'

describe('the schema of', () => {
  it.each([['graph', graphJsonSchema()]])('%s is published as it is', (name, schema) => {
    const published = readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8')
    expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(schema)))
  })
})
