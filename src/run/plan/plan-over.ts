/** From what a run knows to a plan: the one call of the planner, whoever has the facts: a workspace, or a test in virtual time. */
import {kinds} from '../../backends/kinds.ts'
import {evaluate} from '../../declaration/read/residual.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import {type BuildPlanInput, type BuiltPlan, buildPlan} from '../../engine/plan/build.ts'

export interface PlanFacts extends Omit<BuildPlanInput, 'kinds' | 'evaluate' | 'selected' | 'stacks'> {
  /** The stacks the run is about. */
  readonly stacks: readonly StackDeclarations[]
  /** The other stacks of the app: they only count as declared. */
  readonly others: readonly StackDeclarations[]
}

export function planOver({stacks, others, ...facts}: PlanFacts): Promise<BuiltPlan> {
  const selected = new Set(stacks.map(it => it.name))
  return buildPlan({...facts, stacks: [...stacks, ...others], selected, kinds, evaluate})
}
