/**
 * A line of an audit: what somebody did, and the hash of the line before it. The hash of a line covers all of it, so
 * that whoever knows the last one can tell whether any of them was altered, left out, put elsewhere or added.
 */
import {hash as digest} from 'node:crypto'
import {z} from 'zod'
import {parseJson} from '../base/bounded-json.ts'
import {canonicalJson, isCanonicalJson, isJsonObject, type Json} from '../base/json.ts'
import {judge} from '../base/judge.ts'

export const AUDIT_EVENTS = [
  'apply-begin',
  'operation',
  'apply-end',
  'import',
  'forget',
  'transfer',
  'absorb',
  'hold',
  'freeze',
  'lift',
  'break-glass',
  'force-unlock',
] as const
export type AuditEventName = (typeof AUDIT_EVENTS)[number]

export interface AuditActor {
  readonly name: string
  /** `--by`, the CI job's actor, or `user@host`. */
  readonly source: 'by' | 'ci' | 'user'
  readonly host: string
}

export interface AuditChange {
  /** JSON pointer in the spec; empty: the whole object. */
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

/** What happened, without who, when and where in the chain. */
export interface AuditEvent {
  readonly event: AuditEventName
  readonly run?: string
  readonly plan?: {readonly hash: string; readonly approvedBy?: string; readonly approvedAt?: string; readonly commit?: string}
  readonly address?: string
  readonly remoteId?: string
  readonly action?: string
  /** How it ended. */
  readonly state?: string
  readonly changes?: readonly AuditChange[]
  /** Changes for which a line has no room. */
  readonly changesLeftOut?: number
  readonly reason?: string
  /** Until when it holds. */
  readonly until?: string
  /** What it was called before: its address there, in this stack or another one. */
  readonly from?: AuditPlace
  /** Of what went to another stack. */
  readonly to?: AuditPlace
}

export interface AuditPlace {
  readonly stack: string
  readonly address: string
}

/** Two lines have one of these only if they are the same. */
export interface ChainHead {
  readonly seq: number
  readonly hash: string
}

/** The chain went on somewhere else before this line, and what this file has before it is this. */
export interface Seam extends ChainHead {
  /** What this file should have had: the ledger knew of it. */
  readonly had?: number
}

export interface AuditEntry extends AuditEvent, ChainHead {
  readonly v: 1
  readonly at: string
  readonly stack: string
  readonly lineage: string
  readonly actor: AuditActor
  readonly ci?: {readonly url?: string; readonly commit?: string; readonly ref?: string}
  /** Present on the first line that a file has after lines of the chain that it does not have, or of which nobody knows. */
  readonly here?: Seam
  readonly prev: string
}

export type UnchainedEntry = Omit<AuditEntry, 'seq' | 'prev' | 'hash' | 'here'>

/** The ledger had forgotten how far the chain was: it went on from what this file has, and others may have had more. */
export const isOwn = ({here, prev}: Pick<AuditEntry, 'here' | 'prev'>): boolean => here !== undefined && here.hash === prev

/** What stands in `prev` of the first line of all. */
export const NOTHING = '0'.repeat(64)

/** More than is ever written. */
const text = z.string().max(4_096)
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const seq = z.int().nonnegative()
const place = z.strictObject({stack: text, address: text})
/** Of any form: what is read was JSON as a whole. */
const value = z.any()

export const auditEntrySchema: z.ZodType<AuditEntry> = z.strictObject({
  v: z.literal(1),
  seq: seq.describe('1, 2, 3 …, through all machines'),
  at: z.iso.datetime().describe('RFC 3339, UTC, by the clock of the machine'),
  event: z.enum(AUDIT_EVENTS),
  stack: text,
  lineage: text.describe('of the ledger'),
  run: text.exactOptional(),
  actor: z.strictObject({
    name: text,
    source: z.enum(['by', 'ci', 'user']).describe("--by, the CI job's actor, user@host"),
    host: text,
  }),
  ci: z.strictObject({url: text.exactOptional(), commit: text.exactOptional(), ref: text.exactOptional()}).exactOptional(),
  plan: z
    .strictObject({
      hash: text,
      approvedBy: text.exactOptional(),
      approvedAt: z.iso.datetime({offset: true}).exactOptional(),
      commit: text.exactOptional().describe('what it was made from'),
    })
    .exactOptional(),
  address: text.exactOptional(),
  remoteId: text.exactOptional(),
  action: text.exactOptional(),
  state: text.exactOptional().describe('how it ended'),
  changes: z
    .array(
      z.strictObject({
        path: text.describe('JSON pointer in the spec; empty: the whole object'),
        before: value.exactOptional(),
        after: value.exactOptional(),
      }),
    )
    .exactOptional()
    .describe('secrets are {"secret": true}, long values {"cut": text, "length": number}'),
  changesLeftOut: z.int().positive().exactOptional().describe('changes for which the line has no room'),
  reason: text.exactOptional(),
  until: text.exactOptional(),
  from: place.exactOptional().describe('what the object was called before'),
  to: place.exactOptional().describe('what the object is called in the stack it went to'),
  here: z
    .strictObject({seq, hash, had: seq.exactOptional().describe('what the file should have had')})
    .exactOptional()
    .describe(
      'where the chain went on elsewhere before this line, or the ledger had forgotten of it: the line that the file has before it',
    ),
  prev: hash.describe('of the line before it; zeros for the first one'),
  hash: hash.describe('sha256 of the canonical JSON of all the rest'),
})

/** As published in `schemas/`. */
export const auditJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(auditEntrySchema, {unrepresentable: 'any', reused: 'inline'}),
  title: 'One line of an audit',
  description: 'What stands in `.svcctl/audit/<stack>.jsonl`, one line of canonical JSON an event. It holds no secrets.',
})

const hashOf = (rest: string): string => digest('sha256', rest)

export interface ChainedLine {
  readonly entry: AuditEntry
  /** Without a line break. */
  readonly text: string
}

/** @param seam - where it does not follow the line before it in its file */
export function chained(unchained: UnchainedEntry, after: ChainHead, seam?: Seam): ChainedLine {
  const rest = {...unchained, seq: after.seq + 1, prev: after.hash, ...(seam === undefined ? {} : {here: seam})}
  const entry: AuditEntry = {...rest, hash: hashOf(canonicalJson(rest))}
  return {entry, text: canonicalJson(entry)}
}

/** The line as it was written; `undefined` for what is none, or was written by somebody else. */
export function readLine(text: string): AuditEntry | undefined {
  // Of millions of lines that are none, an error each takes minutes.
  if (!text.startsWith('{')) return undefined
  let json: Json
  try {
    json = parseJson(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(json) || typeof json.hash !== 'string') return undefined
  // What it covers is the rest of the letters. None of them can be this hash as well: it would be part of what it is made of.
  if (json.hash !== hashOf(text.replace(`"hash":"${json.hash}",`, ''))) return undefined
  // Letter by letter: one JSON has many spellings, and none but one was written.
  if (!isCanonicalJson(text, json)) return undefined
  const parsed = judge(auditEntrySchema, json)
  return parsed.success ? parsed.data : undefined
}

/** The number that a line says it has, true or not. */
export function statedSeq(text: string): number | undefined {
  const digits = /"seq":(\d{1,15})[,}]/.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
