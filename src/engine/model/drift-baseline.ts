/** Drift that somebody lives with for a while, as a file: `drift --baseline FILE`. It excuses nothing but what it names. */
import {z} from 'zod'
import type {Json} from '../../base/json.ts'
import {shortPointer} from './pointer-schema.ts'

export const BASELINE_FORMAT = 'svcctl.drift-baseline/1'

/** For longer than this nobody says that something is to stay otherwise than declared. */
export const MAX_ACCEPTED_DAYS = 180

/** One of `value`, `any` and `missing` stands in it. */
export interface BaselineEntry {
  /** `null_resource.cache`, or with its stack `shop:null_resource.cache`. */
  readonly address: string
  /** JSON pointer in the spec; empty for the object as a whole. */
  readonly path: string
  /** The live value, and no other one. */
  readonly value?: Json
  /** Whatever the field has, and what is below it. */
  readonly any?: true
  /** The field, or with an empty path the object, is gone. */
  readonly missing?: true
  /** RFC 3339, in UTC. */
  readonly until: string
  readonly by: string
  readonly reason: string
}

export interface DriftBaseline {
  /** For editors. */
  readonly $schema?: string
  readonly format: typeof BASELINE_FORMAT
  readonly entries: readonly BaselineEntry[]
}

const said = z.string().regex(/\S/, 'is empty')

export const baselineEntrySchema: z.ZodType<BaselineEntry> = z
  .strictObject({
    address: said.describe('null_resource.cache, or with its stack: shop:null_resource.cache'),
    path: shortPointer.describe('JSON pointer in the spec; empty: the object as a whole'),
    value: z.json().exactOptional().describe('accepted is this live value alone'),
    any: z.literal(true).exactOptional().describe('accepted is whatever the field has; the only way for a secret'),
    missing: z.literal(true).exactOptional().describe('accepted is that the field, or with an empty path the object, is gone'),
    until: z.iso.datetime({offset: true}).describe('RFC 3339, at most 180 days from when it is written'),
    by: said.describe('who accepts it'),
    reason: said.describe('why it is accepted'),
  })
  .check(({value: entry, issues}) => {
    const ways = [entry.value !== undefined, entry.any === true, entry.missing === true].filter(Boolean).length
    if (ways !== 1) issues.push({code: 'custom', message: 'says not exactly one of value, any and missing', input: entry, path: []})
    if (entry.path === '' && entry.value !== undefined)
      issues.push({
        code: 'custom',
        message: 'has a value and no path: of an object it can be said that it is missing, or any',
        input: entry,
        path: ['value'],
      })
  })
  .meta({oneOf: [{required: ['value']}, {required: ['any']}, {required: ['missing']}]})

export const baselineSchema: z.ZodType<DriftBaseline> = z.strictObject({
  $schema: z.string().exactOptional().describe('for editors'),
  format: z.literal(BASELINE_FORMAT),
  entries: z.array(baselineEntrySchema).describe('sorted by address and path'),
})

/** The schema as published, draft 2020-12. */
export const baselineJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(baselineSchema, {unrepresentable: 'any', reused: 'inline', io: 'input'}),
  title: 'A baseline of drift',
  description: 'What `svcctl drift --baseline FILE` reads and `svcctl drift accept` writes. It holds no secrets.',
})

const keyOfEntry = ({address, path}: BaselineEntry): string => `${address} ${path}`

/** The same baseline with these entries in place of those for the same fields, sorted. */
export function withEntries(baseline: DriftBaseline, added: readonly BaselineEntry[]): DriftBaseline {
  const entries = new Map([...baseline.entries, ...added].map(it => [keyOfEntry(it), it]))
  const at = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return {...baseline, entries: [...entries.values()].sort((a, b) => at(a.address, b.address) || at(a.path, b.path))}
}
