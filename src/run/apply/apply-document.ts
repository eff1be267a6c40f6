/** What came of an apply, as the document and the exit code of the command. */
import {type AppError, EXIT, type ExitCode} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import type {ApplyResult, Ended} from '../../engine/apply/work.ts'
import {STATES, type State} from '../../engine/model/events.ts'
import type {Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {stepsOf} from '../../engine/plan/bill.ts'
import type {AppliedDocument} from '../../report/document/of-apply.ts'
import {withoutLeftOut} from '../journal/left-out.ts'
import type {ApplyDone} from './apply.ts'

/** What a plan that was made before leaves as it is: nobody has looked at it since. */
export const notChecked = ({operations}: Pick<Plan, 'operations'>): string[] =>
  operations.flatMap(it => (it.action === 'no-op' ? [keyOfOperation(it)] : []))

/**
 * `apply -o json`, interface.md "Documents".
 * @param approved - the plan as it was saved, where it was
 */
export function applyDocument(
  {run, result, requests, residualPlan, undecided, audit}: ApplyDone,
  plan: Plan,
  approved?: Plan,
): AppliedDocument & JsonObject {
  return {
    run: run ?? null,
    operations: result.ended.map(withReason).map(({operation, state, error, because, remoteId}) => ({
      stack: operation.stack,
      address: operation.address,
      kind: operation.kind,
      action: operation.action,
      state,
      ...(remoteId === undefined ? {} : {remoteId}),
      ...(because === undefined ? {} : {because: [addressIn(because, operation.stack)]}),
      ...(error ? {error: {code: error.code, message: error.message, suggestions: [...error.suggestions]}} : {}),
    })),
    summary: Object.fromEntries(STATES.map(state => [state, result.summary[state]])),
    converged: isConverged(result) && undecided.length === 0,
    ...(undecided.length === 0 ? {} : {undecided: undecided.map(it => ({code: it.code, message: it.message}))}),
    residual: leftToDo(result).map(it => (plan.stacks.length > 1 ? keyOfOperation(it) : it.address)),
    diagnosis: result.residual.map(({stack, address, fields}) => ({
      stack,
      address,
      fields: fields.map(({path, before, after, diagnosis, advice}) => ({
        path,
        ...(before === undefined ? {} : {before}),
        ...(after === undefined ? {} : {after}),
        diagnosis,
        advice,
      })),
    })),
    requests: {used: requests},
    seconds: {ready: result.readyMs / 1000, ledger: result.recordedMs / 1000, proven: result.provenMs / 1000},
    bill: {...plan.bill, ready: {...plan.bill.ready}},
    plan: plan.hash,
    ...(approved === undefined ? {} : {notChecked: notChecked(approved).length}),
    ...(residualPlan === undefined ? {} : {residualPlan}),
    audit: audit.map(({stack, seq, hash}) => ({stack, seq, hash})),
  }
}

/** Whoever reads the document learns why something is not done. @throws TypeError when a part of the engine forgot to say */
function withReason(ended: Ended): Ended {
  const {operation, state, error, because} = ended
  if (state !== 'done' && state !== 'no-op' && error === undefined && because === undefined)
    throw new TypeError(`${operation.address} is ${state}, and nothing says why`)
  return ended
}

/** As in a plan: another stack's object is named with its stack. */
const addressIn = (key: Key, stack: string): string => (key.startsWith(`${stack}:`) ? key.slice(stack.length + 1) : key)

export const UNFINISHED: readonly State[] = ['failed', 'skipped', 'blocked', 'detached', 'unknown']

/** What did not end well, what is not as it was sent, and what failed, or is being deleted, without us: what is not converged. */
function leftToDo({ended, residual}: ApplyResult): readonly {readonly stack: string; readonly address: string}[] {
  const unfinished = ended.filter(it => UNFINISHED.includes(it.state)).map(it => it.operation)
  const named = new Set(unfinished.map(keyOfOperation))
  return [...unfinished, ...residual.filter(it => !named.has(it.key))]
}

export const isConverged = ({summary, residual, unproven}: ApplyResult): boolean =>
  residual.length === 0 && unproven !== true && UNFINISHED.every(state => summary[state] === 0)

/** Of requests of dead runs that nobody can tell the end of yet. */
export function undecidedExit(errors: readonly AppError[]): ExitCode | undefined {
  if (errors.length === 0) return undefined
  return errors.every(it => it.exit === EXIT.timeout) ? EXIT.timeout : EXIT.partial
}

/** As of what was to be done; 2 when that went well and `--safe-only` left something out. */
export function applyExit(done: ApplyDone): ExitCode {
  const result = withoutLeftOut(done.result)
  const exit = exitOfRun({...done, result})
  return exit === EXIT.ok && result !== done.result ? EXIT.changes : exit
}

/** Interface.md, "States": 9 or 13 only when nothing was sent; then 4, 6, 12, 7. */
function exitOfRun({result, interrupted, undecided}: ApplyDone): ExitCode {
  const {summary, ended} = result
  const failed = ended.filter(it => it.state === 'failed')
  const accepted = ended.some(
    it => stepsOf(it.operation).length > 0 && (it.state === 'done' || it.state === 'detached' || it.state === 'unknown'),
  )
  const only = (exit: ExitCode) => failed.length > 0 && failed.every(it => exitOf(it) === exit)
  for (const exit of [EXIT.unauthorized, EXIT.unreachable, EXIT.exhausted]) if (!accepted && only(exit)) return exit
  if (result.closed !== undefined && !result.closed.sent && !interrupted) return EXIT.refused
  if (interrupted || result.closed !== undefined || summary.detached > 0) return EXIT.interrupted
  if (only(EXIT.timeout) && summary.unknown + summary.blocked === 0) return EXIT.timeout
  if (summary.failed + summary.unknown + summary.skipped + summary.blocked > 0) return EXIT.partial
  return undecidedExit(undecided) ?? (isConverged(result) ? EXIT.ok : EXIT.notConverged)
}

const exitOf = ({error}: Ended): ExitCode | undefined => error?.exit
