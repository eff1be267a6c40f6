/** The plan as a document: what `plan -o json` prints and `--out` saves. Published as `schemas/plan.schema.json`. */
import type {Api} from '../../base/apis.ts'
import type {Json, JsonObject} from '../../base/json.ts'
import type {Cause} from './cause.ts'
import type {Agreed, Freeze} from './controls.ts'
import type {LedgerLocation, ParentRef, Policy, Target} from './declaration.ts'
import type {LedgerAccount, Origin} from './ledger.ts'

export const PLAN_FORMAT = 'svcctl.plan/1'

export const ACTIONS = ['create', 'update', 'replace', 'delete', 'adopt', 'move', 'forget', 'no-op', 'blocked'] as const
export type Action = (typeof ACTIONS)[number]

/** What keeps an object from being deleted. */
export const PROTECTIONS = ['prevent_destroy', 'retain'] as const
export type Protection = (typeof PROTECTIONS)[number]

export interface Change {
  /** JSON pointer in the spec. */
  readonly path: string
  /** Absent: the field was not there. Secrets are `{"secret": true}`, values to come `{"unknown": true}`. */
  readonly before?: Json
  readonly after?: Json
  /** Words for what the change may lose. */
  readonly risk?: string
  /** Three-way, where a ledger has the last-applied value: who moved the field. `unknown`: two-way. */
  readonly moved?: 'in git' | 'outside' | 'both' | 'unknown'
}

/** Somebody changed it outside since the last apply, whatever git has made of it. */
export const isDrift = ({moved}: Pick<Change, 'moved'>): boolean => moved === 'outside' || moved === 'both'

/** Why an operation waits for another one. */
export const EDGE_REASONS = ['parent', 'reference', 'depends_on', 'children first', 'dependants first', 'frees the name'] as const
export type EdgeReason = (typeof EDGE_REASONS)[number]

export interface Edge {
  /** `stack:address` */
  readonly key: string
  readonly reason: EdgeReason
}

/** A leaf the plan may not hold in clear, or cannot know yet. */
export interface OpenLeaf {
  readonly path: string
  /** Evaluated at apply; absent for a secret written in clear in the stack, and for what a secret decided. */
  readonly expression?: string
  /** Of `secret(…, {version})`. */
  readonly version?: string
  /** The keys it reads, and for a deferred leaf whether the value will be secret. */
  readonly needs?: readonly string[]
  readonly secret?: true
}

export interface Operation {
  readonly stack: string
  readonly address: string
  readonly kind: string
  readonly action: Action
  /** Why, as a word: what decisions are made by. `reason` says it to people. */
  readonly cause: Cause
  readonly reason: string
  readonly remoteId?: string
  readonly changes: readonly Change[]
  /** Addresses this operation waits for; `edges` says why. */
  readonly because: readonly string[]
  readonly edges: readonly Edge[]
  /** An object found by identity whose fields differ. */
  readonly adopts?: true
  /** For `move`: the address the ledger had it under. */
  readonly movedFrom?: string
  /** What the ledger has under this address, where another declaration means it that the plan leaves out (`--no-destroy`): it stays. */
  readonly besides?: string
  /** What stands undeclared in an `exclusive` object that is taken over, and this plan does not delete: the next one would. Remote paths. */
  readonly leaves?: readonly string[]
  /** What stands in such an object and is left alone, since something declares it that this plan does not cover. Remote paths. */
  readonly spares?: readonly string[]
  /** For `move` between stacks: whose it is until then. */
  readonly from?: {readonly stack: string; readonly address: string}
  /** Of a move between stacks: declared fields that differ and are the next plan's to change, as JSON pointers. */
  readonly later?: readonly string[]
  /** What keeps it from being deleted as the ledger has it, and is declared no more. */
  readonly unprotects?: readonly Protection[]
  /** Of a blocked one: the stack that has the object, or may have it. */
  readonly elsewhere?: {readonly stack: string; readonly address?: string}
  /** What a `blocked` or a refused operation would have been. */
  readonly wants?: Action
  /** The natural key, for people. */
  readonly name?: string
  /** cdktf's construct path, for people. */
  readonly construct?: string
  /** The declaration, secrets and unknown leaves marked; none for a delete or a forget. */
  readonly declared?: DeclaredObject
  /** Of a removal: the ledger remembers lifecycle.prevent_destroy. */
  readonly preventDestroy?: true
  /** How the ledger came to own it. */
  readonly origin?: Origin
  readonly deferred?: readonly OpenLeaf[]
  readonly secrets?: readonly OpenLeaf[]
  /** Declared fields that somebody changed and that stay so (`--on-drift keep`), as JSON pointers. */
  readonly kept?: readonly string[]
  /** Of an undo: secret fields of the object that it says nothing of, and whose digests stay in the ledger, as JSON pointers. */
  readonly secretsKept?: readonly string[]
  /** Of what is deleted or replaced: its fields as they were seen, secrets marked. */
  readonly former?: JsonObject
  /** Objects that go with this one and get no request of their own. */
  readonly takes?: readonly string[]
  /** Somebody holds the object, or one that would go with it. */
  readonly held?: Agreed
}

/** The address that an object goes by until the plan is carried out: what stays although it was to go is not called otherwise. */
export const renamedFrom = ({action, movedFrom, declared}: Pick<Operation, 'action' | 'movedFrom' | 'declared'>): string | undefined =>
  action === 'blocked' && declared === undefined ? undefined : movedFrom

