/** What `svcctl undo -o json` prints, as published in `schemas/undo.schema.json`. */
import {z} from 'zod'
import {ACTIONS, type GuardResult} from '../../engine/model/plan.ts'
import type {NotUndone, Undoable, UndoDone} from './undo.ts'

export interface UndoDocument extends Omit<UndoDone, 'plan'> {
  readonly run: string
  /** The plan file. */
  readonly out: string
  readonly hash: string
  readonly guards: readonly GuardResult[]
  readonly notes: readonly string[]
  readonly requests: {readonly used: number}
}

export const undoDocument = (run: string, out: string, {plan, undoable, conflicts, impossible}: UndoDone): UndoDocument => ({
  run,
  out,
  hash: plan.hash,
  undoable,
  conflicts,
  impossible,
  guards: plan.guards,
  notes: plan.notes,
  requests: {used: plan.requests.used},
})

const object = {stack: z.string(), address: z.string(), kind: z.string()}
const action = z.enum(ACTIONS)

const undoable: z.ZodType<Undoable> = z.strictObject({
  ...object,
  was: action.describe('what the run did'),
  action: action.describe('what the plan does now'),
  risk: z.string().exactOptional(),
})
const notUndone: z.ZodType<NotUndone> = z.strictObject({
  ...object,
  path: z.string().describe('JSON pointer; empty: the whole object'),
  why: z.string(),
})

export const undoSchema: z.ZodType<UndoDocument> = z.strictObject({
  run: z.string(),
  out: z.string().describe('the plan file: svcctl show, svcctl apply'),
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('of the plan'),
  undoable: z.array(undoable).describe('what the plan does, in the order of execution'),
  conflicts: z.array(notUndone).describe('changed since the run, and left as it is'),
  impossible: z.array(notUndone).describe('what no plan brings back'),
  guards: z.array(z.strictObject({code: z.string(), addresses: z.array(z.string()), allow: z.string(), message: z.string()})),
  notes: z.array(z.string()),
  requests: z.strictObject({used: z.int().nonnegative()}),
})

/** The schema as published, draft 2020-12. */
export const undoJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(undoSchema, {unrepresentable: 'any', reused: 'inline'}),
  title: 'The way back from a run',
  description: 'What `svcctl undo RUN --out FILE -o json` prints. It holds no secrets.',
})
