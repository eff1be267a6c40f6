/** What `--safe-only` does not do: it ends as skipped, says why, and is the residual plan. */
import {AppError, EXIT} from '../../base/errors.ts'
import type {ApplyResult} from '../../engine/apply/work.ts'
import {STATES, type State} from '../../engine/model/events.ts'
import type {LeftOut} from '../../engine/plan/safe.ts'

export class LeftOutError extends AppError {
  constructor(why: string) {
    super(`left out by --safe-only: ${why}`, {
      code: 'E_LEFT_OUT',
      exit: EXIT.changes,
      suggestions: ['It is in the residual plan: have that reviewed, and apply it.'],
    })
  }
}

/** The result with what was left out among what did not happen. */
export function withLeftOut(result: ApplyResult, leftOut: readonly LeftOut[]): ApplyResult {
  if (leftOut.length === 0) return result
  const ended = [
    ...result.ended,
    ...leftOut.map(({operation, why}) => ({operation, state: 'skipped' as const, error: new LeftOutError(why), ms: 0})),
  ]
  const summary = Object.fromEntries(
    STATES.map(state => [state, result.summary[state] + (state === 'skipped' ? leftOut.length : 0)]),
  ) as Record<State, number>
  return {...result, ended, summary}
}

/** The result of what was to be done at all. */
export function withoutLeftOut(result: ApplyResult): ApplyResult {
  const ended = result.ended.filter(it => !(it.error instanceof LeftOutError))
  const left = result.ended.length - ended.length
  return left === 0 ? result : {...result, ended, summary: {...result.summary, skipped: result.summary.skipped - left}}
}
