/** What is still to go once a plan is looked at again. */
import {deposedAddress, deposes} from '../model/deposed.ts'
import {parentRemoteId} from '../model/kind.ts'
import type {Operation, Plan} from '../model/plan.ts'
import {type Key, keyOf} from '../model/value.ts'
import {objectAt, objectOf} from './object-names.ts'
import type {PlanInput} from './plan-input.ts'

/** What gives way to something that the plan leaves out: planned again without that, it has its address still. */
export function leavingStill(
  {stack, address, movedFrom, declared, remoteId}: Operation,
  fresh: ReadonlyMap<Key, Operation>,
): Operation | undefined {
  if (declared !== undefined || movedFrom === undefined) return undefined
  const now = fresh.get(keyOf(stack, movedFrom))
  return now !== undefined && now.declared === undefined && now.remoteId === remoteId ? {...now, address, movedFrom} : undefined
}

/** Of a replacement that made its new object and stopped: the deletion of the old one. */
export function leftToDelete(planned: Operation, fresh: ReadonlyMap<Key, Operation>): Operation | undefined {
  if (planned.remoteId === undefined || !deposes(planned)) return undefined
  const now = fresh.get(keyOf(planned.stack, deposedAddress(planned.address, planned.remoteId)))
  return now?.remoteId === planned.remoteId ? now : undefined
}

/** Whether the plan takes what an object is in. */
export function takenAlongBy({operations}: Plan, input: Pick<PlanInput, 'kinds' | 'accountOf'>): (it: Operation) => boolean {
  const going = new Set(operations.flatMap(it => (it.action === 'delete' || it.action === 'replace' ? (objectOf(input, it) ?? []) : [])))
  const isTaken = (it: Operation): boolean => {
    const remoteId = parentRemoteId(input, it.remoteId ?? '')
    return remoteId !== undefined && (going.has(objectAt(input, it.stack, it.kind, remoteId)) || isTaken({...it, remoteId}))
  }
  return isTaken
}
