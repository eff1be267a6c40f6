/** The files of a run below `.svcctl/runs`: its journal, its plan, and what it left to do. */
import {existsSync, renameSync} from 'node:fs'
import {hostname} from 'node:os'
import {z} from 'zod'
import {removeOldLeftovers, writeFileAtomicSync} from '../../base/atomic-file.ts'
import {parseJson} from '../../base/bounded-json.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {asJson} from '../../base/json.ts'
import {holderState, processIdentityOf} from '../../base/process-lock.ts'
import {readWholeFileSync} from '../../base/whole-file.ts'
import {type BeforeImage, beforeImageSchema} from '../../engine/model/before-image.ts'
import {type DeadRun, type JournalEntry, readRun} from '../../engine/model/journal.ts'
import {journalEntrySchema} from '../../engine/model/journal-schema.ts'
import {ON_DRIFT, type Plan} from '../../engine/model/plan.ts'
import {
  createJournal,
  createRunId,
  damagedCopyOf,
  endedRuns,
  JournalDamagedError,
  type JournalFile,
  JournalMissingError,
  JournalVersionError,
  JournalWriteError,
  journalPath,
  listRuns,
  markEnded,
  readJournal,
  removeRun,
  runsFolder,
  writtenAt,
} from '../../ledger/journal-file.ts'
import type {Host} from '../host/host.ts'

const headerSchema = z.object({
  run: z.string(),
  version: z.string(),
  process: z.object({host: z.string(), pid: z.number(), start: z.string(), pidSpace: z.string()}),
  startedAt: z.number(),
  /** The plan's hash. */
  plan: z.string(),
  /** Of the plan that this one is the rest of. */
  residualOf: z.string().exactOptional(),
  stacks: z.array(z.string()),
  /** Where their ledgers were (`ledgerPlace`); absent in journals of older versions. */
  ledgers: z.record(z.string(), z.string()).exactOptional(),
  accounts: z.record(z.string(), z.object({address: z.string(), keyHash: z.string(), account: z.string().exactOptional()})),
  /** What the person or job that approved it allowed: a resumed run has the same permission. */
  approved: z.object({
    allowDestroy: z.array(z.string()),
    adopt: z.array(z.string()).default([]),
    skipBlocked: z.boolean(),
    maxDestroy: z.string().optional(),
    refuseRisky: z.boolean().optional(),
    onDrift: z.enum(ON_DRIFT).optional(),
    skipHeld: z.literal(true).exactOptional(),
  }),
})
export type RunHeader = z.output<typeof headerSchema>

/** One run as its journal tells it. */
export interface RunStory extends DeadRun {
  readonly header: RunHeader
  readonly path: string
  readonly entries: readonly JournalEntry[]
  readonly torn: boolean
  /** What cannot be read of it; the rest counts. */
  readonly damage?: string
  /** Its process still works on it. */
  readonly alive: boolean
}

export class UnknownRunError extends AppError {
  constructor(run: string | undefined, known: readonly string[]) {
    super(run === undefined ? 'there is no unfinished run here' : `there is no run ${run} here`, {
      code: 'E_UNKNOWN_RUN',
      exit: EXIT.notFound,
      suggestions:
        known.length === 0
          ? [
              'Runs lie in .svcctl/runs beside cdktf.json: run this there.',
              'What a run of another machine has left in a ledger behind http, the next "svcctl apply" settles, here too.',
            ]
          : run === undefined
            ? ['All runs ended, and nothing is to be resumed: svcctl apply plans what is left to do.']
            : ['The runs that are here: svcctl runs list', 'What another machine has run is known there, in its .svcctl/runs.'],
    })
  }
}

export const planPath = (host: Host, run: string): string => journalPath(runsFolder(host.cwd), run).replace(/\.jsonl$/, '.plan.json')
const beforePath = (host: Host, run: string): string => journalPath(runsFolder(host.cwd), run).replace(/\.jsonl$/, '.before.json')
export const residualPath = (host: Host, run: string): string =>
  journalPath(runsFolder(host.cwd), run).replace(/\.jsonl$/, '.residual.json')

/**
 * Begins a run: its journal, its plan and what the ledgers had before it are on disk when this returns.
 * @throws JournalWriteError
 */
