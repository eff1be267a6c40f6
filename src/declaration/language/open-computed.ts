import type {Json} from '../../base/json.ts'
import {ExpressionValueError} from './values/errors.ts'
import type {Node} from './values/expression.ts'
import {takeSteps, workOn} from './values/expression-limits.ts'
import {derive, type OpenValue, opensIn} from './values/open-value.ts'
import {ArgumentError} from './values/rule.ts'

/** So many parts are looked at for what is open in them in the time of a step. */
const LOOKED_AT = 8

/** `derive`, with errors that never quote a secret. */
export function computed(
  values: readonly OpenValue[],
  compute: (plain: readonly Json[]) => Json,
  rebuild: (nodes: readonly Node[]) => Node,
  at: number,
): OpenValue {
  takeSteps(workOn(values) / LOOKED_AT, at)
  try {
    return derive(values, compute, rebuild, at)
  } catch (error) {
    if (!(error instanceof ArgumentError || error instanceof ExpressionValueError)) throw error
    const hidden = values.some(value => opensIn(value).some(open => open.secret && open.value !== undefined))
    if (hidden) throw new ExpressionValueError('a secret value does not fit here', at)
    throw error instanceof ArgumentError ? new ExpressionValueError(error.message, at) : error
  }
}
