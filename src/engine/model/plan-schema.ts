/**
 * The saved plan as a schema: files are parsed with it, and `schemas/plan.schema.json` is made from it. It is closed: the
 * hash in a plan covers every field, so one that this program does not know cannot be honoured and is refused.
 */

import {z} from 'zod'
import {APIS} from '../../base/apis.ts'
import type {Json} from '../../base/json.ts'
import {CAUSE_WORDS} from './cause.ts'
import type {Agreed} from './controls.ts'
import type {LedgerLocation, ParentRef, Policy, Target} from './declaration.ts'
import {
  ACTIONS,
  type Bill,
  type BoundTime,
  type Change,
  type DeclaredObject,
  EDGE_REASONS,
  type Edge,
  type Fact,
  type GuardResult,
  type Lifts,
  ON_DRIFT,
  type OpenLeaf,
  type Operation,
  PLAN_FORMAT,
  type Plan,
  type PlannedFreeze,
  type PlannedStack,
  type PlanSource,
  PROTECTIONS,
  type Selectors,
  type Unmanaged,
} from './plan.ts'
import {pointer} from './pointer-schema.ts'

/** A closed object with exactly the fields of `T`: a field added to the type and not here is a compile error. */
const closed =
  <T extends object>() =>
  <S extends {readonly [K in keyof Required<T>]: z.ZodType}>(shape: S & {readonly [K in Exclude<keyof S, keyof T>]: never}) =>
    z.strictObject(shape as S)

/** Any JSON value. What was parsed from text can be nothing else, so it is not walked again. */
const json = z.custom<Json>(value => value !== undefined)
const jsonObject = z.record(z.string(), json)
const count = z.int().min(0)
const digest = z.string().regex(/^[0-9a-f]{64}$/)
const key = z.string().describe('stack:address')
const action = z.enum(ACTIONS)

const change = closed<Change>()({
  path: pointer.describe('JSON pointer in the declared object'),
  before: json.exactOptional().describe('absent: the field was not there; {"secret": true} for a secret'),
  after: json.exactOptional().describe('absent: the field goes; {"unknown": true} for a value that is known during the apply'),
  risk: z.string().exactOptional().describe('what the change may lose, in words'),
  moved: z.enum(['in git', 'outside', 'both', 'unknown']).exactOptional().describe('who moved the field since the last apply'),
})

const edge = closed<Edge>()({
  key,
  reason: z.enum(EDGE_REASONS),
})

const openLeaf = closed<OpenLeaf>()({
  path: pointer.describe('JSON pointer in the declared object'),
  expression: z.string().exactOptional().describe('what it is evaluated from during the apply'),
  version: z.string().exactOptional().describe('of a secret that is compared by its version'),
  needs: z.array(key).exactOptional().describe('the objects it reads'),
  secret: z.literal(true).exactOptional(),
})

const policy = closed<Policy>()({
  exclusive: z.array(z.string()),
  removal: z.enum(['delete', 'retain']),
  ignoreChanges: z.array(pointer).describe('JSON pointers; an empty one is the whole object'),
  preventDestroy: z.boolean(),
  createBeforeDestroy: z.boolean(),
})

const parent: z.ZodType<ParentRef> = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('key'),
    key,
    remoteId: z.string().exactOptional().describe('of a parent the plan does not cover'),
    ledgerHas: z
      .string()
      .exactOptional()
      .describe('what the ledger had under the key, where that is another object: what makes room for the parent is no part of the plan'),
  }),
  z.strictObject({by: z.literal('remoteId'), remoteId: z.string()}),
  z.strictObject({by: z.literal('id'), id: z.string()}),
  z.strictObject({by: z.literal('name'), name: z.string()}),
])

const declared = closed<DeclaredObject>()({
  spec: jsonObject.describe('the declared fields; secrets and values to come are marked'),
  parent: parent.exactOptional(),
  dependsOn: z.array(z.strictObject({key, reason: z.enum(['reference', 'depends_on'])})),
  policy,
  outputs: z.array(z.string()),
})

const agreed = {
  by: z.string(),
  until: z.iso.datetime({offset: true}).describe('counts no more from then on'),
  reason: z.string(),
}

