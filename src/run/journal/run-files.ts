/** The files of a run below `.svcctl/runs`: its journal, its plan, and what it left to do. */
import {existsSync, renameSync} from 'node:fs'
import {hostname} from 'node:os'
import {dirname} from 'node:path'
import {z} from 'zod'
import {removeOldLeftovers, writeFileAtomicSync} from '../../base/atomic-file.ts'
import {parseJson} from '../../base/bounded-json.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {asJson} from '../../base/json.ts'
import {judge} from '../../base/judge.ts'
import {makeFolder} from '../../base/make-folder.ts'
import {holderState, processIdentityOf} from '../../base/process-lock.ts'
import {readWholeFileSync} from '../../base/whole-file.ts'
import {type BeforeImage, beforeImageSchema} from '../../engine/model/before-image.ts'
import {type DeadRun, isSettled, type JournalEntry, readRun} from '../../engine/model/journal.ts'
import {journalEntrySchema, momentSchema} from '../../engine/model/journal-schema.ts'
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
import {notesBeside, notesPath} from './notes-beside.ts'

const headerSchema = z.object({
  run: z.string(),
  version: z.string(),
  process: z.object({host: z.string(), pid: z.number(), start: z.string(), pidSpace: z.string()}),
  startedAt: momentSchema,
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
  /** Its process is known to have ended: nobody else writes into its journal any more. */
  readonly isDead: boolean
  /** It ended, and nothing more can come of it. */
  readonly isOver: boolean
}

/** Of runs that are passed over. */
const MOST_NAMED = 3

export class UnknownRunError extends AppError {
  /** @param elsewhere - of unfinished runs of other places: which, and of which place */
  constructor(run: string | undefined, known: readonly string[], elsewhere: readonly string[] = []) {
    const what = elsewhere.length === 0 ? 'unfinished run here' : 'unfinished run of these ledgers here'
    super(run === undefined ? `there is no ${what}` : `there is no run ${run} here`, {
      code: 'E_UNKNOWN_RUN',
      exit: EXIT.notFound,
      suggestions:
        known.length === 0
          ? [
              'Runs lie in .svcctl/runs beside cdktf.json: run this there.',
              'What a run of another machine has left in a ledger behind http, the next "svcctl apply" settles, here too.',
            ]
          : run === undefined && elsewhere.length > 0
            ? [
                ...elsewhere.slice(0, MOST_NAMED).map(it => `Not meant here: ${it}.`),
                'To finish one of them, give what it was begun with (--state, or TF_HTTP_ADDRESS). To go on with these ledgers: svcctl apply',
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
    return judge(beforeImageSchema, parseJson(readWholeFileSync(beforePath(host, run)).toString())).data
  } catch {
    return undefined
  }
}

export function writeResidual(host: Host, run: string, plan: Plan): string {
  const path = residualPath(host, run)
  // A run of which nothing begins has no journal there.
  makeFolder(dirname(path), 0o700)
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
  const isRecent = (path: string) => (writtenAt(path) ?? 0) >= since
  return readAll(listRuns(runsFolder(host.cwd)).filter(({path}) => isRecent(path) || isRecent(notesPath(path)))).stories
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

/** Others have settled a run whose process nobody can ask, on another host or in another container: as long as it may write, it is read. */
const QUIET_MS = 86_400_000

/** Marks a run that is over, so that it is told from its name alone. */
export function markIfEnded(host: Host, run: string): void {
  const runs = runsFolder(host.cwd)
  const path = journalPath(runs, run)
  const {ended, isOver} = readStory(path)
  const isQuiet = () => (writtenAt(path) ?? 0) < host.clock.now() - QUIET_MS
  if (!ended || !(isOver || isQuiet())) return
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
  const {header, torn, ...own} = readJournal(path)
  const beside = notesBeside(path)
  const entries = [...own.entries, ...beside.entries]
  const damage = own.damage ?? beside.damage
  const known = judge(headerSchema, header)
  if (!known.success) throw new JournalDamagedError(path, 'its header is not one of ours')
  const read = entries.map(it => judge(journalEntrySchema, it))
  const told: readonly JournalEntry[] = read.flatMap(it => it.data ?? [])
  const strange = read.findIndex(it => !it.success)
  const unread = damage ?? (strange < 0 ? undefined : `entry ${strange + 1} is not one of ours`)
  const {process: writer} = known.data
  const state = holderState({...writer, id: '', who: '', since: ''}, hostname())
  const isOurs = writer.pid === process.pid
  const story = readRun(told)
  const saidSo = read.slice(0, own.entries.length).some(it => it.data?.type === 'end')
  const isDead = state === 'dead' || (state === 'alive' && isOurs)
  // A run that ended with a request nobody heard of again (a wait that ran out) is not over. Nor is one that was settled, and went on.
  const ended = story.ended && story.loose.length === 0 && (saidSo || isSettled(story))
  return {
    ...story,
    ended,
    isOver: ended && (saidSo || isDead),
    header: known.data,
    path,
    entries: told,
    torn,
    ...(unread === undefined ? {} : {damage: unread}),
    alive: state === 'alive' && !isOurs,
    isDead,
  }
}

export const damagedText = ({path, damage, header: {run}}: RunStory): string => {
  const kept = existsSync(damagedCopyOf(path)) ? `, and as it was it is kept as ${damagedCopyOf(path)}` : ''
  return `the journal of run ${run} is damaged: ${damage}; the rest of it counts${kept}`
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

/** @throws UnknownRunError; JournalDamagedError, JournalVersionError, JournalMissingError where it cannot be read */
export function findRun(host: Host, run: string): RunStory {
  const known = [...knownRuns(host)]
  if (!known.includes(run)) throw new UnknownRunError(run, known)
  return readStory(journalPath(runsFolder(host.cwd), run))
}
