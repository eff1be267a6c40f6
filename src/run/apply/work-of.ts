/** What the executor gets of a plan: each operation with its declaration and its live object, and the objects it only refers to. */
import type {Held} from '../../engine/apply/undecided.ts'
import type {Work} from '../../engine/apply/work.ts'
import type {LiveObject} from '../../engine/model/live.ts'
import type {OpenLeaf, Operation, Plan} from '../../engine/model/plan.ts'
import {declarationOf} from '../../engine/model/planned-object.ts'
import {type Deferred, type Key, keyOfOperation, type Secret} from '../../engine/model/value.ts'
import type {Observation} from '../../engine/observe/observation.ts'

/** @param secret - what a leaf stands for that a plan does not show */
export function workOf(
  {operations}: Pick<Plan, 'operations'>,
  {pairs}: Pick<Observation, 'pairs'>,
  secret: (operation: Operation, leaf: OpenLeaf) => Secret | Deferred,
  held: ReadonlyMap<Key, Held> = new Map(),
): Work[] {
  return operations.map(operation => {
    const key = keyOfOperation(operation)
    const declaration = declarationOf(operation, leaf => secret(operation, leaf))
    const pair = pairs.get(key)
    const live = pair?.match?.live ?? pair?.stray
    const back = held.get(key)
    return {operation, ...(declaration ? {declaration} : {}), ...(live ? {live} : {}), ...(back ? {held: back} : {})}
  })
}

/** Objects the plan only refers to. */
export function contextObjects({pairs}: Pick<Observation, 'pairs'>): Map<Key, LiveObject> {
  return new Map([...pairs].flatMap(([key, {match, context}]) => (context && match ? [[key, match.live] as const] : [])))
}
