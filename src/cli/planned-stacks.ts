/** `--stack` beside what is planned already: it may say what that is about, and leaves nothing of it out. */
import {UsageError} from '../base/usage-error.ts'
import {selectStacks} from '../declaration/read/load.ts'
import type {Plan} from '../engine/model/plan.ts'

/**
 * What was approved is carried out whole.
 * @throws UsageError, UnknownStackError
 */
export function assertStacks({stacks}: Pick<Plan, 'stacks'>, wanted: readonly string[]): void {
  const planned = stacks.map(it => it.name)
  const named = selectStacks(planned, wanted)
  const left = planned.filter(it => !named.has(it))
  if (left.length === 0) return
  throw new UsageError(`--stack leaves out ${left.join(', ')}, and this is planned already for ${planned.join(', ')}`, [
    'Leave --stack out to carry out all of it, or plan again with --stack, and have the new plan approved.',
  ])
}
