/** Who says yes to a plan: a flag, a hash, or a person at a terminal; and what refuses it before anybody is asked. */
import {AppError, EXIT} from '../base/errors.ts'
import type {GuardResult, Lifts, Operation, Plan} from '../engine/model/plan.ts'
import {keyOfOperation, spoken} from '../engine/model/value.ts'
import {SHORT_HASH} from '../engine/plan/document.ts'
import {liftedBy, shownValue} from '../report/plan-text.ts'
import {type Asker, ask, NotConfirmedError} from './prompt.ts'
import {type Context, isInteractive} from './shell/context.ts'

/** What of a plan it takes to refuse it. */
type Refusable = Pick<Plan, 'guards' | 'operations'> & {readonly stacks: readonly {readonly name: string}[]}

/** Guards of the plan say no. Nothing was sent. */
export class PlanRefusedError extends AppError {
  constructor({guards, operations, stacks}: Refusable) {
    const covered = stacks.map(it => it.name)
    const changes = new Map(operations.map(it => [spoken(keyOfOperation(it), covered), changeWords(it)]))
    // What would become of somebody else's object is for whoever is asked to read, also where the plan is not shown.
    const said = ({code}: GuardResult, address: string) => (code === 'G_FIRST_CONTACT' ? (changes.get(address) ?? '') : '')
    const reasons = new Map(operations.map(it => [spoken(keyOfOperation(it), covered), it.reason]))
    const why = ({code}: GuardResult, address: string) =>
      code === 'G_ELSEWHERE' && reasons.has(address) ? `: ${reasons.get(address)}` : ''
    const details = (it: GuardResult) =>
      it.addresses.filter(address => said(it, address) !== '').map(address => `${address}${said(it, address)}`)
    super(`the plan is refused: ${guards.map(it => `${it.message} (${[it.code, ...details(it)].join('; ')})`).join('; ')}`, {
      code: 'E_PLAN_REFUSED',
      exit: EXIT.refused,
      problems: guards.flatMap(it =>
        it.addresses.map(address => ({address, message: `${it.code}${said(it, address) || why(it, address)}`})),
      ),
      suggestions: [...new Set(guards.map(it => `${it.code}: ${liftedBy(it.allow)}`))],
    })
  }
}

const changeWords = ({changes}: Operation): string =>
  changes.length === 0
    ? ''
    : `: ${changes
        .map(
          ({path, before, after}) =>
            `${path.slice(1)} ${before === undefined ? '(absent)' : shownValue(before)} -> ${after === undefined ? '(gone)' : shownValue(after)}`,
        )
        .join(', ')}`

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

/** What was approved was approved of another commit. */
export class StaleCommitError extends AppError {
  constructor(approved: string, what: string) {
    super(`approved was commit ${approved.slice(0, SHORT_HASH)}, and ${what}`, {
      code: 'E_STALE_COMMIT',
      exit: EXIT.stale,
      suggestions: ['Plan again from the commit that is to be applied, and have that plan reviewed.'],
    })
  }
}

/**
 * @param now - the commit that this apply is about, where somebody says so
 * @throws StaleCommitError
 */
export function assertCommit({source}: Pick<Plan, 'source'>, approved: string | undefined, now: string | undefined): void {
  if (approved === undefined) return
  if (source === undefined) throw new StaleCommitError(approved, 'this plan does not say which commit it is made from')
  if (!source.commit.startsWith(approved))
    throw new StaleCommitError(approved, `this plan is made from ${source.commit.slice(0, SHORT_HASH)}`)
  // Either may be cut short.
  if (now !== undefined && !now.startsWith(approved) && !approved.startsWith(now))
    throw new StaleCommitError(approved, `there is a newer one: ${now.slice(0, SHORT_HASH)}`)
}

/** Guards that a person at a terminal lifts: those of deletions by typing the plan's short hash, the other with a yes. */
const LIFTED_BY_HASH: readonly string[] = ['G_PROTECTED', 'G_ADOPTED', 'G_NO_LEDGER', 'G_UNDO']
const LIFTED_BY_YES: readonly string[] = ['G_FIRST_CONTACT']