export const operationSchema = closed<Operation>()({
  stack: z.string(),
  address: z.string().describe("Terraform's address: null_resource.cache"),
  kind: z.string(),
  action,
  cause: z.enum(CAUSE_WORDS).describe('why, as a word'),
  reason: z.string().describe('why, as a sentence'),
  remoteId: z.string().exactOptional().describe('the remote path: cloud/subscriptions/12/databases/51'),
  changes: z.array(change),
  because: z.array(z.string()).describe('addresses this operation waits for'),
  edges: z.array(edge),
  adopts: z.literal(true).exactOptional().describe('found by identity, with fields that differ'),
  movedFrom: z.string().exactOptional().describe('the address the ledger had it under'),
  besides: z
    .string()
    .exactOptional()
    .describe('what the ledger had under this address, where another declaration means it that the plan leaves out: it stays'),
  leaves: z
    .array(z.string())
    .exactOptional()
    .describe('of an exclusive object that is taken over: what nobody declares in it and this plan leaves, for the next one to delete'),
  spares: z
    .array(z.string())
    .exactOptional()
    .describe('of an exclusive object that is taken over: what is in it and declared by what the plan does not cover'),
  from: z
    .strictObject({stack: z.string(), address: z.string()})
    .exactOptional()
    .describe('of a move between stacks: whose it is until then'),
  unprotects: z
    .array(z.enum(PROTECTIONS))
    .exactOptional()
    .describe('what keeps it from being deleted as the ledger has it, and is declared no more'),
  later: z.array(pointer).exactOptional().describe('of a move between stacks: fields that differ, for the next plan, as JSON pointers'),
  elsewhere: z
    .strictObject({stack: z.string(), address: z.string().exactOptional()})
    .exactOptional()
    .describe('of a blocked one: the stack that has the object, or may have it'),
  wants: action.exactOptional().describe('what a blocked operation would have been'),
  name: z.string().exactOptional(),
  construct: z.string().exactOptional(),
  declared: declared.exactOptional(),
  preventDestroy: z.literal(true).exactOptional(),
  origin: z.enum(['created', 'imported', 'adopted']).exactOptional(),
  deferred: z.array(openLeaf).exactOptional(),
  secrets: z.array(openLeaf).exactOptional(),
  kept: z.array(pointer).exactOptional().describe('declared fields that somebody changed and that stay so, as JSON pointers'),
  secretsKept: z
    .array(pointer)
    .exactOptional()
    .describe('of an undo: secret fields that it says nothing of and that stay as they are, as JSON pointers'),
  former: jsonObject.exactOptional().describe('of what is deleted or replaced: its fields as they were seen'),
  takes: z.array(z.string()).exactOptional().describe('objects that go with this one'),
  held: closed<Agreed>()(agreed).exactOptional().describe('somebody holds the object, or one that would go with it'),
})

const target = closed<Target>()({profile: z.string().exactOptional(), account: z.string().exactOptional()})

const stackWith = (ledger: z.ZodType<LedgerLocation>) =>
  closed<PlannedStack>()({
    name: z.string(),
    ledger,
    ledgerCondition: z.enum(['present', 'absent']),
    targets: z.strictObject({cloud: target.exactOptional(), cluster: target.exactOptional()}),
    owned: count.describe('objects the ledger owns'),
    declared: count.describe('objects the stack declares'),
    outputs: z.array(
      closed<PlannedStack['outputs'][number]>()({
        name: z.string(),
        value: json,
        sensitive: z.boolean(),
        expression: z.string().exactOptional(),
        secret: z.literal(true).exactOptional(),
      }),
    ),
    recorded: z.record(z.string(), digest).exactOptional().describe('digests of the outputs that the ledger had'),
    lineage: z
      .string()
      .exactOptional()
      .describe('of the ledger it was made with: it is applied with that one, or one that was made from it'),
    place: digest.exactOptional().describe('of where its ledger is: where none has a lineage, it is applied with the one that is there'),
  })

const fact = closed<Fact>()({
  api: z.enum(APIS),
  kind: z.string(),
  path: z.string(),
  rows: count,
  digest: digest.describe('over identity and compared fields of all rows'),
})

export const guardSchema = closed<GuardResult>()({
  code: z.string(),
  addresses: z.array(z.string()),
  allow: z.string().describe('the flag that lifts it, or words when nothing does'),
  message: z.string(),
})