export function startRun(
  host: Host,
  plan: Plan,
  {ledgers, accounts, approved, before}: Required<Pick<RunHeader, 'ledgers' | 'accounts' | 'approved'>> & {readonly before: BeforeImage},
): {readonly run: string; readonly journal: JournalFile} {
  const run = createRunId(host.clock, host.random)
  const header: RunHeader = {
    run,
    version: host.version,
    process: processIdentityOf(hostname(), process.pid),
    startedAt: host.clock.now(),
    plan: plan.hash,
    ...(plan.residualOf === undefined ? {} : {residualOf: plan.residualOf}),
    stacks: plan.stacks.map(it => it.name),
    ledgers,
    accounts,
    approved,
  }
  const journal = createJournal(journalPath(runsFolder(host.cwd), run), asJson(header))
  let path = planPath(host, run)
  try {
    writeFileAtomicSync(path, `${JSON.stringify(plan)}\n`, {mode: 0o600})
    path = beforePath(host, run)
    writeFileAtomicSync(path, `${JSON.stringify(before)}\n`, {mode: 0o600})
  } catch (error) {
    journal.close()
    throw new JournalWriteError(path, error)
  }
  return {run, journal}
}

/** What the ledgers had before a run; `undefined` where nobody can tell any more: an older version, another machine, damage. */
export function beforeOf(host: Host, run: string): BeforeImage | undefined {
  try {
    return beforeImageSchema.safeParse(parseJson(readWholeFileSync(beforePath(host, run)).toString())).data
  } catch {
    return undefined
  }
}

export function writeResidual(host: Host, run: string, plan: Plan): string {
  const path = residualPath(host, run)
  writeFileAtomicSync(path, `${JSON.stringify(plan, null, 2)}\n`, {mode: 0o600})
  return path
}

/** A journal that says nothing: its beginning is damaged, another version wrote it, or it may not be read. */
export interface UnreadableRun {
  readonly path: string
  readonly error: JournalDamagedError | JournalVersionError | JournalMissingError
}

export interface RunsHere {
  /** Oldest first. */
  readonly stories: readonly RunStory[]
  readonly unreadable: readonly UnreadableRun[]
}

/** So many of the newest are asked: who applies a plan once more does so soon. */
const RECENT_RUNS = 50

/** The newest runs here, oldest first, and one that is named, however old it is. Nothing is changed. */
export function recentRuns(host: Host, named?: string): readonly RunStory[] {
  const files = listRuns(runsFolder(host.cwd))
  return readAll(files.filter((it, at) => at >= files.length - RECENT_RUNS || it.run === named)).stories
}

/** Every run here. Nothing is changed. */
export const readRuns = (host: Host): RunsHere => readAll(listRuns(runsFolder(host.cwd)))

/** Those that are not known to be over: a run that ended is never opened again. Nothing is changed. */
export function openRuns(host: Host): RunsHere {
  const over = endedRuns(runsFolder(host.cwd))
  return readAll(listRuns(runsFolder(host.cwd)).filter(it => !over.has(it.run)))
}

/** Those that wrote something down since then. */
export function runsSince(host: Host, since: number): readonly RunStory[] {
  return readAll(listRuns(runsFolder(host.cwd)).filter(({path}) => (writtenAt(path) ?? 0) >= since)).stories
}

function readAll(files: readonly {readonly path: string}[]): RunsHere {
  const stories: RunStory[] = []
  const unreadable: UnreadableRun[] = []
  for (const {path} of files) {
    try {
      stories.push(readStory(path))
    } catch (error) {
      const known = error instanceof JournalDamagedError || error instanceof JournalVersionError || error instanceof JournalMissingError
      if (!known) throw error
      // Somebody removed it just now.
      if (existsSync(path)) unreadable.push({path, error})
    }
  }
  return {stories, unreadable}
}

/** One whose beginning nobody can read must not stand in the way of all that come after it. */
function setAside({log}: Host, {path, error}: UnreadableRun): void {
  const aside = damagedCopyOf(path)
  try {
    renameSync(path, aside)
    log.warn(`${error.message} It was set aside as ${aside}: what that run created is found by its name.`)
  } catch {
    log.warn(`${error.message} It could not be set aside, and is passed over.`)
  }
}

