/** What of a saved plan is to be done now: what it touches is planned again, as it was approved, and both are compared. */
import type {Ledger} from '../../engine/model/ledger.ts'
import type {OwnershipInput} from '../../engine/model/ownership.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {wholePlan} from '../../engine/observe/choice.ts'
import type {Begun} from '../../engine/plan/begun.ts'
import {type BuiltPlan, PlanProblemsError} from '../../engine/plan/build.ts'
import {acceptedIn, goingOf, leftAloneIn, stillValid, touchedLedger, untouchedLedger} from '../../engine/plan/recheck.ts'
import {StalePlanError} from '../../engine/plan/stale-plan.ts'
import {touched} from '../../engine/plan/touched.ts'
import type {PlanWishes} from './plan.ts'

/** What plans again is given in the place of its own ledgers. */
export interface SeenLedgers {
  readonly ledgers: ReadonlyMap<string, Ledger>
  readonly otherLedgers: readonly Ledger[]
}

/** As the saved plan was approved. */
export type ApprovedWishes = Required<Pick<PlanWishes, 'lifts' | 'choice' | 'destroy' | 'going' | 'leftAlone' | 'kept' | 'meantBesides'>>

export interface StillToDoInput extends SeenLedgers, Pick<OwnershipInput, 'kinds' | 'accountOf'> {
  readonly planAgain: (seen: SeenLedgers, wishes: ApprovedWishes) => Promise<BuiltPlan>
  /** Operations on what a dead run has begun and nobody can tell the end of yet. */
  readonly open: ReadonlySet<Key>
  /** What a run of this very plan has done that was settled just now. */
  readonly begun?: Begun | undefined
  /** The same of an earlier one that is over: asked only where that decides. */
  readonly begunBefore?: () => Begun | undefined
}

/** @throws StalePlanError: nothing was sent but GETs */
export async function stillToDo(
  plan: Plan,
  {ledgers, otherLedgers, planAgain, open, ...input}: StillToDoInput,
): Promise<{readonly operations: readonly Operation[]; readonly fresh: BuiltPlan}> {
  const rest = [...ledgers.values()].map(it => untouchedLedger(it, plan))
  const seen = {
    ledgers: new Map([...ledgers].map(([stack, ledger]) => [stack, touchedLedger(ledger, plan)])),
    otherLedgers: [...rest, ...otherLedgers],
  }
  const wishes: ApprovedWishes = {
    // What may be destroyed is asked of the whole plan, by whoever carries it out.
    lifts: {...plan.lifts, allowDestroy: [], adopt: [], accept: [], noDestroy: false, onDrift: 'overwrite'},
    choice: wholePlan(acceptedIn(plan)),
    destroy: plan.destroy === true,
    going: goingOf(plan, ledgers),
    leftAlone: leftAloneIn(plan),
    meantBesides: new Map(touched(plan).flatMap(it => (it.besides === undefined ? [] : [[keyOfOperation(it), it.besides]]))),
    kept: new Map(touched(plan).map(it => [keyOfOperation(it), it.kept ?? []])),
  }
  const fresh = await planAgain(seen, wishes).catch(asStale)
  const all = new Map([...otherLedgers.map(it => [it.stack, it] as const), ...ledgers])
  return {operations: stillValid(plan, fresh.plan.operations, {...input, ledgers: all, undecided: open}), fresh}
}

/** What is wrong now was not when it was planned: nothing in the stack is to be corrected for that. */
function asStale(error: unknown): never {
  if (!(error instanceof PlanProblemsError)) throw error
  throw new StalePlanError((error.problems ?? []).map(({address = '', message}) => ({address, message})))
}
