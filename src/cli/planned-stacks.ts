/** `--stack` beside what is planned already: it may say what that is about, and leaves nothing of it out. */
import {globPattern} from '../base/glob.ts'
import {UsageError} from '../base/usage-error.ts'
import type {Plan} from '../engine/model/plan.ts'

/**
 * What was approved is carried out whole.
 * @throws UsageError
 */
export function assertStacks({stacks}: Pick<Plan, 'stacks'>, wanted: readonly string[]): void {
  if (wanted.length === 0) return
  const planned = stacks.map(it => it.name)
  const means = (word: string, name: string) => word === name || globPattern(word).test(name)
  const left = planned.filter(name => !wanted.some(word => means(word, name)))
  const others = wanted.filter(word => !planned.some(name => means(word, name)))
  if (left.length === 0 && others.length === 0) return
  const wrong = left.length > 0 ? `leaves out ${left.join(', ')}` : `names ${others.join(', ')}`
  throw new UsageError(`--stack ${wrong}, and this is planned already, for ${planned.join(', ')}`, [
    'Leave --stack out to carry out all of it, or plan again with --stack, and have the new plan approved.',
  ])
}
