/** What `svcctl compare` prints with `-o json`, as published in `schemas/`. */
import {z} from 'zod'
import type {Json} from '../../base/json.ts'
import type {Comparison} from '../../engine/plan/compare.ts'
import {published, requestsSchema} from '../host/published-schema.ts'

const json: z.ZodType<Json> = z.json()

export interface CompareDocument extends Comparison {
  readonly stacks: {readonly a: string; readonly b: string}
  readonly of: 'declared' | 'live'
  readonly requests: {readonly used: number}
}

export const compareSchema: z.ZodType<CompareDocument> = z.strictObject({
  stacks: z.strictObject({a: z.string(), b: z.string()}),
  of: z.enum(['declared', 'live']).describe('which values were compared'),
  onlyA: z.array(z.string()).describe('addresses that the other stack has nothing at the place of'),
  onlyB: z.array(z.string()),
  differ: z.array(
    z.strictObject({
      address: z.string().describe('in the first stack'),
      path: z.string().describe('JSON pointer in the spec'),
      a: json.exactOptional().describe('absent: no value'),
      b: json.exactOptional(),
    }),
  ),
  both: z.int().nonnegative().describe('objects that both stacks have'),
  secrets: z.int().nonnegative().describe('secrets of those, of which the version alone was compared'),
  requests: requestsSchema,
})

export const compareJsonSchema = (): Record<string, unknown> =>
  published(compareSchema, 'Two stacks beside each other', 'What `svcctl compare -o json` prints. It holds no secrets.')
