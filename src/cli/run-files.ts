/** The files of a run below `.svcctl/runs`: its journal, its plan, and what it left to do. */
import {existsSync} from 'node:fs'
import {hostname} from 'node:os'
import {z} from 'zod'
import {writeFileAtomicSync} from '../base/atomic-file.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {asJson} from '../base/json.ts'
import {holderState, identityOf} from '../base/process-lock.ts'
import {type DeadRun, type JournalEntry, readRun} from '../engine/journal.ts'
import {journalEntrySchema} from '../engine/journal-schema.ts'
import type {Plan} from '../engine/plan.ts'
import {
  createJournal,
  createRunId,
  type Journal,
  JournalDamagedError,
  JournalWriteError,
  journalPath,
  listRuns,
  readJournal,
  runsFolder,
} from '../ledger/journal-file.ts'
import type {Context} from './context.ts'
import {readPlan} from './saved-plan.ts'

const headerSchema = z.object({
  run: z.string(),
  version: z.string(),
  process: z.object({host: z.string(), pid: z.number(), start: z.string(), pidSpace: z.string()}),
  startedAt: z.number(),
  /** The plan's hash. */
  plan: z.string(),
  stacks: z.array(z.string()),
  accounts: z.record(z.string(), z.object({address: z.string(), keyHash: z.string()})),
  /** What the person or job that approved it allowed: a resumed run has the same permission. */
  approved: z.object({
    allowDestroy: z.array(z.string()),
    adopt: z.array(z.string()).default([]),
    skipBlocked: z.boolean(),
    maxDestroy: z.string().optional(),
  }),
})
export type RunHeader = z.output<typeof headerSchema>

/** One run as its journal tells it. */
export interface RunStory extends DeadRun {
  readonly header: RunHeader
  readonly path: string
  readonly entries: readonly JournalEntry[]
  readonly torn: boolean
  /** Its process still works on it. */
  readonly alive: boolean
}

export class UnknownRunError extends AppError {
  constructor(run: string | undefined, known: readonly string[]) {
    super(run === undefined ? 'there is no unfinished run here' : `there is no run ${run} here`, {
      code: 'E_UNKNOWN_RUN',
      exit: EXIT.notFound,
      suggestions:
        known.length === 0 ? ['Runs lie in .svcctl/runs beside cdktf.json: run this there.'] : [`Known are: ${known.join(', ')}`],
    })
  }
}

/** A run cannot be resumed without its plan; what it left can be settled all the same. */
export class RunPlanError extends AppError {
  constructor(run: string, cause?: unknown) {
    super(`the plan of run ${run} is ${cause === undefined ? 'gone' : 'damaged'}, and without it the run cannot be resumed`, {
      code: 'E_RUN_PLAN',
      suggestions: ['Run "svcctl apply": it looks up what that run left by its journal, and plans the rest anew.'],
      cause,
    })
  }
}

const planPath = (context: Context, run: string): string => journalPath(runsFolder(context.cwd), run).replace(/\.jsonl$/, '.plan.json')
export const residualPath = (context: Context, run: string): string =>
  journalPath(runsFolder(context.cwd), run).replace(/\.jsonl$/, '.residual.json')

/** Begins a run: its plan and its journal are on disk when this returns. @throws JournalWriteError */
export function startRun(context: Context, plan: Plan, approved: RunHeader['approved']): {readonly run: string; readonly journal: Journal} {
  const run = createRunId(context.clock, context.random)
  const header: RunHeader = {
    run,
    version: context.version,
    process: identityOf(hostname(), process.pid),
    startedAt: context.clock.now(),
    plan: plan.hash,
    stacks: plan.stacks.map(it => it.name),
    accounts: plan.accounts,
    approved,
  }
  const journal = createJournal(journalPath(runsFolder(context.cwd), run), asJson(header))
  try {
    writeFileAtomicSync(planPath(context, run), `${JSON.stringify(plan)}\n`, {mode: 0o600})
  } catch (error) {
    journal.close()
    throw new JournalWriteError(planPath(context, run), error)
  }
  return {run, journal}
}

/**
 * The plan of a run, or `undefined` where it is not there.
 * @throws RunPlanError when it cannot be read
 */
export async function planOf(context: Context, run: string): Promise<Plan | undefined> {
  const path = planPath(context, run)
  if (!existsSync(path)) return undefined
  try {
    return await readPlan(path)
  } catch (error) {
    throw error instanceof AppError ? new RunPlanError(run, error) : error
  }
}

export function writeResidual(context: Context, run: string, plan: Plan): string {
  const path = residualPath(context, run)
  writeFileAtomicSync(path, `${JSON.stringify(plan, null, 2)}\n`, {mode: 0o600})
  return path
}

/** Every run here, oldest first. @throws JournalVersionError, JournalDamagedError */
export function readRuns(context: Context): RunStory[] {
  return listRuns(runsFolder(context.cwd)).map(({path}) => readStory(path))
}

/** The names of all runs here, without a look at them. */
export const knownRuns = (context: Context): ReadonlySet<string> => new Set(listRuns(runsFolder(context.cwd)).map(it => it.run))

export function readStory(path: string): RunStory {
  const {header, entries, torn} = readJournal(path)
  const known = headerSchema.safeParse(header)
  if (!known.success) throw new JournalDamagedError(path, 'its header is not one of ours')
  const parsed = z.array(journalEntrySchema).safeParse(entries)
  if (!parsed.success) throw new JournalDamagedError(path, `entry ${String(parsed.error.issues[0]?.path[0])} is not one of ours`)
  const told: readonly JournalEntry[] = parsed.data
  const {process: writer} = known.data
  const alive = writer.pid !== process.pid && holderState({...writer, id: '', who: '', since: ''}, hostname()) === 'alive'
  const story = readRun(told)
  // A run that ended with a request nobody heard of again (a wait that ran out) is not over.
  return {...story, ended: story.ended && story.loose.length === 0, header: known.data, path, entries: told, torn, alive}
}

/** Newest unfinished run, or the named one. @throws UnknownRunError */
export function findRun(context: Context, run: string | undefined): RunStory {
  const stories = readRuns(context)
  const found = run === undefined ? stories.findLast(it => !it.ended) : stories.find(it => it.header.run === run)
  if (found === undefined)
    throw new UnknownRunError(
      run,
      stories.map(it => it.header.run),
    )
  return found
}
