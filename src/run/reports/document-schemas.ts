/** What commands print with `-o json` and no schema of their own says: published in `schemas/` by these names. */
import {z} from 'zod'
import {APIS} from '../../base/apis.ts'
import type {Json} from '../../base/json.ts'
import {freezeSchema, holdSchema} from '../../controls/document.ts'
import {baselineEntrySchema} from '../../engine/model/drift-baseline.ts'
import {STATES} from '../../engine/model/events.ts'
import {ACTIONS} from '../../engine/model/plan.ts'
import {guardSchema} from '../../engine/model/plan-schema.ts'

const json: z.ZodType<Json> = z.json()
const count = z.int().nonnegative()
const requests = z.strictObject({used: count}).describe('what the servers saw')
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const address = z.string().describe("Terraform's address: null_resource.cache")
const path = z.string().describe('JSON pointer in the spec')
const action = z.enum(ACTIONS)
const bound = {requests: z.number(), seconds: z.number(), bound: z.string().describe('what decides how long it takes')}
const bill = z.strictObject({...bound, ready: z.strictObject(bound).describe('until everything is ready; the rest is the proof')})

const problem = z.strictObject({
  address: z.string().exactOptional(),
  path: z.string().exactOptional(),
  message: z.string(),
  source: z.string().exactOptional().describe('file:line'),
})

/** On failure, whatever the command. */
const failure = z.strictObject({
  error: z.strictObject({
    code: z
      .string()
      .regex(/^E_[A-Z_]+$/)
      .describe('stable; docs/errors.md has them all'),
    message: z.string(),
    suggestions: z.array(z.string()),
    problems: z.array(problem).exactOptional(),
    status: z.int().exactOptional().describe('of an answer: its HTTP status'),
    answer: z.record(z.string(), json).exactOptional().describe('of an answer: what the API itself says'),
  }),
})

const apply = z.strictObject({
  run: z.string().nullable().describe('null: there was nothing to do'),
  operations: z.array(
    z.strictObject({
      stack: z.string(),
      address,
      kind: z.string(),
      action,
      state: z.enum(STATES),
      remoteId: z.string().exactOptional(),
      because: z.array(z.string()).exactOptional().describe('of a skipped one: what it was waiting for'),
      error: z.strictObject({code: z.string(), message: z.string(), suggestions: z.array(z.string())}).exactOptional(),
    }),
  ),
  summary: z.record(z.enum(STATES), count),
  converged: z.boolean(),
  undecided: z
    .array(z.strictObject({code: z.string(), message: z.string()}))
    .exactOptional()
    .describe('requests of dead runs that nobody can tell the end of'),
  residual: z.array(z.string()).describe('what another apply would still have to do, and what the API has as failed or is deleting'),
  diagnosis: z.array(
    z.strictObject({
      stack: z.string(),
      address,
      fields: z.array(
        z.strictObject({path, before: json.exactOptional(), after: json.exactOptional(), diagnosis: z.string(), advice: z.string()}),
      ),
    }),
  ),
  requests,
  seconds: z
    .strictObject({
      ready: z.number(),
      ledger: z.number().describe('until the ledgers had it'),
      proven: z.number(),
    })
    .exactOptional()
    .describe('absent: with --attach'),
  bill,
  plan: hash.describe('what was carried out'),
  notChecked: count.exactOptional().describe('of a saved plan: objects that it leaves as they are'),
  residualPlan: z.string().exactOptional().describe('the file of what is left'),
  audit: z
    .array(z.strictObject({stack: z.string(), seq: count, hash}))
    .exactOptional()
    .describe('the last lines of the audits'),
  approval: z.strictObject({by: z.string(), at: z.string()}).exactOptional().describe('of --approve-from'),
})

const owned = {stack: z.string(), address, kind: z.string(), name: z.string().exactOptional(), construct: z.string().exactOptional()}
const agreed = {by: z.string(), until: z.string(), reason: z.string()}
const held = z.strictObject(agreed).exactOptional().describe('somebody holds it')
const sides = {before: json.exactOptional().describe('as it was applied'), after: json.exactOptional().describe('as it is')}

const frozen = z.strictObject({
  id: z.string(),
  stack: z.string().exactOptional().describe('absent: the account'),
  ...agreed,
  strict: z.boolean().describe('--break-glass does not pass it'),
})

