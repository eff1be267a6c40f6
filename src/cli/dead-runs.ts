/** Runs that died: what they left is settled under the lock, before anything new is planned. */
import {kinds} from '../backends/kinds.ts'
import {AppError, EXIT} from '../base/errors.ts'
import type {Json} from '../base/json.ts'
import {asJson} from '../base/json.ts'
import {evaluate} from '../declaration/residual.ts'
import type {Emit} from '../engine/events.ts'
import {type JournalEntry, readRun} from '../engine/journal.ts'
import {LedgerBook} from '../engine/ledger-book.ts'
import type {Operation, Plan} from '../engine/plan.ts'
import {type Recovered, recover} from '../engine/recover.ts'
import {continueJournal} from '../ledger/journal-file.ts'
import {accountsOf} from './plan-run.ts'
import {planOf, RunPlanError, type RunStory, readRuns} from './run-files.ts'
import {RunSecrets} from './run-secrets.ts'
import {runTiming} from './run-timing.ts'
import {pendingRun} from './travelling-journal.ts'
import type {Workspace} from './workspace.ts'

/** The journal tells of another account than the credentials are for. It stays as it is. */
export class OtherAccountRunError extends AppError {
  constructor(run: string, wrote: string, now: string) {
    super(`run ${run} was made for the account at ${wrote}, and the configuration now means ${now}`, {
      code: 'E_RUN_ACCOUNT',
      exit: EXIT.refused,
      suggestions: ['Use the profile or variables that run had, or move its journal in .svcctl/runs away if its account is gone.'],
    })
  }
}

/** What the live state shows is half done, and the plan of it would say so of the wrong things. */
export class UnsettledRunError extends AppError {
  constructor(notes: readonly string[], cause: AppError) {
    super(`${cause.message}; an unfinished run may be why: ${notes.join('; ')}`, {
      code: 'E_RUN_UNSETTLED',
      exit: EXIT.refused,
      suggestions: ['Settle it first with: svcctl apply --resume', ...cause.suggestions],
      ...(cause.problems === undefined ? {} : {problems: cause.problems}),
      cause,
    })
  }
}

/** Unfinished runs that concern these stacks; a running one is somebody's and left alone. */
export function unfinishedRuns(workspace: Workspace): RunStory[] {
  const stacks = new Set(workspace.stacks.map(it => it.name))
  return readRuns(workspace.context).filter(it => !it.ended && it.header.stacks.some(name => stacks.has(name)))
}

/** For a plan, which writes nothing: what unfinished runs have open, as far as one read each can tell. */
export async function openRequests(workspace: Workspace): Promise<string[]> {
  const notes: string[] = []
  for (const story of unfinishedRuns(workspace)) {
    const {run} = story.header
    if (story.alive) notes.push(`run ${run} is still going on (pid ${story.header.process.pid})`)
    else if (story.loose.length === 0) notes.push(`run ${run} did not end; nothing of it is in flight`)
    for (const {key, kind, step, taskId, name, remoteId} of story.alive ? [] : story.loose) {
      const api = kinds.get(kind)?.api
      const what = `${step} ${kind} ${name ?? remoteId ?? ''} (${key}) of run ${run}`
      const task =
        taskId === undefined || api === undefined ? undefined : await workspace.backendOf(key.slice(0, key.indexOf(':')), api).task(taskId)
      if (task !== undefined) notes.push(`${what}: its task ${task.id} is ${task.status}`)
      else notes.push(`${what} was sent, and nobody knows yet what came of it: apply looks first`)
    }
  }
  return notes
}

export interface Settled {
  readonly runs: readonly string[]
  /** `stack:address` of creates nobody can tell of yet: they must not be planned again in this run. */
  readonly unknown: Recovered['unknown']
  /** Every task that those runs started. */
  readonly taskIds: ReadonlySet<string>
}

/**
 * Settles every dead run of these stacks, here or (http ledgers) on a disk that is gone.
 * @throws OtherAccountRunError, JournalVersionError, JournalDamagedError: nothing is sent
 */
