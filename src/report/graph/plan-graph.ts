/**
 * The objects of a plan as a graph has them. An operation waits for others that do something; a reader also wants to know
 * what it stands on, so that the arrows to what stays as it is are there too, as far as they are known: a saved plan has
 * the declarations of what it changes, and a stack those of everything.
 */
import type {Declaration} from '../../engine/model/declaration.ts'
import type {Edge, Plan} from '../../engine/model/plan.ts'
import {standsOn} from '../../engine/model/stands-on.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {reportObjects} from '../document/of-plan.ts'
import type {GraphObject} from './graph.ts'

type Hangs = Pick<Declaration, 'parent' | 'dependsOn'>

export interface PlanGraph {
  readonly objects: readonly GraphObject[]
  /** As declared, and tied to nothing that is known: not drawn. */
  readonly left: number
}

/** @param declarations - of the stacks; none for a saved plan, which is read without them */
export function planGraph(plan: Pick<Plan, 'operations' | 'written'>, declarations: readonly Declaration[] = []): PlanGraph {
  const edges = edgesOf(plan, declarations)
  const tied = new Set([...edges].flatMap(([key, those]) => (those.length === 0 ? [] : [key, ...those.map(it => it.key)])))
  const all = reportObjects(plan).map((it): GraphObject => ({...it, edges: edges.get(it.key) ?? []}))
  const objects = all.filter(it => it.action !== 'no-op' || tied.has(it.key))
  return {objects, left: all.length - objects.length}
}

/** By key: what an object waits for, and then what else it stands on. Nothing but objects of the plan is named. */
function edgesOf(plan: Pick<Plan, 'operations'>, declarations: readonly Declaration[] = []): ReadonlyMap<Key, readonly Edge[]> {
  const declared = new Map<Key, Hangs>(declarations.map(it => [it.key, it]))
  const planned = new Map(plan.operations.map(it => [keyOfOperation(it), it]))
  return new Map(
    [...planned].map(([key, it]) => {
      const known = new Set(it.edges.map(edge => edge.key))
      const stands = standsOn(it.declared ?? declared.get(key)).filter(edge => {
        const other = planned.get(edge.key)
        // Between two that do something the plan says who waits for whom, and it may be the other way round.
        return other !== undefined && !known.has(edge.key) && (other.action === 'no-op' || it.action === 'no-op')
      })
      return [key, [...it.edges, ...stands]]
    }),
  )
}
