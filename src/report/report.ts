/**
 * What a report says, whatever its form: made once from the document of a plan, an apply or a drift, and read by every
 * renderer. Plain data: secrets are taken out of it before anything is rendered, and nothing in it is escaped yet.
 */
import type {Json} from '../base/json.ts'
import type {Agreed} from '../engine/model/controls.ts'
import type {State} from '../engine/model/events.ts'
import type {Action, Edge, GuardResult} from '../engine/model/plan.ts'
import type {Key} from '../engine/model/value.ts'

export type ReportCommand = 'plan' | 'apply' | 'destroy' | 'drift' | 'show'

/** What is to become, became or has become of an object. */
export type ReportAction = Action | 'drifted' | 'missing' | 'unchanged'

export interface ReportChange {
  /** JSON pointer. */
  readonly path: string
  readonly before?: Json
  readonly after?: Json
  readonly risk?: string
  readonly moved?: 'in git' | 'outside' | 'both' | 'unknown'
}

export interface ReportObject {
  readonly key: Key
  readonly stack: string
  readonly address: string
  readonly kind: string
  readonly name?: string
  readonly construct?: string
  readonly remoteId?: string
  readonly action: ReportAction
  /** Of a blocked one: what it would have been. */
  readonly wants?: Action
  readonly reason?: string
  readonly adopts?: boolean
  readonly changes: readonly ReportChange[]
  readonly movedFrom?: string
  /** There is data in it, which goes with it. */
  readonly holdsData?: true
  /** Objects that go with it. */
  readonly takes?: readonly string[]
  /** What it waits for. */
  readonly edges: readonly Edge[]
  /** The object it lives in, where the plan names it: a key or a remote path. */
  readonly parent?: string
  /** `stacks/shop.ts:12`, counted from the folder of the stacks. */
  readonly written?: string
  readonly held?: Agreed
  /** Of drift: a baseline accepts it. */
  readonly accepted?: Agreed
  readonly state?: State
  readonly error?: {readonly code: string; readonly message: string; readonly suggestions: readonly string[]}
  /** Of a skipped one: what it was waiting for. */
  readonly because?: string
}

export interface ReportFailure {
  readonly code: string
  readonly message: string
  readonly suggestions: readonly string[]
  readonly problems: readonly {readonly address?: string; readonly message: string; readonly source?: string}[]
}

/** Seconds from the beginning of a run, of one object. */
export interface TimelineRow {
  readonly key: Key
  /** Its turn came, or what it hangs on was done. */
  readonly waiting?: number
  readonly sent?: number
  /** The server took it: its task runs. */
  readonly task?: number
  /** The task is over, and the object becomes ready. */
  readonly settling?: number
  readonly ready?: number
}

export interface Timeline {
  /** `planned`: as the bill reckons; `actual`: as it was. */
  readonly is: 'planned' | 'actual'
  readonly rows: readonly TimelineRow[]
  readonly seconds: number
  /** When everything was ready, and when it was proven. */
  readonly ready?: number
  readonly proven?: number
  /** Seconds at which the server answered 429. */
  readonly refusals: readonly number[]
}

export interface Report {
  readonly command: ReportCommand
  /** Twelve digits that name the app and its stacks. */
  readonly key: string
  /** The CI job's number; 0 outside of one. */
  readonly run: number
  readonly stacks: readonly string[]
  readonly commit?: string
  readonly repository?: string
  readonly hash?: string
  /** What `--approve` takes. */
  readonly approve?: string
  /** The command that carries the plan out. */
  readonly apply?: string
  /** A guard, a freeze or a missing yes stands against it: nothing was sent. */
  readonly refused: boolean
  readonly failure?: ReportFailure
  /** In the order of execution. */
  readonly objects: readonly ReportObject[]
  readonly guards: readonly GuardResult[]
  /** Freezes that stand against it, in words. */
  readonly frozen?: readonly string[]
  readonly cost: {
    /** Requests sent so far. */
    readonly used?: number
    /** What carrying it out takes. */
    readonly requests?: number
    readonly seconds?: number
    readonly bound?: string
  }
  /** What was left out or cannot be seen, in words; none: everything was looked at. */
  readonly notShown: readonly string[]
  readonly notes: readonly string[]
  /** Of an apply: its run, and the file with what is left to do. */
  readonly applied?: {readonly run?: string; readonly residualPlan?: string; readonly converged: boolean}
  readonly timeline?: Timeline
  /** The head of the audit chain. */
  readonly auditHead?: string
}

/** Deleted or replaced. */
export const isDestroy = ({action}: Pick<ReportObject, 'action'>): boolean => action === 'delete' || action === 'replace'

/** Does something: everything but what is as it should be. */
export const isActive = ({action}: Pick<ReportObject, 'action'>): boolean => action !== 'no-op' && action !== 'unchanged'

export const risksOf = ({changes}: ReportObject): readonly (ReportChange & {readonly risk: string})[] =>
  changes.flatMap(it => (it.risk === undefined ? [] : [{...it, risk: it.risk}]))

/** A create has nothing to lose, whatever a rule says of its fields. */
export const isRisky = (it: ReportObject): boolean => it.action !== 'create' && it.changes.some(change => change.risk !== undefined)
