/** Before the first create: what somebody else has in flight on planned objects is waited for, or refused. */

import {kinds} from '../../backends/kinds.ts'
import {formatDuration} from '../../base/duration.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {shellWord} from '../../base/shell-word.ts'
import {waitFor} from '../../base/wait-for.ts'
import {foreignTasks} from '../../engine/apply/foreign.ts'
import {heldOperations} from '../../engine/apply/undecided.ts'
import type {Backend, SeenTask} from '../../engine/model/backend.ts'
import type {Emit} from '../../engine/model/events.ts'
import {stackOf} from '../../engine/model/journal.ts'
import {accountsOfOperations} from '../../engine/model/ownership.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {keyOfOperation} from '../../engine/model/value.ts'
import {stepsOf} from '../../engine/plan/bill.ts'
import type {BuiltPlan} from '../../engine/plan/build.ts'
import {StalePlanError} from '../../engine/plan/stale-plan.ts'
import {runTiming} from '../host/timing.ts'
import type {Workspace} from '../workspace/workspace.ts'
import type {Settled} from './dead-runs.ts'

/** What is waited for is said again after this long. */
const SAY_AGAIN_MS = 10_000

const named = ({id, commandType, status}: SeenTask): string => `task ${id} (${commandType ?? status})`

/** @param dead - tasks of runs that died */
function whose(tasks: readonly SeenTask[], dead: ReadonlySet<string>): string {
  const [ours, theirs] = [tasks.filter(it => dead.has(it.id)), tasks.filter(it => !dead.has(it.id))]
  const said = (all: readonly SeenTask[], words: string) => (all.length === 0 ? [] : [`${words} ${all.map(named).join(', ')}`])
  return [...said(theirs, "somebody else's"), ...said(ours, "a dead run's")].join(' and ')
}

/** Somebody else changes planned objects right now, or what a dead run began may do so: of a kind that this version does not know. */
export class ForeignTasksError extends AppError {
  constructor(tasks: readonly SeenTask[], waited: boolean) {
    const said = tasks.map(named).join(', ')
    super(`${waited ? 'still running after the wait' : 'tasks are running'} that may touch planned objects: ${said}`, {
      code: 'E_FOREIGN_TASKS',
      exit: waited ? EXIT.timeout : EXIT.refused,
      suggestions: [
        `Look at one with: svcctl task show ${shellWord(tasks[0]?.id ?? 'ID')}`,
        'Wait for them (--foreign wait), or go ahead all the same (--foreign ignore).',
      ],
    })
  }
}

/**
 * @param settled - what dead runs have in flight: it is ours, and what hangs on it is not begun
 * @returns whether anything was waited for: then the live state has moved
 * @throws ForeignTasksError
 */
export async function waitForOthers(
  workspace: Workspace,
  plan: Plan,
  mode: 'wait' | 'refuse' | 'ignore',
  emit: Emit,
  {unknown, tasks}: Pick<Settled, 'unknown' | 'tasks'>,
): Promise<boolean> {
  if (mode === 'ignore') return false
  const {pace, timeoutMs} = runTiming(workspace.settings)
  const {clock} = workspace.host
  const began = clock.now()
  const dead = new Set(tasks.map(it => it.id))
  let waited = false
  let saidAt = Number.NEGATIVE_INFINITY
  const say = (tasks: readonly SeenTask[]) => {
    if (clock.now() - saidAt < SAY_AGAIN_MS) return
    saidAt = clock.now()
    const still = waited ? `still waiting after ${formatDuration(clock.now() - began)}` : 'waiting'
    emit({type: 'warning', message: `${still} for ${whose(tasks, dead)} (--foreign ignore goes ahead)`})
  }
  const held = heldOperations(plan.operations, unknown, {kinds, accountOf: workspace.accountOf})
  const begun = plan.operations.filter(it => !held.has(keyOfOperation(it)))
  const accountAt = accountsOfOperations(kinds, workspace.accountOf)
  for (const [backend, operations] of creating(workspace, begun)) {
    const accounts = new Set(operations.map(accountAt))
    const ours = new Set(tasks.flatMap(({key, kind, id}) => (accounts.has(accountAt({stack: stackOf(key), kind})) ? [id] : [])))
    let last: SeenTask[] = []
    const clear = await waitFor(
      async () => {
        last = await foreignTasks(backend, operations, {all: plan.operations, kinds, ours})
        if (last.length === 0) return true
        if (mode === 'refuse') throw new ForeignTasksError(last, false)
        say(last)
        waited = true
        return undefined
      },
      {clock, everyMs: looks => Math.min(pace.maxMs, pace.minMs * 2 ** (looks - 1)), shortestMs: pace.minMs, timeoutMs},
    )
    if (clear === undefined) throw new ForeignTasksError(last, true)
  }
  if (waited) await workspace.readAnew()
  return waited
}

/**
 * What of a saved plan is to be done now, with nobody else at it: others are waited for where that is touched, and not for
 * what is done already.
 * @param look - what is to be done, by what is there now
 * @throws what `look` and `wait` throw
 */
export async function onceAlone(plan: Plan, look: () => Promise<BuiltPlan>, wait: (planned: Plan) => Promise<boolean>): Promise<BuiltPlan> {
  let first: BuiltPlan
  try {
    first = await look()
  } catch (error) {
    // What somebody has half made looks otherwise than it will.
    if (!(error instanceof StalePlanError) || !(await wait(plan))) throw error
    return look()
  }
  return (await wait(first.plan)) ? look() : first
}

/** The APIs with planned creates, each with its operations. */
function creating({backendOf}: Workspace, begun: readonly Operation[]): Map<Backend, Operation[]> {
  const found = new Map<Backend, Operation[]>()
  for (const it of begun) {
    const kind = kinds.get(it.kind)
    if (kind === undefined || stepsOf(it).length === 0) continue
    const backend = backendOf(it.stack, kind.api)
    const known = found.get(backend)
    if (known) known.push(it)
    else found.set(backend, [it])
  }
  return new Map([...found].filter(([, operations]) => operations.some(it => stepsOf(it).includes('create'))))
}
