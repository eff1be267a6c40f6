/**
 * A plan that was made a while ago, in the same process: what it touches is read again, and nothing else; where something that
 * it leaves as it is keeps others from what they would do, all that it was made from.
 */
import {kinds} from '../../backends/kinds.ts'
import {addTo} from '../../base/many.ts'
import type {Lifts, Operation, Plan} from '../../engine/model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../../engine/model/value.ts'
import type {BuiltPlan} from '../../engine/plan/build.ts'
import {summaryOf} from '../../engine/plan/document.ts'
import {evaluateGuards} from '../../engine/plan/guards.ts'
import {stillValid} from '../../engine/plan/recheck.ts'
import {touched} from '../../engine/plan/touched.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {type PlanWishes, planWorkspace, readOnlyGuard} from './plan.ts'

/**
 * @param lifted - what a person has allowed meanwhile
 * @param open - operations on what a dead run has begun and nobody can tell the end of yet
 * @returns what is to be done now: less than was planned where somebody was faster, and never more
 * @throws StalePlanError: nothing was sent
 */
export async function lookAgain(
  workspace: Workspace,
  {plan, observation, choice}: BuiltPlan,
  {
    options,
    destroy,
    lifted,
  }: Pick<PlanWishes, 'options'> & {readonly destroy: boolean; readonly lifted: Pick<Lifts, 'allowDestroy' | 'adopt'>},
  open: ReadonlySet<Key>,
): Promise<BuiltPlan> {
  const holders = new Map<string, Operation[]>()
  for (const it of plan.operations) if (it.remoteId !== undefined) addTo(holders, it.remoteId, it)
  const looked = new Set(touched(plan).flatMap(it => namesOf(it, holders)))
  const fresh = await planWorkspace(workspace, {
    options,
    lifts: plan.lifts,
    destroy,
    choice: keepsOthers(plan) ? choice : {...choice, wants: key => looked.has(key)},
  })
  const operations = stillValid(plan, fresh.plan.operations, {
    kinds,
    accountOf: workspace.accountOf,
    ledgers: workspace.allLedgers,
    undecided: open,
  })
  const lifts = {
    ...plan.lifts,
    allowDestroy: [...plan.lifts.allowDestroy, ...lifted.allowDestroy],
    adopt: [...plan.lifts.adopt, ...lifted.adopt],
  }
  // What was not lifted stands before what it stood before: of `--safe-only` that is left out still. The ledgers are
  // locked: each stack owns what it did.
  const guards = [...evaluateGuards({...plan, operations, lifts}, kinds), ...readOnlyGuard(workspace, operations)]
  return {
    plan: {...plan, operations, summary: summaryOf(operations), guards, requests: fresh.plan.requests},
    observation: {...fresh.observation, pairs: new Map([...observation.pairs, ...fresh.observation.pairs])},
    choice,
  }
}

/** Whether names and addresses stay with objects that no operation of the plan is about. */
const keepsOthers = ({operations, lifts}: Plan): boolean => lifts.noDestroy || operations.some(it => it.cause === 'name-taken')

/** What an operation's object is called: before it moves, too, and by whoever has the collection it stands undeclared in. */
function namesOf({stack, address, remoteId, movedFrom, from}: Operation, byRemoteId: ReadonlyMap<string, readonly Operation[]>): Key[] {
  const above = address === remoteId ? address.split('/').map((_, at, parts) => parts.slice(0, at).join('/')) : []
  const holders = above.flatMap(it => byRemoteId.get(it) ?? [])
  return [
    keyOf(stack, address),
    ...(movedFrom === undefined ? [] : [keyOf(stack, movedFrom)]),
    ...(from === undefined ? [] : [keyOfOperation(from)]),
    ...holders.map(keyOfOperation),
  ]
}
