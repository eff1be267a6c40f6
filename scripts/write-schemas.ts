/** `npm run schema`: writes the published schemas from the code that checks by them. */
import {mkdirSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {planJsonSchema} from '../src/engine/model/plan-schema.ts'
import {exportJsonSchema} from '../src/export/document.ts'
import {graphJsonSchema} from '../src/run/graph-document.ts'
import {importJsonSchemas} from '../src/run/import-document.ts'

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'schemas')
mkdirSync(folder, {recursive: true})
for (const [name, schema] of [
  ['plan', planJsonSchema()],
  ['export', exportJsonSchema()],
  ['graph', graphJsonSchema()],
  ...Object.entries(importJsonSchemas()),
] as const)
  writeFileSync(join(folder, `${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`)
