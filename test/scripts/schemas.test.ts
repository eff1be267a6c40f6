import {readdirSync, readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {describe, expect, it} from 'vitest'
import {schemas} from '../../scripts/schemas.ts'

const folder = fileURLToPath(new URL('../../schemas', import.meta.url))
const made = Object.entries(schemas())

describe('the published schemas', () => {
  it('are those that the code makes, and no others', () => {
    expect(readdirSync(folder).sort()).toEqual(made.map(([name]) => `${name}.schema.json`).sort())
  })

  it.each(made)('%s is as the code has it (npm run schema writes it)', (name, schema) => {
    expect(JSON.parse(readFileSync(`${folder}/${name}.schema.json`, 'utf8'))).toEqual(JSON.parse(JSON.stringify(schema)))
  })
})
