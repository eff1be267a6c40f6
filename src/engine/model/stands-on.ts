/** What a declaration hangs on, each with the reason: the parent first, and every object once. */
import {type Declaration, neededBy} from './declaration.ts'
import type {Edge} from './plan.ts'
import type {Key} from './value.ts'

export function standsOn(it: Pick<Declaration, 'parent' | 'dependsOn'> | undefined): readonly Edge[] {
  if (it === undefined) return []
  const reasons = new Map<Key, Edge['reason']>(it.dependsOn.map(({key, reason}) => [key, reason]))
  if (it.parent?.by === 'key') reasons.set(it.parent.key, 'parent')
  return neededBy(it).flatMap(key => {
    const reason = reasons.get(key)
    reasons.delete(key)
    return reason === undefined ? [] : [{key, reason}]
  })
}
