/** What every run of a plan does between what was planned and the executor, whatever keeps its journal and its ledgers. */
import {kinds} from '../../backends/kinds.ts'
import {evaluate} from '../../declaration/read/residual.ts'
import {execute} from '../../engine/apply/execute.ts'
import type {Undecided} from '../../engine/apply/recovery.ts'
import type {RunOptions} from '../../engine/apply/run-context.ts'
import {type Held, heldOperations} from '../../engine/apply/undecided.ts'
import type {ApplyResult, Work} from '../../engine/apply/work.ts'
import type {AccountOf} from '../../engine/model/ownership.ts'
import type {OpenLeaf, Operation, Plan} from '../../engine/model/plan.ts'
import type {Deferred, Key, Secret} from '../../engine/model/value.ts'
import type {Observation} from '../../engine/observe/observation.ts'
import {givingWay} from './giving-way.ts'
import {contextObjects, workOf} from './work-of.ts'

export interface PlannedWorkInput {
  readonly plan: Pick<Plan, 'operations'>
  readonly observation: Observation
  /** What a leaf stands for that a plan does not show. */
  readonly secret: (operation: Operation, leaf: OpenLeaf) => Secret | Deferred
  /** Operations that do not begin whatever dead runs did. */
  readonly left?: ReadonlyMap<Key, Held>
  /** What dead runs have begun and nobody can tell the end of yet. */
  readonly undecided?: readonly Undecided[]
  readonly accountOf?: AccountOf | undefined
}

/** Each operation as the executor takes it, and those that do not begin. */
export function plannedWork({plan, observation, secret, left = new Map(), undecided = [], accountOf}: PlannedWorkInput): {
  readonly work: readonly Work[]
  readonly held: ReadonlyMap<Key, Held>
} {
  const held = new Map([...left, ...heldOperations(plan.operations, undecided, {kinds, accountOf})])
  return {work: workOf(plan, observation, secret, held), held}
}

export type CarryOutOptions = Omit<RunOptions, 'kinds' | 'evaluate' | 'givingWay'>

/** After what moves between stacks was carried over. */
export function carryOut(work: readonly Work[], observation: Observation, options: CarryOutOptions): Promise<ApplyResult> {
  return execute(work, {...options, kinds, evaluate, givingWay: givingWay(work, observation)}, contextObjects(observation))
}
