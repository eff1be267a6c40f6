/**
 * Which operations of a plan are about something that a dead run has begun and nobody can tell the end of yet: its own
 * object under whatever address and action it is planned now, and what hangs on it. None of them may begin.
 */
import type {AppError} from '../../base/errors.ts'
import {neededBy} from '../model/declaration.ts'
import {stackOf} from '../model/journal.ts'
import {idsIn, type Kinds} from '../model/kind.ts'
import {type AccountOf, accountsOfOperations} from '../model/ownership.ts'
import type {Operation} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import type {Undecided} from './recovery.ts'

/**
 * Why an operation may not begin: nobody can tell the end of what is done to its object, or to one that it hangs on; or
 * (`left`) a person wants the object left alone.
 */
export type Held = {readonly error: AppError} | {readonly because: Key} | {readonly left: AppError}

/** @param accountOf - a remote path, and a name, mean something within one account only */
export function heldOperations(
  operations: readonly Operation[],
  undecided: readonly Undecided[],
  {kinds, accountOf}: {readonly kinds: Kinds; readonly accountOf?: AccountOf | undefined},
): ReadonlyMap<Key, Held> {
  const accountAt = accountsOfOperations(kinds, accountOf)
  const found = new Map<Key, Held>()
  if (undecided.length === 0) return found
  const remoteIds = new Map(operations.map(it => [keyOfOperation(it), it.remoteId]))
  for (const it of operations) {
    const isNear = ({key, kind}: Undecided) => accountAt({stack: stackOf(key), kind}) === accountAt(it)
    const about = undecided.find(one => isKeyOf(it, one) || (isNear(one) && isAbout(it, one, kinds, remoteIds)))
    // What is in the ledger already may need no operation that others would wait for.
    const below = about ?? (it.action === 'no-op' ? undefined : undecided.find(one => needs(it, one) || (isNear(one) && isBelow(it, one))))
    if (about !== undefined) found.set(keyOfOperation(it), {error: about.error})
    else if (below !== undefined) found.set(keyOfOperation(it), {because: below.key})
  }
  return found
}

const isKeyOf = ({stack, address, movedFrom = address, from}: Operation, {key}: Undecided): boolean =>
  [keyOf(stack, address), keyOf(stack, movedFrom), ...(from ? [keyOfOperation(from)] : [])].includes(key)

const needs = ({declared}: Operation, {key}: Undecided): boolean => declared !== undefined && neededBy(declared).includes(key)

/** By the path of what it is in: a parent may be named so. */
function isBelow({declared}: Operation, {remoteId}: Undecided): boolean {
  const parent = declared?.parent
  const path = parent?.by === 'key' || parent?.by === 'remoteId' ? parent.remoteId : undefined
  return path !== undefined && isIn(path, remoteId)
}

const isIn = (path: string, remoteId: string | undefined): boolean =>
  remoteId !== undefined && (path === remoteId || path.startsWith(`${remoteId}/`))

function isAbout(operation: Operation, one: Undecided, kinds: Kinds, remoteIds: ReadonlyMap<Key, string | undefined>): boolean {
  const {remoteId} = operation
  if (remoteId !== undefined && isIn(remoteId, one.remoteId)) return true
  return isTheSame(operation, one, kinds, remoteIds)
}

/** The object itself under another address: what is created has no id by which it could be told yet. */
function isTheSame(
  {kind: name, name: natural, remoteId, declared}: Operation,
  one: Undecided,
  kinds: Kinds,
  remoteIds: ReadonlyMap<Key, string | undefined>,
): boolean {
  if (one.step !== 'create' || name !== one.kind || natural === undefined || natural !== one.name) return false
  const kind = kinds.get(name)
  const parentKind = kinds.get(kind?.parent?.kind ?? '')
  if (kind === undefined || parentKind === undefined || one.parent === undefined) return true
  const ref = declared?.parent
  const above = ref?.by === 'key' ? (ref.remoteId ?? remoteIds.get(ref.key)) : ref?.by === 'remoteId' ? ref.remoteId : undefined
  const found = remoteId === undefined ? undefined : idsIn(kind, remoteId)?.slice(0, -1)
  const parent = found ?? (above === undefined ? undefined : idsIn(parentKind, above))
  // A parent that is not there yet holds nothing that a dead run made.
  return parent !== undefined && parent.join('/') === one.parent.join('/')
}
