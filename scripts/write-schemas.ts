/** `npm run schema`: writes the published schemas from the code that checks by them. */
import {mkdirSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {planJsonSchema} from '../src/engine/model/plan-schema.ts'

const file = join(dirname(dirname(fileURLToPath(import.meta.url))), 'schemas', 'plan.schema.json')
mkdirSync(dirname(file), {recursive: true})
writeFileSync(file, `${JSON.stringify(planJsonSchema(), null, 2)}\n`)
