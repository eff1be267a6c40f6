/** An apply as a report: the plan it carried out, and how each operation ended. */
import type {State} from '../../engine/model/events.ts'
import type {Plan} from '../../engine/model/plan.ts'
import {keyOf, keyOfOperation} from '../../engine/model/value.ts'
import {isLeftToApply} from '../left-to-apply.ts'
import type {Report, Timeline} from '../report.ts'
import {type PlanReportOptions, planReport, type ReportFrame} from './of-plan.ts'

/** What the document of an apply says of each operation. */
export interface AppliedOperation {
  readonly stack: string
  readonly address: string
  readonly state: State
  readonly remoteId?: string
  readonly because?: readonly string[]
  readonly error?: {readonly code: string; readonly message: string; readonly suggestions: readonly string[]}
}

export interface AppliedDocument {
  readonly run: string | null
  readonly operations: readonly AppliedOperation[]
  readonly converged: boolean
  readonly requests: {readonly used: number}
  readonly residualPlan?: string
  /** The last lines of the audits of its stacks. */
  readonly audit?: readonly {readonly stack: string; readonly seq: number; readonly hash: string}[]
}

export function applyReport(
  frame: ReportFrame,
  plan: Plan,
  document: AppliedDocument,
  options: PlanReportOptions & {readonly timeline?: Timeline},
): Report {
  const ended = new Map(document.operations.map(it => [keyOfOperation(it), it]))
  const {apply: _, ...planned} = planReport(frame, plan, options)
  const {run, converged, requests, audit = []} = document
  // Of its own stack an operation names the address only.
  const keyIn = (stack: string, address: string) => (ended.has(address) ? address : keyOf(stack, address))
  const isLeft = isLeftToApply(
    document.operations.map(it => ({
      key: keyOfOperation(it),
      state: it.state,
      because: it.because?.map(address => keyIn(it.stack, address))[0],
    })),
  )
  const residualPlan = isLeft ? document.residualPlan : undefined
  return {
    ...planned,
    refused: false,
    guards: [],
    objects: planned.objects.map(it => {
      const end = ended.get(it.key)
      if (end === undefined) return it
      return {
        ...it,
        state: end.state,
        ...(end.remoteId === undefined ? {} : {remoteId: end.remoteId}),
        ...(end.error === undefined ? {} : {error: end.error}),
        ...(end.because?.[0] === undefined ? {} : {because: end.because[0]}),
      }
    }),
    cost: {...planned.cost, used: requests.used},
    applied: {converged, ...(run === null ? {} : {run}), ...(residualPlan === undefined ? {} : {residualPlan})},
    ...(options.timeline === undefined ? {} : {timeline: options.timeline}),
    ...(audit.length === 0 ? {} : {auditHead: headsText(audit)}),
  }
}

/** What `svcctl audit verify --head` takes; of several stacks each with its name. */
const headsText = (audit: NonNullable<AppliedDocument['audit']>): string =>
  audit.map(({stack, hash}) => (audit.length === 1 ? hash : `${stack}:${hash}`)).join(' ')