const drift = z.strictObject({
  drifted: z.array(
    z.strictObject({
      ...owned,
      held,
      missing: z.boolean(),
      changes: z.array(z.strictObject({path, ...sides, risk: z.string().exactOptional()})),
    }),
  ),
  summary: z.strictObject({
    drifted: count,
    missing: count,
    unchanged: count,
    unmanaged: count,
    accepted: count.exactOptional().describe('of --baseline: objects in which nothing else drifted'),
  }),
  accepted: z
    .array(z.strictObject({...owned, held, path, ...sides, ...agreed}))
    .exactOptional()
    .describe('of --baseline'),
  unseen: z
    .array(z.strictObject({...owned, why: z.string()}))
    .exactOptional()
    .describe('objects of which nobody can tell whether they are gone'),
  expired: z.array(baselineEntrySchema).exactOptional(),
  unused: z.array(baselineEntrySchema).exactOptional(),
  holds: z
    .array(z.strictObject({stack: z.string(), address, ...agreed}))
    .exactOptional()
    .describe('owned objects that somebody holds'),
  freezes: z.array(frozen).exactOptional().describe('what is frozen'),
})

const driftAccept = z.strictObject({
  file: z.string(),
  entries: z.array(baselineEntrySchema).describe('what was written'),
  requests,
})

const comment = z.strictObject({action: z.enum(['created', 'updated', 'skipped']), url: z.string()})

const run = z.strictObject({
  run: z.string(),
  state: z.enum(['running', 'ended', 'unfinished']),
  started: z.string(),
  stacks: z.array(z.string()),
  plan: hash,
  requests: count,
  in_flight: z.array(z.strictObject({key: z.string(), step: z.string(), task_id: z.string().exactOptional()})),
  operations: z.array(z.strictObject({key: z.string(), state: z.string(), reason: z.string().exactOptional()})),
  sent: z.array(z.strictObject({at: z.string(), key: z.string(), step: z.string(), method: z.string(), path: z.string()})),
})

const side = z.strictObject({action, changes: z.array(z.record(z.string(), json))})
const planDiff = z.strictObject({
  before: hash,
  after: hash,
  differences: z.array(
    z.strictObject({
      stack: z.string(),
      address,
      kind: z.string(),
      what: z.enum(['added', 'gone', 'other action', 'other changes']),
      before: side.exactOptional(),
      after: side.exactOptional(),
      also: z.array(z.string()).exactOptional().describe('in words: what else of the operation is another one'),
    }),
  ),
  also: z.array(z.string()).describe('in words: what is different beside the operations: lifts, accounts, ledgers, outputs, …'),
})

const entry = z.strictObject({
  stack: z.string(),
  address,
  kind: z.string(),
  remoteId: z.string(),
  origin: z.enum(['created', 'imported', 'adopted']),
})
const stateList = z.strictObject({resources: z.array(entry), requests})
const stateShow = z.strictObject({
  resource: entry.extend({
    lastApplied: z.record(z.string(), json).describe('the spec; {"secret": true} stands for what is secret'),
    outputs: z.record(z.string(), json),
    dependsOn: z.array(z.string()).describe('keys of objects: shop:null_resource.main'),
  }),
  requests,
})
const forget = z.strictObject({forgotten: z.array(entry), requests})

const place = z.strictObject({stack: z.string(), address})
const transfer = z.strictObject({
  transfer: z.string().nullable().describe('its id, several with ", " between them; null: there was nothing to move'),
  moved: z.array(z.strictObject({from: place, to: place, remoteId: z.string()})),
  requests,
})

const forceUnlock = z.array(
  z.strictObject({
    stack: z.string(),
    place: z.string().describe('file or address of the ledger'),
    holder: z.string().nullable().describe('who had the lock; null: it was not locked'),
  }),
)

const ofStack = z.record(z.string(), z.strictObject({value: json, sensitive: z.boolean()})).describe('by the names of outputs')
const output = z.union([ofStack.describe('of one stack'), z.record(z.string(), ofStack).describe('of several, by their names')])

const warnings = z.array(z.string())
const validate = z.strictObject({
  valid: z.literal(true).describe('what is not valid is a failure'),
  stacks: z.array(z.strictObject({name: z.string(), declarations: count, warnings})),
  warnings: warnings.describe('of the whole'),
})

