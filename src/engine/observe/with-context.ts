/** What has to be read for a part of the declarations: they, and what they hang on. */
import {type Declaration, neededBy, type StackDeclarations} from '../model/declaration.ts'
import type {Key} from '../model/value.ts'

/** The chosen declarations and whatever they hang on, in declared order. */
export function withContext(stacks: readonly StackDeclarations[], chosen: (it: Declaration) => boolean): Declaration[] {
  const all = stacks.flatMap(it => it.declarations)
  const open = all.filter(chosen)
  if (open.length === all.length) return all
  const byKey = new Map(all.map(it => [it.key, it]))
  const taken = new Set<Key>()
  for (let it = open.pop(); it !== undefined; it = open.pop()) {
    if (taken.has(it.key)) continue
    taken.add(it.key)
    for (const key of neededBy(it)) {
      const next = byKey.get(key)
      if (next) open.push(next)
    }
  }
  return all.filter(it => taken.has(it.key))
}
