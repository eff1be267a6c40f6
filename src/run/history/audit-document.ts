/** What `svcctl audit verify` and `svcctl history` print with `-o json`, as published in `schemas/`. */
import {z} from 'zod'
import {AUDIT_EVENTS} from '../../audit/entry.ts'
import type {Json} from '../../base/json.ts'
import {published} from '../host/published-schema.ts'
import type {VerifiedChain} from './audit-verify.ts'
import type {History} from './history.ts'

const json: z.ZodType<Json> = z.json()
const count = z.int().nonnegative()
const head = z.strictObject({seq: count, hash: z.string()})
const gap = {from: count, to: count}
const place = z.strictObject({stack: z.string(), address: z.string()})

export const verifySchema: z.ZodType<{readonly chains: readonly VerifiedChain[]}> = z.strictObject({
  chains: z.array(
    z.strictObject({
      stack: z.string(),
      files: z.array(
        z.strictObject({file: z.string(), lines: count, torn: z.boolean().describe('its last line was not written to its end')}),
      ),
      head: head.nullable().describe('the last line that is here'),
      ledger: head.nullable().describe('the last line that the ledger knows; null: it knows none'),
      lines: count,
      ahead: count.describe('lines that the ledger does not know yet'),
      gaps: z.array(z.strictObject(gap)).describe('lines that are not here'),
      beside: z
        .array(head)
        .exactOptional()
        .describe('lines that are here and not in the chain: nothing proves them, and they do not count'),
    }),
  ),
})

export const historySchema: z.ZodType<History> = z.strictObject({
  events: z
    .array(
      z.strictObject({
        stack: z.string(),
        seq: count,
        hash: z.string(),
        beside: z.literal(true).exactOptional().describe('it is not in the chain: nothing proves it'),
        at: z.string(),
        event: z.enum(AUDIT_EVENTS),
        by: z.string().describe('who did it'),
        host: z.string(),
        commit: z.string().exactOptional(),
        url: z.string().exactOptional().describe('the page of the CI job'),
        plan: z.string().exactOptional().describe('its hash'),
        approvedBy: z.string().exactOptional(),
        approvedAt: z.string().exactOptional(),
        run: z.string().exactOptional(),
        address: z.string().exactOptional(),
        remoteId: z.string().exactOptional(),
        action: z.string().exactOptional(),
        state: z.string().exactOptional(),
        changes: z.array(z.strictObject({path: z.string(), before: json.exactOptional(), after: json.exactOptional()})).exactOptional(),
        changesLeftOut: count.exactOptional(),
        reason: z.string().exactOptional(),
        until: z.string().exactOptional(),
        from: place.exactOptional().describe('what the object was called before'),
        to: place.exactOptional().describe('what it is called where it went to'),
      }),
    )
    .describe('the newest first'),
  gaps: z.array(z.strictObject({stack: z.string(), ...gap})).describe('lines that are not here'),
})

export const verifyJsonSchema = (): Record<string, unknown> =>
  published(verifySchema, 'Audits that were verified', 'What `svcctl audit verify -o json` prints.')
export const historyJsonSchema = (): Record<string, unknown> =>
  published(historySchema, 'The history of objects', 'What `svcctl history -o json` prints. It holds no secrets.')