const rehearse = z.strictObject({
  plan: hash,
  guards: z.array(guardSchema).describe('what an apply would be refused for'),
  freezes: z.array(frozen).exactOptional().describe('the same'),
  held: z
    .array(z.strictObject({stack: z.string(), address, ...agreed}))
    .exactOptional()
    .describe('what is left out because somebody holds it'),
  calls: z.array(
    z.strictObject({
      seconds: z.number().describe('after the start, in virtual time'),
      api: z.enum(APIS),
      method: z.string(),
      path: z.string(),
      status: z.int(),
    }),
  ),
  requests: count,
  seconds: z.strictObject({ready: z.number(), proven: z.number()}),
  summary: z.record(z.enum(STATES), count),
  bill: bill.describe('as the plan has it'),
  second_plan: z.strictObject({
    empty: z.boolean(),
    operations: z.array(z.strictObject({stack: z.string(), address, action})).describe('what another apply would still have to do'),
  }),
})

const runsPrune = z.strictObject({removed: z.array(z.string()).describe('names of runs')})

const kept = freezeSchema.extend({
  account: z.string().exactOptional().describe('of an account: its API and address, in words'),
  place: z.string().describe('the file or address it is kept in'),
})
const hold = z.strictObject({holds: z.array(holdSchema), requests})
const holdLift = z.strictObject({lifted: z.array(holdSchema), requests})
const freeze = z.strictObject({freezes: z.array(kept), requests})
const freezeLift = z.strictObject({lifted: z.array(kept), requests})

/** By the names of their files, each with what it is of. */
export const documentSchemas = {
  apply: [apply, 'An apply', 'What `svcctl apply -o json` and `svcctl destroy -o json` print.'],
  comment: [comment, 'A comment', 'What `svcctl comment PLAN --on HOST -o json` prints.'],
  drift: [drift, 'Drift', 'What `svcctl drift -o json` prints.'],
  'drift-accept': [driftAccept, 'Drift that is accepted', 'What `svcctl drift accept -o json` prints.'],
  error: [failure, 'A failure', 'What every command prints with `-o json` when it fails.'],
  'force-unlock': [forceUnlock, 'Locks taken away', 'What `svcctl force-unlock -o json` prints.'],
  forget: [forget, 'What a ledger forgot', 'What `svcctl forget -o json` and `svcctl state rm -o json` print.'],
  freeze: [freeze, 'Freezes', 'What `svcctl freeze -o json` and `svcctl freeze list -o json` print.'],
  'freeze-lift': [freezeLift, 'Freezes that are ended', 'What `svcctl freeze lift -o json` prints.'],
  hold: [hold, 'Holds', 'What `svcctl hold -o json` and `svcctl hold list -o json` print.'],
  'hold-lift': [holdLift, 'Holds that are ended', 'What `svcctl hold lift -o json` prints.'],
  output: [output, 'Outputs', 'What `svcctl output -o json` prints; with a name it prints the value alone, which may be any JSON.'],
  'plan-diff': [planDiff, 'What is different between two plans', 'What `svcctl plan diff -o json` prints.'],
  rehearse: [rehearse, 'A rehearsal', 'What `svcctl rehearse -o json` prints.'],
  run: [run, 'A run', 'What `svcctl runs show -o json` prints; `svcctl runs list -o json` prints a list of them.'],
  'runs-prune': [runsPrune, 'Runs that were removed', 'What `svcctl runs prune -o json` prints.'],
  'state-list': [stateList, 'What ledgers have', 'What `svcctl state list -o json` prints.'],
  'state-show': [stateShow, 'What a ledger has of an object', 'What `svcctl state show -o json` prints. It holds no secrets.'],
  transfer: [transfer, 'Objects that another stack has now', 'What `svcctl transfer -o json` and `svcctl state mv -o json` print.'],
  validate: [validate, 'Stacks that are valid', 'What `svcctl validate -o json` prints.'],
} as const satisfies Readonly<Record<string, readonly [z.ZodType, string, string]>>

/** The schemas as published, draft 2020-12. */
export const documentJsonSchemas = (): Readonly<Record<string, Record<string, unknown>>> =>
  Object.fromEntries(
    Object.entries(documentSchemas).map(([name, [schema, title, description]]) => [
      name,
      {...z.toJSONSchema(schema, {unrepresentable: 'any', reused: 'inline', io: 'input'}), title, description},
    ]),
  )
