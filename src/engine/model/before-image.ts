/**
 * What the ledgers had of everything that a run was to touch, written before its first request: what `undo` goes back to. It
 * holds no secret: of those the digests that the ledgers have, too.
 */
import {z} from 'zod'
import type {Json, JsonObject} from '../../base/json.ts'
import {deposedAddress} from './deposed.ts'
import type {Ledger, LedgerEntry, LedgerOutput} from './ledger.ts'
import type {Operation} from './plan.ts'
import {pointer} from './pointer-schema.ts'

export const BEFORE_FORMAT = 'svcctl.before/1'

export interface StackBefore {
  /** Of the ledger as the run found it. */
  readonly serial: number
  readonly entries: readonly LedgerEntry[]
  readonly outputs: Readonly<Record<string, LedgerOutput>>
}

export interface BeforeImage {
  readonly format: typeof BEFORE_FORMAT
  readonly stacks: Readonly<Record<string, StackBefore>>
}

const json = z.custom<Json>(value => value !== undefined)

const entry: z.ZodType<LedgerEntry> = z.object({
  address: z.string(),
  kind: z.string(),
  remoteId: z.string(),
  origin: z.enum(['created', 'imported', 'adopted']),
  applied: z.record(z.string(), json) as z.ZodType<JsonObject>,
  secrets: z.record(pointer, z.string()),
  dependsOn: z.array(z.string()),
  removal: z.enum(['delete', 'retain']),
  preventDestroy: z.boolean(),
  exclusive: z.array(z.string()),
  ignoreChanges: z.array(z.string()).exactOptional(),
  outputs: z.record(z.string(), json),
})

export const beforeImageSchema: z.ZodType<BeforeImage> = z.object({
  format: z.literal(BEFORE_FORMAT),
  stacks: z.record(
    z.string(),
    z.object({
      serial: z.number(),
      entries: z.array(entry),
      outputs: z.record(z.string(), z.object({value: json, sensitive: z.boolean()})),
    }),
  ),
})

/** Of everything that these operations may change in the ledgers, and of nothing else. */
export function beforeImage(operations: readonly Operation[], ledgers: ReadonlyMap<string, Ledger>): BeforeImage {
  const addresses = new Map<string, Set<string>>()
  const touch = (stack: string, address: string | undefined) => {
    if (address === undefined) return
    const known = addresses.get(stack) ?? new Set()
    addresses.set(stack, known.add(address))
  }
  for (const it of operations) {
    if (it.action === 'no-op') continue
    touch(it.stack, it.address)
    touch(it.stack, it.movedFrom)
    if (it.remoteId !== undefined) touch(it.stack, deposedAddress(it.address, it.remoteId))
    if (it.from !== undefined) touch(it.from.stack, it.from.address)
  }
  return {
    format: BEFORE_FORMAT,
    stacks: Object.fromEntries(
      [...ledgers.values()].map(({stack, serial, outputs, entries}) => [
        stack,
        {serial, outputs, entries: [...(addresses.get(stack) ?? [])].sort().flatMap(it => entries.get(it) ?? [])},
      ]),
    ),
  }
}
