/** The shape of a journal's entries: what stands in a file or came with a ledger is not trusted to be ours. */
import {z} from 'zod'
import {FURTHEST_MS} from '../../base/moment.ts'
import {STATES} from './events.ts'
import type {JournalEntry} from './journal.ts'

/** Milliseconds, of a day that there is: it is shown as one. */
export const momentSchema = z.number().min(-FURTHEST_MS).max(FURTHEST_MS)

const told = <Shape extends z.ZodRawShape>(shape: Shape) => z.object({...shape, requests: z.number().exactOptional()})
const step = {key: z.string(), step: z.enum(['create', 'update', 'delete'])}

export const journalEntrySchema = z.discriminatedUnion('type', [
  told({
    type: z.literal('sent'),
    ...step,
    kind: z.string(),
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']),
    path: z.string(),
    name: z.string().exactOptional(),
    remoteId: z.string().exactOptional(),
    former: z.string().exactOptional(),
    secrets: z.record(z.string(), z.string()).exactOptional(),
    serial: z.number().exactOptional(),
    lineage: z.string().exactOptional(),
    at: momentSchema,
  }),
  told({type: z.literal('handle'), ...step, taskId: z.string()}),
  told({type: z.literal('accepted'), ...step, remoteId: z.string().exactOptional()}),
  told({type: z.literal('void'), ...step, why: z.string()}),
  told({
    type: z.literal('settled'),
    ...step,
    remoteId: z.string().exactOptional(),
    failed: z.string().exactOptional(),
    at: momentSchema.exactOptional(),
  }),
  told({type: z.literal('ended'), key: z.string(), state: z.enum(STATES)}),
  told({type: z.literal('recorded'), keys: z.array(z.string())}),
  told({
    type: z.literal('saved'),
    stack: z.string(),
    serial: z.number(),
    lineage: z.string().exactOptional(),
    objects: z.record(z.string(), z.string()).exactOptional(),
    secrets: z.record(z.string(), z.record(z.string(), z.string())).exactOptional(),
  }),
  told({type: z.literal('verified'), keys: z.array(z.string())}),
  told({type: z.literal('left')}),
  told({type: z.literal('end'), summary: z.record(z.string(), z.number())}),
]) satisfies z.ZodType<JournalEntry>