export interface DeclaredObject {
  readonly spec: JsonObject
  readonly parent?: ParentRef
  readonly dependsOn: readonly {readonly key: string; readonly reason: 'reference' | 'depends_on'}[]
  readonly policy: Policy
  readonly outputs: readonly string[]
}

/** One list the plan was made from. */
export interface Fact {
  readonly api: Api
  readonly kind: string
  readonly path: string
  readonly rows: number
  /** Over identity and compared fields, in an order of its own. */
  readonly digest: string
}

export interface GuardResult {
  readonly code: string
  readonly addresses: readonly string[]
  /** What lifts it: an option, a command, or a step in words (`liftingOf`). */
  readonly allow: string
  readonly message: string
}

export interface BoundTime {
  readonly requests: number
  readonly seconds: number
  /** Which bound is active: `rate`, `critical path`, `exclusivity of …`. */
  readonly bound: string
}

/** Until everything is proven, and `ready`: until everything is ready. */
export interface Bill extends BoundTime {
  readonly ready: BoundTime
}

export const ON_DRIFT = ['overwrite', 'refuse', 'keep'] as const

/**
 * What lifts a guard or decides what is sent, as it was said when the plan was made: who approves the plan approves it.
 * Words are sorted, and each stands there once.
 */
export interface Lifts {
  /** Objects that may be deleted or replaced: selectors, kinds or `*`. */
  readonly allowDestroy: readonly string[]
  /** Objects that may be taken over although they would be changed: selectors, kinds or `*`. */
  readonly adopt: readonly string[]
  /** Blocked objects whose declared state somebody has reached by other means. */
  readonly accept: readonly string[]
  readonly skipBlocked: boolean
  /** What is held is left out, and the rest is done; absent: it refuses the plan. */
  readonly skipHeld?: true
  /** What to do about a declared field somebody changed since the last apply. */
  readonly onDrift: (typeof ON_DRIFT)[number]
  /** `5` or `30%`; absent: the default. */
  readonly maxDestroy?: string
  /** Create and update only. */
  readonly noDestroy: boolean
  readonly refuseRisky: boolean
}

/** What was selected, in the words it was selected with. */
export interface Selectors {
  readonly target: readonly string[]
  readonly exclude: readonly string[]
}

/** An object that was seen and belongs to no stack of the app. */
export interface Unmanaged {
  readonly kind: string
  readonly name: string | null
  readonly remoteId: string
}

export const unmanagedCount = ({unmanaged}: Pick<Plan, 'unmanaged'>): number =>
  typeof unmanaged === 'number' ? unmanaged : unmanaged.length

/** What the plan was made from: the commit that people review. */
export interface PlanSource {
  /** `owner/name` */
  readonly repository?: string
  readonly commit: string
}

export interface PlannedStack {
  readonly name: string
  readonly ledger: LedgerLocation
  readonly ledgerCondition: 'present' | 'absent'
  readonly targets: {readonly cloud?: Target; readonly cluster?: Target}
  /** How many objects the ledger owns, and how many are declared: what the thresholds count against. */
  readonly owned: number
  readonly declared: number
  readonly outputs: readonly {
    readonly name: string
    readonly value: Json
    readonly sensitive: boolean
    readonly expression?: string
    readonly secret?: true
  }[]
  /** Digests of the outputs that the ledger had: what is otherwise later, somebody has written since. Absent: an older version made the plan. */
  readonly recorded?: Readonly<Record<string, string>>
  /** Of the ledger that it was made with. */
  readonly lineage?: string
  /** A digest of where its ledger is, as far as that is the same on every machine: tells the one that is not there (yet, or any more) from others. */
  readonly place?: string
}

export type PlannedFreeze = Omit<Freeze, 'at'>

export interface Plan {
  readonly format: typeof PLAN_FORMAT
  readonly tool: string
  readonly stacks: readonly PlannedStack[]
  /** The other stacks of the app: what is given to one of them is no value of these, and what their ledgers have is left alone. */
  readonly otherStacks?: readonly {readonly name: string; readonly ledger: LedgerLocation}[]
  /** API address, a hash of the key id it was made for, and (where it is known) the account's own id. */
  readonly accounts: Readonly<Record<string, LedgerAccount>>
  readonly declarationsDigest: string
  readonly scope: 'all' | 'targeted' | 'changed'
  readonly selectors: Selectors
  readonly lifts: Lifts
  /** Of `svcctl destroy`: that nothing is declared is what was asked for. */
  readonly destroy?: true
  /** Of `svcctl undo`: the run that it undoes. */
  readonly undo?: {readonly run: string}
  readonly facts: readonly Fact[]
  readonly operations: readonly Operation[]
  readonly summary: Readonly<Record<Action, number>>
  /** Objects that were seen and that no stack of the app has or declares: how many, or (`--unmanaged`) which. */
  readonly unmanaged: number | readonly Unmanaged[]
  readonly notes: readonly string[]
  readonly guards: readonly GuardResult[]
  readonly requests: {readonly used: number; readonly avoided: number}
  readonly bill: Bill
  readonly notAfter?: string
  /** What an apply of now would be refused for. */
  readonly freezes?: readonly PlannedFreeze[]
  /** Of a residual plan: the hash of the plan it is the rest of. */
  readonly residualOf?: string
  readonly source?: PlanSource
  /** Where what is changed is declared, by key: `stacks/shop.ts:12`, counted from the folder of the stacks. */
  readonly written?: Readonly<Record<string, string>>
  /** sha256 over everything but `requests`, `bill`, `source`, `written`, `freezes` and itself. */
  readonly hash: string
}