export async function settleDeadRuns(workspace: Workspace, emit: Emit, signal: AbortSignal, only?: RunStory): Promise<Settled> {
  const stories = only ? [only] : unfinishedRuns(workspace).filter(it => !it.alive)
  for (const story of stories) assertSameAccount(workspace, story)
  const unknown: Recovered['unknown'][number][] = []
  for (const story of stories) {
    const plan = await planIfReadable(workspace, story.header.run, emit)
    const recovered = await settleOne(workspace, story.header.run, story, plan?.operations ?? [], emit, signal, story.path)
    unknown.push(...recovered.unknown)
  }
  const here = new Set(stories.map(it => it.header.run))
  const taskIds = new Set(stories.flatMap(it => [...it.taskIds]))
  for (const [stack, ledger] of workspace.ledgers) {
    const travelled = pendingRun(ledger.pending)
    if (travelled === undefined || here.has(travelled.run)) continue
    const dead = readRun(travelled.entries)
    for (const id of dead.taskIds) taskIds.add(id)
    const recovered = await settleOne(workspace, travelled.run, dead, travelled.operations, emit, signal)
    unknown.push(...recovered.unknown)
    if (recovered.unknown.length === 0) await clearPending(workspace, stack)
  }
  if (stories.length > 0 || [...workspace.ledgers.values()].some(it => it.pending !== undefined)) await workspace.loadLedgers()
  return {runs: stories.map(it => it.header.run), unknown, taskIds}
}

/** What the run left can be looked up by its journal alone; what it made is then adopted by name. */
async function planIfReadable({context}: Workspace, run: string, emit: Emit): Promise<Plan | undefined> {
  try {
    return await planOf(context, run)
  } catch (error) {
    if (!(error instanceof RunPlanError)) throw error
    emit({type: 'warning', message: `${error.message}; it is settled by its journal`})
    return undefined
  }
}

async function clearPending(workspace: Workspace, stack: string): Promise<void> {
  await workspace.loadLedgers()
  const book = new LedgerBook(workspace.ledgers, workspace.stores, ledger => Promise.resolve(ledger))
  book.setPending(stack, undefined)
  await book.flush()
}

async function settleOne(
  workspace: Workspace,
  run: string,
  dead: ReturnType<typeof readRun>,
  operations: readonly Operation[],
  emit: Emit,
  signal: AbortSignal,
  path?: string,
): Promise<Recovered> {
  const secrets = new RunSecrets(workspace, new Map())
  const ledgers = await workspace.loadLedgers()
  const book = new LedgerBook(ledgers, workspace.stores, ledger =>
    workspace.sealer.seal(ledger, book.secretsOf(ledger.stack), secrets.ofStack(ledger.stack, {operations})),
  )
  const journal = path === undefined ? undefined : continueJournal(path).journal
  const note = (entry: JournalEntry, fsync: boolean) => void journal?.append(asJson(entry), {fsync})
  emit({type: 'warning', message: `run ${run} did not end; ${dead.loose.length} of its requests are looked up first`})
  try {
    const recovered = await recover({
      run,
      dead,
      operations,
      kinds,
      backendOf: workspace.backendOf,
      book,
      secret: secrets.ifKnown,
      wasSent: (digest, context, secret) => workspace.sealer.wasSent(digest, context, secret),
      evaluate,
      lookup: {variable: workspace.variable, attribute: (key, attribute) => recordedAttribute(book, key, attribute)},
      clock: workspace.context.clock,
      ...runTiming(workspace.settings),
      signal,
      emit,
      note: entry => note(entry, false),
    })
    // Without this line the run stays unfinished, and the next one looks again.
    for (const {error} of recovered.failed) emit({type: 'warning', message: `run ${run}: ${error.message}`})
    if (recovered.unknown.length === 0) note({type: 'end', summary: {recovered: recovered.found.length}}, true)
    return recovered
  } finally {
    journal?.close()
  }
}

function recordedAttribute(book: LedgerBook, key: string, attribute: string): Json | undefined {
  const at = key.indexOf(':')
  const entry = book.ledger(key.slice(0, at))?.entries.get(key.slice(at + 1))
  return attribute === 'id' ? entry?.remoteId : entry?.outputs[attribute.replace(/^out\//, '')]
}

function assertSameAccount(workspace: Workspace, {header}: RunStory): void {
  const accounts = accountsOf(workspace)
  for (const [api, wrote] of Object.entries(header.accounts)) {
    const now = accounts[api]
    if (now === undefined || (now.address === wrote.address && now.keyHash === wrote.keyHash)) continue
    throw new OtherAccountRunError(
      header.run,
      wrote.address,
      now.address === wrote.address ? `other credentials at ${now.address}` : now.address,
    )
  }
}