const words = z.array(z.string())

const lifts = closed<Lifts>()({
  allowDestroy: words.describe('--allow-destroy'),
  adopt: words.describe('--adopt'),
  accept: words.describe('--accept'),
  skipBlocked: z.boolean(),
  skipHeld: z.literal(true).exactOptional().describe('--skip-held'),
  onDrift: z.enum(ON_DRIFT),
  maxDestroy: z
    .string()
    .regex(/^\d+%?(,\d+%?)?$/)
    .exactOptional()
    .describe('a number, a share, or both, and then both hold; absent: 30 % once a stack owns 10 objects'),
  noDestroy: z.boolean(),
  refuseRisky: z.boolean(),
})

const selectors = closed<Selectors>()({target: words, exclude: words})

/** More than anybody can wait for is a slip, and no length of time that can be written. */
const bounded = z.number().min(0).max(1e12)

const boundTime = {
  requests: bounded,
  seconds: bounded,
  bound: z.string().describe('which bound is active: rate, critical path, exclusivity of …'),
}

const bill = closed<Bill>()({
  ...boundTime,
  ready: closed<BoundTime>()(boundTime).describe('until everything is ready; the rest is the proof'),
})

/** @param ledger - the locations that are known */
export const planSchemaWith = (ledger: z.ZodType<LedgerLocation>): z.ZodType<Plan> =>
  closed<Plan>()({
    format: z.literal(PLAN_FORMAT),
    tool: z.string().describe('the program that made it'),
    stacks: z.array(stackWith(ledger)),
    otherStacks: z
      .array(z.strictObject({name: z.string(), ledger}))
      .exactOptional()
      .describe('the other stacks of the app: what their ledgers have is left alone'),
    accounts: z.record(z.string(), z.strictObject({address: z.string(), keyHash: z.string(), account: z.string().exactOptional()})),
    declarationsDigest: digest,
    scope: z.enum(['all', 'targeted', 'changed']),
    selectors: selectors.describe('what was selected'),
    lifts: lifts.describe('what lifts guards or decides what is sent: approved with the plan'),
    destroy: z.literal(true).exactOptional().describe('made by svcctl destroy'),
    undo: z.strictObject({run: z.string()}).exactOptional().describe('made by svcctl undo: the run that it undoes'),
    facts: z.array(fact).describe('the lists the plan was made from'),
    operations: z.array(operationSchema).describe('in the order of execution'),
    summary: z.record(action, count),
    unmanaged: z
      .union([count, z.array(closed<Unmanaged>()({kind: z.string(), name: z.string().nullable(), remoteId: z.string()}))])
      .describe('objects that were seen and belong to no stack of the app: how many, or with --unmanaged which'),
    notes: z.array(z.string()),
    guards: z.array(guardSchema).describe('what refuses the plan'),
    requests: z.strictObject({used: count, avoided: count}),
    bill,
    notAfter: z.iso.datetime().exactOptional(),
    freezes: z
      .array(
        closed<PlannedFreeze>()({
          id: z.string(),
          stack: z.string().exactOptional().describe('absent: the account'),
          ...agreed,
          strict: z.boolean().describe('--break-glass does not pass it'),
        }),
      )
      .exactOptional()
      .describe('what an apply of now would be refused for'),
    residualOf: digest.exactOptional().describe('of what is left of another plan: its hash'),
    source: closed<PlanSource>()({
      repository: z.string().exactOptional(),
      commit: z.string().regex(/^[0-9a-f]{8,64}$/),
    })
      .exactOptional()
      .describe('what it was made from'),
    written: z.record(z.string(), z.string()).exactOptional().describe('where the objects are declared, as file:line, by stack:address'),
    hash: digest.describe('over everything but requests, bill, source, written, freezes and itself'),
  })

/** The schema as published, draft 2020-12. */
export const planJsonSchema = (ledger: z.ZodType<LedgerLocation>): Record<string, unknown> => ({
  ...z.toJSONSchema(planSchemaWith(ledger), {unrepresentable: 'any', reused: 'ref'}),
  title: 'A plan of svcctl',
  description: 'What `svcctl plan -o json` prints and `svcctl plan --out FILE` saves. It holds no secrets.',
})
