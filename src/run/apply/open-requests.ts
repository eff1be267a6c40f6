/** What unfinished runs have open, for whoever looks, and for whoever must not begin before that is settled. */
import {kinds} from '../../backends/kinds.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {addAll} from '../../base/many.ts'
import {type DeadRun, isSettled, partOf, readRun, stackOf} from '../../engine/model/journal.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import {type Key, keyOf} from '../../engine/model/value.ts'
import type {Host} from '../host/host.ts'
import {ownStacks} from '../journal/own-ledgers.ts'
import {knownRuns, openRuns, type RunStory} from '../journal/run-files.ts'
import {pendingRuns} from '../journal/travelling-journal.ts'
import type {LedgerDesk, LedgerObject} from '../workspace/ledger-desk.ts'
import type {Workspace} from '../workspace/workspace.ts'

/** What the live state shows is half done, and whatever is made of it would say so of the wrong things. */
export class UnsettledRunError extends AppError {
  /** @param cause - what went wrong for it; absent: nothing was tried */
  constructor(notes: readonly string[], cause?: AppError) {
    const open = notes.join('; ')
    super(
      cause === undefined ? `an unfinished run has requests open here: ${open}` : `${cause.message}; an unfinished run may be why: ${open}`,
      {
        code: 'E_RUN_UNSETTLED',
        exit: EXIT.refused,
        suggestions: ['Settle it first with: svcctl apply --resume', ...(cause?.suggestions ?? [])],
        ...(cause?.problems === undefined ? {} : {problems: cause.problems}),
        cause,
      },
    )
  }
}

export const namesOf = ({stacks}: Workspace): ReadonlySet<string> => new Set(stacks.map(it => it.name))

/** As much of a run as is about these stacks and their ledgers. */
export const ownPart = (story: RunStory, here: Workspace['ownLedgers']): DeadRun => partOf(story, ownStacks(story, here))

/** Unfinished runs that have left something in these stacks, or that still go on. */
export function unfinishedRuns(workspace: Workspace): RunStory[] {
  const {host, ownLedgers} = workspace
  const concerns = (it: RunStory) => it.alive || !isSettled(ownPart(it, ownLedgers)) || isSettled(it)
  return openRuns(host).stories.filter(it => !it.ended && ownStacks(it, ownLedgers).size > 0 && concerns(it))
}

/** For a plan, which writes nothing: what unfinished runs have open, here and elsewhere, as far as one read each can tell. */
export async function openRequests(workspace: Workspace): Promise<string[]> {
  const notes: string[] = []
  for (const {error} of openRuns(workspace.host).unreadable)
    notes.push(`${error.message} What it says is not known here: ${error.suggestions.join(' ')}`)
  for (const story of unfinishedRuns(workspace)) {
    const {run} = story.header
    if (story.damage !== undefined) notes.push(`the journal of run ${run} is damaged: ${story.damage}; the rest of it counts`)
    const {loose} = ownPart(story, workspace.ownLedgers)
    if (story.alive) notes.push(`run ${run} is still going on (pid ${story.header.process.pid})`)
    else if (loose.length === 0) notes.push(`run ${run} did not end; nothing of it is in flight`)
    if (!story.alive) addAll(notes, await askedOnce(workspace, run, loose))
  }
  for (const [run, dead] of runsElsewhere(workspace.host, workspace.ledgers.values()))
    addAll(notes, await askedOnce(workspace, run, partOf(dead, namesOf(workspace)).loose))
  return notes
}

async function askedOnce(workspace: Workspace, run: string, loose: DeadRun['loose']): Promise<string[]> {
  const notes: string[] = []
  for (const {key, kind, step, taskId, name, remoteId} of loose) {
    const api = kinds.get(kind)?.api
    const what = `${step} ${kind} ${name ?? remoteId ?? ''} (${key}) of run ${run}`
    const task = taskId === undefined || api === undefined ? undefined : await workspace.backendOf(stackOf(key), api).task(taskId)
    if (task !== undefined) notes.push(`${what}: its task ${task.id} is ${task.status}`)
    else notes.push(`${what} was sent, and nobody knows yet what came of it: apply looks first`)
  }
  return notes
}

/** What only these ledgers tell of: it was begun on a disk that is gone, or on another machine. */
function runsElsewhere(host: Host, ledgers: Iterable<Ledger>): [run: string, dead: DeadRun][] {
  const known = knownRuns(host)
  return [...ledgers]
    .flatMap(({pending}) => pendingRuns(pending).runs)
    .flatMap(({run, entries}): [string, DeadRun][] => (known.has(run) ? [] : [[run, readRun(entries)]]))
}

/**
 * For whoever records what is live as it is: an object that one of our runs has half made would be recorded as finished, and
 * what a run has changed taken for somebody else's doing. Asks no server; ledgers tell of runs whose disk is gone.
 * @throws UnsettledRunError
 */
export function assertNothingOpen(workspace: Workspace): void {
  const open = (run: string, {loose, uncertain}: DeadRun): string[] =>
    [...loose, ...uncertain].map(({key, step}) => `${step} of ${key} in run ${run}`)
  const notes = [
    ...unfinishedRuns(workspace).flatMap(it => open(it.header.run, ownPart(it, workspace.ownLedgers))),
    ...runsElsewhere(workspace.host, workspace.ledgers.values()).flatMap(([run, it]) => open(run, partOf(it, namesOf(workspace)))),
  ]
  if (notes.length > 0) throw new UnsettledRunError([...new Set(notes)])
}

/**
 * For whoever takes objects out of a ledger, or hands them on to another one: what an unfinished run has done to them is
 * settled with the ledgers of its own stacks, and by what these have. As far as the runs here and these ledgers tell.
 * @param coming - what the objects will be called: what a run makes under such a key would have no place of its own
 * @throws UnsettledRunError
 */
export function assertSettled(
  desk: LedgerDesk,
  ledgers: ReadonlyMap<string, Ledger>,
  objects: readonly LedgerObject[],
  coming: readonly Key[] = [],
): void {
  const here = desk.ownLedgers(ledgers)
  const keys = new Set([...objects.map(it => keyOf(it.stack, it.entry.address)), ...coming])
  const remoteIds = new Set(objects.map(it => it.entry.remoteId))
  const runs: [string, DeadRun][] = [
    ...openRuns(desk.host).stories.flatMap((it): [string, DeadRun][] => (it.ended ? [] : [[it.header.run, ownPart(it, here)]])),
    ...runsElsewhere(desk.host, ledgers.values()).map(([run, it]): [string, DeadRun] => [run, partOf(it, new Set(ledgers.keys()))]),
  ]
  const notes = runs.flatMap(([run, {loose, uncertain, settled}]) =>
    [...loose, ...uncertain, ...settled.filter(it => it.recorded !== true)]
      .filter(({key, remoteId}) => keys.has(key) || (remoteId !== undefined && remoteIds.has(remoteId)))
      .map(({key, step}) => `${step} of ${key} in run ${run}`),
  )
  if (notes.length > 0) throw new UnsettledRunError([...new Set(notes)])
}
