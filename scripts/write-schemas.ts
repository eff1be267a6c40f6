/** `npm run schema`: writes the published schemas from the code that checks by them. */
import {mkdirSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {schemas} from './schemas.ts'

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'schemas')
mkdirSync(folder, {recursive: true})
for (const [name, schema] of Object.entries(schemas()))
  writeFileSync(join(folder, `${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`)
