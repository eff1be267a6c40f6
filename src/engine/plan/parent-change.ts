/** The parent of an object as one of its fields: a replacement that puts the object into another one says so, and what that may lose. */
import {formatPointer} from '../../base/pointer.ts'
import {rootRule} from '../model/field-rules.ts'
import {type Kind, type Kinds, parentRemoteId} from '../model/kind.ts'
import type {Change} from '../model/plan.ts'

/** Of a parent that is still to be made. */
const UNKNOWN = {unknown: true} as const

/**
 * @param remoteId - of the object that is replaced
 * @param after - the remote path of its new parent, where that is there already
 */
export function parentChange(kinds: Kinds, kind: Kind, remoteId: string, after: string | undefined): Change[] {
  const before = parentRemoteId({kinds}, remoteId)
  if (kind.parent === undefined || before === undefined || before === after) return []
  const change = {path: parentPath(kind), before, after: after ?? UNKNOWN}
  const risk = rootRule(kind).below(kind.parent.field).risk?.(change.before, change.after)
  return [{...change, ...(risk === undefined ? {} : {risk}), moved: 'in git'}]
}

export const parentPath = (kind: Kind): string => formatPointer([kind.parent?.field ?? ''])
