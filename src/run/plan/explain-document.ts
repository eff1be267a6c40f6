/** What `svcctl explain` prints with `-o json`, as published in `schemas/`. */
import {z} from 'zod'
import type {Json} from '../../base/json.ts'
import {CAUSE_WORDS} from '../../engine/model/cause.ts'
import {DECIDED} from '../../engine/model/decision.ts'
import {ACTIONS, EDGE_REASONS} from '../../engine/model/plan.ts'
import type {Explanation} from '../../report/explain-text.ts'
import {published, requestsSchema} from '../host/published-schema.ts'

const json: z.ZodType<Json> = z.json()
const edges = z.array(z.strictObject({key: z.string().describe('stack:address'), reason: z.enum(EDGE_REASONS)}))

export const explainSchema: z.ZodType<Explanation> = z.strictObject({
  stack: z.string(),
  address: z.string(),
  kind: z.string(),
  name: z.string().exactOptional(),
  construct: z.string().exactOptional(),
  remoteId: z.string().exactOptional(),
  action: z.enum(ACTIONS),
  wants: z.enum(ACTIONS).exactOptional().describe('what a blocked one would have been'),
  cause: z.enum(CAUSE_WORDS),
  reason: z.string(),
  source: z.string().exactOptional().describe('file:line'),
  identity: z.strictObject({
    by: z.enum(['ledger', 'moved', 'import', 'name', 'none']),
    key: z.string().exactOptional().describe('what a person calls it within its parent'),
    rule: z.string(),
  }),
  guards: z.array(z.strictObject({code: z.string(), addresses: z.array(z.string()), allow: z.string(), message: z.string()})),
  holds: z.array(z.strictObject({by: z.string(), until: z.string(), reason: z.string()})),
  edges: z.strictObject({waitsFor: edges, waitedForBy: edges}),
  fields: z.array(
    z.strictObject({
      path: z.string().describe('JSON pointer in the spec'),
      declared: json.exactOptional(),
      ledger: json.exactOptional().describe('what was applied last'),
      live: json.exactOptional(),
      decided: z.enum(DECIDED),
      rule: z.string().describe('what decided it, in words'),
    }),
  ),
  sends: z.array(z.strictObject({method: z.string(), path: z.string().describe('* for an id that is known then')})),
  requests: requestsSchema,
})

export const explainJsonSchema = (): Record<string, unknown> =>
  published(explainSchema, 'Why a plan does what it does to one object', 'What `svcctl explain -o json` prints. It holds no secrets.')
