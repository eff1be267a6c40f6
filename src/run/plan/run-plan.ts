/** The plan that a run began with, without which nobody can resume or undo it. */
import {existsSync} from 'node:fs'
import {AppError} from '../../base/errors.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {isCutShort} from '../../engine/plan/told-ends.ts'
import type {Host} from '../host/host.ts'
import {planPath, type RunHeader, type RunStory} from '../journal/run-files.ts'
import {readPlan} from './saved-plan.ts'

/** A run cannot be resumed without its plan; what it left can be settled all the same. */
export class RunPlanError extends AppError {
  constructor(run: string, what: 'gone' | 'damaged' | 'not the one it began with', cause?: unknown) {
    super(`the plan of run ${run} is ${what}, and without it the run cannot be resumed`, {
      code: 'E_RUN_PLAN',
      suggestions: ['Run "svcctl apply": it looks up what that run left by its journal, and plans the rest anew.'],
      cause,
    })
  }
}

/** With what it was to do, where that says more of it than its journal, and can be read. */
export async function withOperations(host: Host, story: RunStory): Promise<RunStory & {readonly operations?: readonly Operation[]}> {
  if (story.alive || !isCutShort(story.entries)) return story
  try {
    const plan = await planOf(host, story.header)
    return plan === undefined ? story : {...story, operations: plan.operations}
  } catch (error) {
    if (!(error instanceof RunPlanError)) throw error
    return story
  }
}

/**
 * The plan of a run, or `undefined` where it is not there.
 * @throws RunPlanError when it cannot be read, or is another one than was approved: its journal says which
 */
export async function planOf(host: Host, {run, plan: hash}: Pick<RunHeader, 'run' | 'plan'>): Promise<Plan | undefined> {
  const path = planPath(host, run)
  if (!existsSync(path)) return undefined
  let plan: Plan
  try {
    plan = await readPlan(path)
  } catch (error) {
    throw error instanceof AppError ? new RunPlanError(run, 'damaged', error) : error
  }
  if (plan.hash !== hash) throw new RunPlanError(run, 'not the one it began with')
  return plan
}
