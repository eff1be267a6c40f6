/** Who says yes to a plan: a flag, a hash, or a person at a terminal; and what refuses it before anybody is asked. */
import {AppError, EXIT} from '../base/errors.ts'
import type {GuardResult, Plan} from '../engine/plan.ts'
import {liftedBy} from '../report/plan-text.ts'
import {type Context, isInteractive} from './context.ts'
import {ask, NotConfirmedError} from './prompt.ts'

/** Guards of the plan say no. Nothing was sent. */
export class PlanRefusedError extends AppError {
  constructor(guards: readonly GuardResult[]) {
    super(`the plan is refused: ${guards.map(it => `${it.message} (${it.code}: ${it.addresses.join(', ')})`).join('; ')}`, {
      code: 'E_PLAN_REFUSED',
      exit: EXIT.refused,
      problems: guards.flatMap(({code, message, addresses}) => addresses.map(address => ({address, message: `${message} (${code})`}))),
      suggestions: [...new Set(guards.map(it => `${it.code}: ${liftedBy(it.allow)}`))],
    })
  }
}

/** `--approve HASH` names another plan. */
export class WrongApprovalError extends AppError {
  constructor(approved: string, hash: string) {
    super(`approved was ${approved}, and this plan is ${hash.slice(0, 12)}`, {
      code: 'E_APPROVAL',
      exit: EXIT.refused,
      suggestions: ['Review this plan with svcctl show FILE, and approve its own hash.'],
    })
  }
}

/** Guards that the short hash of the plan, typed by a person, lifts: the rest needs flags. */
const LIFTED_BY_HASH: readonly string[] = ['G_PROTECTED', 'G_ADOPTED', 'G_NO_LEDGER']

/** Digits that are shown of a hash, and the fewest that name a plan. */
export const SHORT_HASH = 12

export interface Approval {
  readonly autoApprove: boolean
  readonly approve: string | undefined
}

/**
 * @returns whether the typed hash lifted the guards
 * @throws PlanRefusedError, WrongApprovalError, NotConfirmedError
 */
export async function approvePlan(context: Context, plan: Plan, {autoApprove, approve}: Approval): Promise<boolean> {
  if (approve !== undefined && !plan.hash.startsWith(approve)) throw new WrongApprovalError(approve, plan.hash)
  const liftable = plan.guards.every(it => LIFTED_BY_HASH.includes(it.code))
  const asks = isInteractive(context) && !autoApprove && approve === undefined
  if (plan.guards.length > 0 && !(liftable && asks)) throw new PlanRefusedError(plan.guards)
  if (autoApprove || approve !== undefined) return false
  if (!plan.operations.some(it => it.action !== 'no-op')) return false
  const short = plan.hash.slice(0, SHORT_HASH)
  const question = plan.guards.length > 0 ? `Type ${short} to apply all the same:` : 'Apply this plan? Type yes:'
  if (!asks) throw new NotConfirmedError(question, '--auto-approve', false)
  const answer = (await ask(context, `${question} `)).trim().toLowerCase()
  const said = plan.guards.length > 0 ? answer === short : answer === 'yes' || answer === 'y' || answer === short
  if (!said) throw new NotConfirmedError(question, '--auto-approve', true)
  return plan.guards.length > 0
}
