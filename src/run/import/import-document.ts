/** What `svcctl import` and `svcctl absorb` print with `-o json`, as published in `schemas/`. */
import {z} from 'zod'
import type {Json} from '../../base/json.ts'
import {published, requestsSchema as requests} from '../host/published-schema.ts'
import type {AbsorbDone} from './absorb.ts'
import type {ImportDone} from './import.ts'
import type {TakeoverDone} from './takeover.ts'

const json: z.ZodType<Json> = z.json()

const before = json.exactOptional()
const after = json.exactOptional()
const path = z.string().describe('JSON pointer in the spec')

const imported = z.strictObject({
  stack: z.string(),
  address: z.string(),
  kind: z.string(),
  remoteId: z.string().describe('remote path: cloud/subscriptions/12/databases/51'),
  differs: z
    .array(z.strictObject({path, before, after}))
    .describe('where the code declares something else (after) than what is live (before), which the ledger has now'),
})
const skipped = z.array(z.strictObject({address: z.string(), reason: z.string()}))

type Printed<Done> = Done & {readonly requests: {readonly used: number}}

export const importSchema: z.ZodType<Printed<ImportDone>> = z.strictObject({imported: z.array(imported), skipped, requests})

const takenOver = imported.extend({from: z.string().describe("Terraform's address")})
const leftOut = z.strictObject({
  from: z.string(),
  type: z.string(),
  attributes: z.array(z.string()).exactOptional().describe('absent: the whole resource'),
})

export const takeoverSchema: z.ZodType<Printed<TakeoverDone> & {readonly files?: readonly string[]}> = z.strictObject({
  imported: z.array(takenOver),
  skipped,
  differs: z
    .array(z.strictObject({stack: z.string(), address: z.string(), path, before, after}))
    .describe('where what is live (after) is another value than the state has (before)'),
  missing: z
    .array(z.strictObject({from: z.string(), kind: z.string(), remoteId: z.string()}))
    .describe('in the state, and gone; of a rule or a user the database it is not in'),
  leftOut: z.array(leftOut).describe('names only'),
  proof: z.enum(['empty', 'differs', 'not run']).describe('a plan of what was taken over'),
  stateRm: z.array(z.string()).describe('commands by which Terraform lets go of it'),
  files: z.array(z.string()).exactOptional().describe('of --dir'),
  requests,
})

const place = {
  stack: z.string(),
  address: z.string(),
  path: path.describe('JSON pointer in the spec; empty: the whole object'),
  before: before.describe('as the code declares it'),
  after: after.describe('as it is live'),
}

export const absorbSchema: z.ZodType<Printed<AbsorbDone>> = z.strictObject({
  absorbed: z.array(z.strictObject({...place, file: z.string(), line: z.int().positive(), column: z.int().positive()})),
  manual: z.array(
    z.strictObject({
      ...place,
      file: z.string().exactOptional(),
      line: z.int().positive().exactOptional(),
      column: z.int().positive().exactOptional(),
      found: z.string().describe('the text that stands there'),
      edit: z.string().describe('the text that is wanted'),
      why: z.string(),
    }),
  ),
  proof: z.enum(['empty', 'not run']),
  requests,
})

/** The schemas as published, draft 2020-12, by the names of their files. */
export const importJsonSchemas = (): Readonly<Record<'import' | 'takeover' | 'absorb', Record<string, unknown>>> => ({
  import: published(importSchema, 'An import', 'What `svcctl import -o json` prints.'),
  takeover: published(
    takeoverSchema,
    'A Terraform state taken over',
    'What `svcctl import --from-tfstate FILE -o json` prints. It holds no secrets.',
  ),
  absorb: published(absorbSchema, 'Drift in the code that declares it', 'What `svcctl absorb -o json` prints.'),
})
