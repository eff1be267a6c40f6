/** What a parent's create made along with it: named in the list that it was declared with, and nothing of its own in any ledger. */
import {diffFields} from '../model/diff.ts'
import {type Kinds, parentRemoteId} from '../model/kind.ts'
import type {LiveObject} from '../model/live.ts'
import {inlineItems} from '../model/made-inline.ts'
import type {Ownership} from '../model/ownership.ts'
import type {Operation} from '../model/plan.ts'

/**
 * The address of what a stack has created an object with that no ledger has: its name is in the parent's list, and it is as
 * that list made it. With another value in it somebody else may have set that, or have made it anew: then nobody can tell.
 */
export function madeWith(
  {kinds, observation: {ownership}}: {readonly kinds: Kinds; readonly observation: {readonly ownership: Ownership}},
  stack: string,
  live: LiveObject,
): string | undefined {
  const {kind, remoteId, name} = live
  const parent = kinds.get(kind.parent?.kind ?? '')
  const above = parent?.inlineChildren?.kind === kind.name ? parentRemoteId({kinds}, remoteId) : undefined
  const owner = above === undefined ? undefined : ownership.of(stack, kind.api, above)
  if (parent?.inlineChildren === undefined || owner?.stack !== stack || owner.entry.origin !== 'created') return undefined
  const item = inlineItems(owner.entry, parent.inlineChildren.field).get(name ?? '')
  if (item === undefined) return undefined
  const {changes} = diffFields({kind, declared: item, live: live.fields, ignore: [], secretState: () => 'unknown'})
  return changes.length === 0 ? owner.entry.address : undefined
}

/** The same of an operation on what no ledger has under its address: whatever else is found there is somebody else's. */
export const isMadeWith = ({adopts, origin}: Operation): boolean => adopts === true && origin === 'created'
