/** A plan as a report. What a plan cannot tell of itself (the job, the file, learned durations) is a parameter. */
import type {Json} from '../../base/json.ts'
import {frozenWords} from '../../engine/model/controls.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {unmanagedCount} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import type {Report, ReportCommand, ReportObject} from '../report.ts'
import {plannedTimeline, type StepSeconds} from './planned-timeline.ts'

/** What every report says of where it was made. */
export interface ReportFrame {
  readonly command: ReportCommand
  readonly key: string
  readonly run: number
  readonly commit?: string
  readonly repository?: string
}

export interface PlanReportOptions {
  /** The command that carries it out. */
  readonly apply?: string
  /** All there are: some were not read for this plan, although its servers have them, and some hold data. */
  readonly kinds: readonly {readonly name: string; readonly api: string; readonly guarded?: boolean | undefined}[]
  readonly stepSeconds: StepSeconds
}

/** As many digits of a commit as an approval names. */
const APPROVED_COMMIT = 12
const APPROVED_HASH = 12

export function planReport(frame: ReportFrame, plan: Plan, {apply, kinds, stepSeconds}: PlanReportOptions): Report {
  const {source, hash, guards, notes, bill, requests, freezes = []} = plan
  const commit = source?.commit ?? frame.commit
  const repository = source?.repository ?? frame.repository
  return {
    ...frame,
    stacks: plan.stacks.map(it => it.name),
    hash,
    approve: approvalOf(plan),
    refused: guards.length > 0 || freezes.length > 0,
    objects: reportObjects(plan, new Set(kinds.flatMap(it => (it.guarded ? [it.name] : [])))),
    guards,
    cost: {used: requests.used, requests: bill.requests, seconds: bill.seconds, bound: bill.bound},
    notShown: notShown(plan, kinds),
    notes,
    ...(freezes.length === 0 ? {} : {frozen: freezes.map(frozenWords)}),
    timeline: plannedTimeline(plan.operations, stepSeconds),
    ...(commit === undefined ? {} : {commit}),
    ...(repository === undefined ? {} : {repository}),
    ...(apply === undefined ? {} : {apply}),
  }
}

/** What `--approve` takes: digits of the hash, and of the commit where the plan is of one. */
export const approvalOf = ({hash, source}: Pick<Plan, 'hash' | 'source'>): string =>
  source === undefined ? hash.slice(0, APPROVED_HASH) : `${hash.slice(0, APPROVED_HASH)}@${source.commit.slice(0, APPROVED_COMMIT)}`

/** @param guarded - kinds that hold data */
export function reportObjects(plan: Pick<Plan, 'operations' | 'written'>, guarded: ReadonlySet<string> = new Set()): ReportObject[] {
  const {written = {}} = plan
  return plan.operations.map(it => {
    const key = keyOfOperation(it)
    const place = written[key]
    return {...objectOf(it), ...(place === undefined ? {} : {written: place}), ...(guarded.has(it.kind) ? {holdsData: true} : {})}
  })
}

function objectOf(it: Operation): ReportObject {
  const parent = parentOf(it)
  return {
    key: keyOfOperation(it),
    stack: it.stack,
    address: it.address,
    kind: it.kind,
    action: it.action,
    reason: it.reason,
    changes: it.changes,
    edges: it.edges,
    ...(it.name === undefined ? {} : {name: it.name}),
    ...(it.construct === undefined ? {} : {construct: it.construct}),
    ...(it.remoteId === undefined ? {} : {remoteId: it.remoteId}),
    ...(it.wants === undefined ? {} : {wants: it.wants}),
    ...(it.adopts === undefined ? {} : {adopts: it.adopts}),
    ...(it.takes === undefined ? {} : {takes: it.takes}),
    ...(it.held === undefined ? {} : {held: it.held}),
    ...(it.from === undefined ? (it.movedFrom === undefined ? {} : {movedFrom: it.movedFrom}) : {movedFrom: keyOfOperation(it.from)}),
    ...(parent === undefined ? {} : {parent}),
  }
}

/** A remote path is three steps for what stands alone, and two more for each object it is inside of. */
function parentOf({declared, remoteId}: Operation): Key | undefined {
  const {parent} = declared ?? {}
  if (parent?.by === 'key') return parent.key
  if (parent?.by === 'remoteId') return parent.remoteId
  const steps = remoteId?.split('/') ?? []
  return steps.length > 3 ? steps.slice(0, 3).join('/') : undefined
}

const many = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`

/** Everything a reader might believe to have seen and has not. */
function notShown(plan: Plan, kinds: PlanReportOptions['kinds']): string[] {
  const {operations, selectors, scope, facts, notAfter} = plan
  const unmanaged = unmanagedCount(plan)
  const secrets = operations.reduce(
    (sum, it) => sum + it.changes.reduce((all, {before, after}) => all + Math.max(marks(before), marks(after)), 0),
    0,
  )
  const apis = new Set(facts.map(it => it.api as string))
  const read = new Set(facts.map(it => it.kind))
  const unread = kinds.filter(it => apis.has(it.api) && !read.has(it.name)).map(it => it.name)
  const ignoring = operations.filter(it => (it.declared?.policy.ignoreChanges.length ?? 0) > 0).length
  const kept = operations.reduce((sum, it) => sum + (it.kept?.length ?? 0), 0)
  return [
    ...(unmanaged === 0 ? [] : [`${many(unmanaged, 'unmanaged object')} left alone`]),
    ...(secrets === 0 ? [] : [`${many(secrets, 'secret value')}`]),
    ...(unread.length === 0 ? [] : [`kinds that were not read: ${unread.join(', ')}`]),
    ...(scope === 'changed' ? ['what equals the ledger (--scope changed)'] : []),
    ...selectors.target.map(it => `all but --target ${it}`),
    ...selectors.exclude.map(it => `what --exclude ${it} leaves out`),
    ...(ignoring === 0 ? [] : [`fields that ${many(ignoring, 'object')} ${ignoring === 1 ? 'ignores' : 'ignore'} changes of`]),
    ...(kept === 0 ? [] : [`${many(kept, 'field')} kept as somebody changed ${kept === 1 ? 'it' : 'them'} (--on-drift keep)`]),
    ...(notAfter === undefined ? [] : [`after ${notAfter} this plan may not be applied`]),
  ]
}

/** Secrets in a value, each of which stands there as a mark. */
function marks(value: Json | undefined): number {
  if (value === undefined || value === null || typeof value !== 'object') return 0
  if (!Array.isArray(value) && (value as Readonly<Record<string, Json>>).secret === true) return 1
  return Object.values(value).reduce<number>((sum, it) => sum + marks(it), 0)
}
