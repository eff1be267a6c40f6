/** `apply --break-glass`: past holds and freezes, for a reason that stands in the audit before anything is sent. */
import {AppError, EXIT} from '../../base/errors.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {appendAudit} from '../audit/audit.ts'
import type {Host} from '../host/host.ts'
import {reasonIn} from '../host/said.ts'
import type {Workspace} from '../workspace/workspace.ts'

const SHORTEST_REASON = 10
const VARIABLE = 'SVC_BREAK_GLASS'

/** A pipeline does not break glass by itself: somebody has to let it. */
export class BreakGlassError extends AppError {
  constructor() {
    super(`CI is set: there, --break-glass needs ${VARIABLE}=1`, {
      code: 'E_BREAK_GLASS',
      exit: EXIT.refused,
      suggestions: [`Where a person has decided it for this one job: set ${VARIABLE}=1 for that job, and not for the pipeline.`],
    })
  }
}

/**
 * @returns the reason
 * @throws UsageError for one that says too little, BreakGlassError
 */
export function breakingGlass({environment, redactor}: Pick<Host, 'environment' | 'redactor'>, text: string): string {
  const reason = reasonIn(text, '--break-glass', SHORTEST_REASON)
  if (environment.ci && environment.all[VARIABLE] !== '1') throw new BreakGlassError()
  return redactor.text(reason)
}

/**
 * The plan as if nothing were held. What it was approved to leave out stays so, and what is held goes to no other stack: its hold
 * stands beside the ledger that it would leave, and nobody would see it there any more.
 */
export const pastHolds = (plan: Plan): Plan => ({
  ...plan,
  guards: plan.guards.filter(it => it.code !== 'G_HELD'),
  operations: plan.operations.map(it => (staysHeld(it, plan) ? it : withoutHold(it))),
})

/** Whether broken glass does not let it go. */
export const staysHeld = ({from}: Operation, {lifts}: Pick<Plan, 'lifts'>): boolean => lifts.skipHeld === true || from !== undefined

const withoutHold = ({held: _, ...it}: Operation): Operation => it

/** @throws AuditWriteError, AuditLockedError: nothing may be passed */
export async function auditBreakGlass({host, stores}: Workspace, {hash}: Pick<Plan, 'hash'>, reason: string): Promise<void> {
  for (const [stack, store] of stores) await appendAudit(host, {stack, store}, {event: 'break-glass', plan: {hash}, reason})
}
