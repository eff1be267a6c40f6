import type {Json} from '../../base/json.ts'
import {ExpressionValueError} from './values/errors.ts'
import type {Node} from './values/expression.ts'
import {derive, type OpenValue, opensIn} from './values/open-value.ts'
import {ArgumentError} from './values/rule.ts'

/** `derive`, with errors that never quote a secret. */
export function computed(
  values: readonly OpenValue[],
  compute: (plain: readonly Json[]) => Json,
  rebuild: (nodes: readonly Node[]) => Node,
  at: number,
): OpenValue {
  try {
    return derive(values, compute, rebuild, at)
  } catch (error) {
    if (!(error instanceof ArgumentError || error instanceof ExpressionValueError)) throw error
    const hidden = values.some(value => opensIn(value).some(open => open.secret && open.value !== undefined))
    if (hidden) throw new ExpressionValueError('a secret value does not fit here', at)
    throw error instanceof ArgumentError ? new ExpressionValueError(error.message, at) : error
  }
}