export interface ApprovalOptions {
  readonly autoApprove: boolean
  readonly approve: string | undefined
}

/**
 * @returns what the person allowed by the answer
 * @throws PlanRefusedError, WrongApprovalError, NotConfirmedError
 */
export async function approvePlan(
  context: Asker,
  plan: Refusable & Pick<Plan, 'hash'>,
  {autoApprove, approve}: ApprovalOptions,
): Promise<Pick<Lifts, 'allowDestroy' | 'adopt'>> {
  if (approve !== undefined && !plan.hash.startsWith(approve)) throw new WrongApprovalError(approve, plan.hash)
  const {guards} = plan
  const byYes = guards.every(it => LIFTED_BY_YES.includes(it.code))
  const liftable = guards.every(it => [...LIFTED_BY_HASH, ...LIFTED_BY_YES].includes(it.code))
  const asks = isInteractive(context) && !autoApprove && approve === undefined
  if (guards.length > 0 && !(liftable && asks)) throw new PlanRefusedError(plan)
  const named = (codes: readonly string[]) => guards.flatMap(it => (codes.includes(it.code) ? it.addresses : []))
  const lifted = {allowDestroy: named(LIFTED_BY_HASH), adopt: named(LIFTED_BY_YES)}
  if (autoApprove || approve !== undefined) return lifted
  if (!plan.operations.some(it => it.action !== 'no-op')) return lifted
  const short = plan.hash.slice(0, SHORT_HASH)
  const question =
    guards.length === 0
      ? 'Apply this plan? Type yes:'
      : byYes
        ? `Take over and change ${lifted.adopt.length === 1 ? lifted.adopt[0] : `these ${lifted.adopt.length}`}, and apply this plan? Type yes:`
        : `${lossWords(lifted)} To do it, type the hash of the plan (${short}):`
  if (!asks) throw new NotConfirmedError(question, '--auto-approve', false)
  const answer = (await ask(context, `${question} `)).trim().toLowerCase()
  const said = byYes ? answer === 'yes' || answer === 'y' || answer === short : answer === short
  if (!said) throw new NotConfirmedError(question, [...guards.map(it => it.allow), '--auto-approve'].join(' '), true)
  return lifted
}

/** What goes when the hash is typed. */
function lossWords({allowDestroy, adopt}: Pick<Lifts, 'allowDestroy' | 'adopt'>): string {
  const gone = new Set(allowDestroy).size
  const taken = adopt.length === 0 ? '' : ` and takes over ${adopt.length}`
  return `This deletes or replaces ${gone} protected object${gone === 1 ? '' : 's'}${taken}.`
}

/** A question that stood longer is answered by somebody who read what may be over. */
const FRESH_MS = 30_000

/**
 * Asks, and looks again before anything is sent where the answer took its time.
 *
 * @param again - reads what the plan touches once more
 * @returns what the person allowed, and what `again` found where it was asked
 * @throws what `approvePlan` and `again` throw
 */
export async function approveFresh<T>(
  context: Asker & Pick<Context, 'clock' | 'wallClock'>,
  plan: Parameters<typeof approvePlan>[1],
  approval: ApprovalOptions,
  again: (lifted: Pick<Lifts, 'allowDestroy' | 'adopt'>) => Promise<T>,
): Promise<{readonly lifted: Pick<Lifts, 'allowDestroy' | 'adopt'>; readonly fresh?: T}> {
  // By the time of the machine, too: while it sleeps, the clock that nobody sets stands still.
  const clocks = [context.clock, context.wallClock].map(it => ({it, since: it.now()}))
  const lifted = await approvePlan(context, plan, approval)
  const isFresh = clocks.every(({it, since}) => Math.abs(it.now() - since) <= FRESH_MS)
  return isFresh ? {lifted} : {lifted, fresh: await again(lifted)}
}