/** Marks a run that is over, so that it is told from its name alone. */
export function markIfEnded(host: Host, run: string): void {
  const runs = runsFolder(host.cwd)
  if (!readStory(journalPath(runs, run)).ended) return
  try {
    markEnded(runs, run)
  } catch {
    // A disk that is full: the next run reads this one once more.
  }
}

/** What ended is marked, what is damaged is set aside. @returns those that somebody can read, and not this program as it runs here */
export function tidyOpenRuns(host: Host): UnreadableRun[] {
  const {stories, unreadable} = openRuns(host)
  for (const {ended, header} of stories) if (ended) markIfEnded(host, header.run)
  const isDamaged = ({error}: UnreadableRun) => error instanceof JournalDamagedError
  for (const it of unreadable.filter(isDamaged)) setAside(host, it)
  return unreadable.filter(it => !isDamaged(it))
}

export interface Pruning {
  /** Runs that began longer ago than this. */
  readonly olderThanMs: number
  /** So many of the newest that ended stay, however old they are. */
  readonly keep: number
}

/** What every apply does by itself. */
export const USUAL_PRUNING: Pruning = {olderThanMs: 30 * 86_400_000, keep: 20}

/** Removes runs that ended, with their plans; one that did not end stays, however old. @returns their names, oldest first */
export function pruneRuns(host: Host, {olderThanMs, keep}: Pruning): string[] {
  const runs = runsFolder(host.cwd)
  const over = [...endedRuns(runs)].sort()
  const until = createRunId({now: () => host.clock.now() - olderThanMs}, () => new Uint8Array(3))
  const old = over.slice(0, Math.max(0, over.length - keep)).filter(run => run < until)
  for (const run of old) removeRun(runs, run)
  return old
}

/** The names of all runs here, without a look at them. */
export const knownRuns = (host: Host): ReadonlySet<string> => new Set(listRuns(runsFolder(host.cwd)).map(it => it.run))

/** @throws JournalMissingError, JournalVersionError, JournalDamagedError */
export function readStory(path: string): RunStory {
  const {header, entries, torn, damage} = readJournal(path)
  const known = headerSchema.safeParse(header)
  if (!known.success) throw new JournalDamagedError(path, 'its header is not one of ours')
  const read = entries.map(it => journalEntrySchema.safeParse(it))
  const told: readonly JournalEntry[] = read.flatMap(it => it.data ?? [])
  const strange = read.findIndex(it => !it.success)
  const unread = damage ?? (strange < 0 ? undefined : `entry ${strange + 1} is not one of ours`)
  const {process: writer} = known.data
  const alive = writer.pid !== process.pid && holderState({...writer, id: '', who: '', since: ''}, hostname()) === 'alive'
  const story = readRun(told)
  return {
    ...story,
    // A run that ended with a request nobody heard of again (a wait that ran out) is not over.
    ended: story.ended && story.loose.length === 0,
    header: known.data,
    path,
    entries: told,
    torn,
    ...(unread === undefined ? {} : {damage: unread}),
    alive,
  }
}

/** At the end of a run: marked where it is over, and the oldest go. What cannot be tidied today is tidied another time. */
export function tidyRuns(host: Host, run: string): void {
  try {
    markIfEnded(host, run)
    pruneRuns(host, USUAL_PRUNING)
    removeOldLeftovers(runsFolder(host.cwd))
  } catch (error) {
    host.log.debug(`old runs could not be tidied: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/**
 * Newest unfinished run, or the named one.
 * @throws UnknownRunError; JournalDamagedError, JournalVersionError, JournalMissingError where it cannot be read
 */
export function findRun(host: Host, run: string | undefined): RunStory {
  const known = [...knownRuns(host)]
  if (run !== undefined && known.includes(run)) return readStory(journalPath(runsFolder(host.cwd), run))
  const {stories, unreadable} = run === undefined ? openRuns(host) : {stories: [], unreadable: []}
  const newest = stories.findLast(it => !it.ended)
  if (newest !== undefined) return newest
  throw unreadable.at(-1)?.error ?? new UnknownRunError(run, known)
}
