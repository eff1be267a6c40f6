/** Runs that died: what they left is settled under the lock, before anything new is planned. */

import {basename} from 'node:path'
import {kinds} from '../../backends/kinds.ts'
import {APIS} from '../../base/apis.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import type {Json} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import {unlessAborted} from '../../base/unless-aborted.ts'
import {evaluate} from '../../declaration/read/residual.ts'
import {LedgerBook} from '../../engine/apply/ledger-book.ts'
import {recover} from '../../engine/apply/recover.ts'
import type {Recovered, RecoverInput} from '../../engine/apply/recovery.ts'
import {recordedAttribute} from '../../engine/model/attribute.ts'
import type {Emit} from '../../engine/model/events.ts'
import {type DeadRun, isSettled, type JournalEntry, partOf, readRun, stackOf} from '../../engine/model/journal.ts'
import {versionsOf} from '../../engine/model/ledger.ts'
import {Ownership} from '../../engine/model/ownership.ts'
import type {Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {fileOf} from '../../ledger/backends/registry.ts'
import {runTiming} from '../host/timing.ts'
import {mayGoOn, ownStacks} from '../journal/own-ledgers.ts'
import {beforeOf, damagedText, knownRuns, markIfEnded, openRuns, type RunStory, tidyOpenRuns} from '../journal/run-files.ts'
import {SettlingNotes} from '../journal/settling-notes.ts'
import {type PendingRun, packed, pendingRuns} from '../journal/travelling-journal.ts'
import {planOf, RunPlanError} from '../plan/run-plan.ts'
import {asTouched, type ConnectedStacks, checkAccounts, type OtherAccount, otherAccount} from '../workspace/accounts.ts'
import {RunSecrets} from '../workspace/secrets.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {auditDeadRun} from './audit-dead-run.ts'
import {namesOf, ownPart, unfinishedRuns} from './open-requests.ts'

/** The journal tells of another account than the credentials are for. It stays as it is. */
export class OtherAccountRunError extends AppError {
  constructor(run: string, {api, was, is}: OtherAccount) {
    super(`run ${run} was made for the ${api} at ${was}, and the configuration now means ${is}`, {
      code: 'E_RUN_ACCOUNT',
      exit: EXIT.refused,
      suggestions: ['Use the profile or variables that run had, or move its journal in .svcctl/runs away if its account is gone.'],
    })
  }
}

export interface Settled {
  readonly runs: readonly string[]
  /** `stack:address` of creates nobody can tell of yet: they must not be planned again in this run. */
  readonly unknown: Recovered['unknown']
  /** The hashes of the plans that those runs began with, as far as their journals are here. */
  readonly plans: ReadonlySet<string>
  /** Every task that those runs started. */
  readonly tasks: DeadRun['tasks']
}

/**
 * Settles what dead runs left in these stacks, here or (http ledgers) on a disk that is gone.
 * @param only - one that is waited for, and nothing else is done
 * @param isWanted - whether what is declared under a key is made now, where it turns out that it was not
 * @throws OtherAccountRunError, JournalVersionError, JournalMissingError: nothing is sent
 */
export async function settleDeadRuns(
  workspace: Workspace,
  {emit, signal, only, isWanted}: Pick<RecoverInput, 'emit' | 'signal' | 'isWanted'> & {readonly only?: RunStory | undefined},
): Promise<Settled> {
  const stories = only ? [only] : await runsToSettle(workspace)
  const [strange] = only === undefined ? tidyOpenRuns(workspace.host) : []
  if (strange !== undefined) throw strange.error
  for (const story of stories) await unlessAborted(assertSameAccount(workspace, story), signal)
  const travelling = await travellingRuns(workspace, emit)
  // What only a ledger tells of is of the account that the ledger knows.
  if (travelling.length > 0) await unlessAborted(checkAccounts(workspace), signal)
  const tasks = [...stories, ...travelling.map(it => readRun(it.entries))].flatMap(it => it.tasks)
  const unknown: Recovered['unknown'][number][] = []
  // What is written for one of them is no word of somebody else about the others.
  const versions = versionsOf(workspace.ledgers)
  const settle = async ({dead, ...found}: Omit<Settling, 'versions' | 'signal' | 'emit' | 'isWanted'>) => {
    const recovered = await settleOne(workspace, {...found, dead: {...dead, tasks}, versions, signal, emit, isWanted})
    addAll(unknown, recovered.unknown)
    return recovered
  }
  for (const story of stories) {
    const {run} = story.header
    const plan = await planIfReadable(workspace, story.header, emit)
    const notes = new SettlingNotes(workspace.host, story.path)
    await notes.write()
    if (story.damage !== undefined) emit({type: 'warning', message: damagedText(story)})
    const isOpenStill = isOpenIn(workspace, story, plan)
    const own = ownStacks(story, workspace.ownLedgers)
    const entries = story.entries.filter(it => !('key' in it) || own.has(stackOf(it.key)))
    const [operations, before] = [plan?.operations ?? [], beforeOf(workspace.host, run)]
    const [note, noteFirst] = [(it: JournalEntry) => notes.note(it), () => notes.write()]
    try {
      const dead = ownPart(story, workspace.ownLedgers)
      const {found} = await settle({run, dead, entries, operations, before, note, noteFirst, isOpenStill})
      if (mayGoOn(story, workspace.ownLedgers)) await notes.write()
      else await notes.end(found.length)
    } catch (error) {
      // What it has found out until then is worth as much.
      await notes.write().catch(() => {})
      throw error
    }
    markIfEnded(workspace.host, run)
  }
  for (const it of travelling) {
    const told = [...it.entries]
    const open = partOf(readRun(it.entries), namesOf(workspace))
    await settle({run: it.run, dead: open, entries: it.entries, operations: it.operations, note: entry => void told.push(entry)})
    await travelOn(workspace, it, told)
  }
  await dropSettled(workspace)
  if (stories.length > 0 || travelling.length > 0) await workspace.loadLedgers()
  const plans = new Set(stories.map(it => it.header.plan))
  return {runs: [...stories.map(it => it.header.run), ...travelling.map(it => it.run)], plans, unknown, tasks}
}

interface Settling
  extends Pick<
    RecoverInput,
    'run' | 'dead' | 'operations' | 'versions' | 'before' | 'signal' | 'emit' | 'note' | 'isOpenStill' | 'isWanted'
  > {
  /** What its journal has of its stacks here. */
  readonly entries: readonly JournalEntry[]
  /** What was noted is in the journal when it resolves. */
  readonly noteFirst?: () => Promise<void>
}

type IsOpenStill = NonNullable<RecoverInput['isOpenStill']>

/**
 * A create travels in its ledger from before it is sent until somebody has settled it, also to where its stack keeps that by
 * now. Where that was another machine, the ledger says so, and the journal that stayed here does not.
 */
function isOpenIn(workspace: Workspace, {header: {run}, versions}: RunStory, plan: Plan | undefined): IsOpenStill {
  const open = new Map<string, ReadonlySet<Key>>()
  for (const stack of plan?.stacks ?? []) {
    // In a file it never travelled; and elsewhere is another ledger, unless its versions say that it is made from that one.
    const isKnown = (versions.get(stack.name)?.lineage ?? '') !== '' || workspace.hasLedger(stack)
    if (fileOf(stack.ledger) !== undefined || !isKnown) continue
    const {pending, rewrittenBy} = workspace.ledgers.get(stack.name) ?? {}
    const {runs, damaged} = pendingRuns(pending)
    // What another program has left out nobody has settled.
    if (damaged.length > 0 || rewrittenBy !== undefined) continue
    const {loose, settled} = readRun(runs.find(it => it.run === run)?.entries ?? [])
    open.set(stack.name, new Set([...loose, ...settled.filter(it => it.recorded !== true)].map(it => it.key)))
  }
  return key => open.get(stackOf(key))?.has(key)
}

/**
 * Who asks has the locks of these stacks. A process that still works on one of their ledgers has lost its own lock (it
 * was stopped, and the lock was taken away) and sends nothing more; what it had sent is settled as that of a dead run.
 */
async function runsToSettle(workspace: Workspace): Promise<RunStory[]> {
  const stories = unfinishedRuns(workspace).filter(
    it => !mayGoOn(it, workspace.ownLedgers) || !isSettled(ownPart(it, workspace.ownLedgers)),
  )
  const lost = await Promise.all(stories.map(it => !it.alive || hasLostItsLedgers(workspace, it)))
  return stories.filter((_, at) => lost[at])
}

/** Whether it began with the very ledgers that are locked here; with others (`--state`) it is none of our business. */
async function hasLostItsLedgers(workspace: Workspace, {header}: RunStory): Promise<boolean> {
  const plan = await planIfReadable(workspace, header, () => {})
  return (plan?.stacks ?? []).some(it => workspace.hasLedger(it))
}

interface TravellingRun extends PendingRun {
  readonly stack: string
}

/** Runs that only a ledger knows of: their disk is gone. */
async function travellingRuns(workspace: Workspace, emit: Emit): Promise<TravellingRun[]> {
  const known = knownRuns(workspace.host)
  return [...workspace.ledgers].flatMap(([stack, ledger]) => {
    const {runs, damaged} = pendingRuns(ledger.pending)
    for (const what of damaged)
      emit({
        type: 'warning',
        message: `what the ledger of stack ${stack} says of ${what} cannot be read: what it made is found by its name`,
      })
    return runs.filter(it => !known.has(it.run)).map(it => ({...it, stack}))
  })
}

/** What is still open of it stays in the ledger, for the next run and for any other machine. */
async function travelOn(workspace: Workspace, {stack, run, operations}: TravellingRun, told: readonly JournalEntry[]): Promise<void> {
  const rest = {run, entries: told, operations}
  await changePending(workspace, stack, runs => runs.flatMap(it => (it.run !== run ? [it] : isSettled(readRun(told)) ? [] : [rest])))
}

/**
 * What a run of this machine has left in a stack is in its journal: what that says is settled no ledger says any more. Another machine
 * would settle it once more, and have again what was deleted, forgotten or handed on since.
 */
async function dropSettled(workspace: Workspace): Promise<void> {
  const {stories, unreadable} = openRuns(workspace.host)
  const open = new Map(stories.filter(it => !it.ended).map(it => [it.header.run, it]))
  // Of one that cannot be read the ledger has the only word.
  const unread = new Set(unreadable.map(it => basename(it.path, '.jsonl')))
  const known = knownRuns(workspace.host)
  for (const stack of workspace.ledgers.keys()) {
    const left = (it: PendingRun): readonly PendingRun[] => {
      if (unread.has(it.run) || !known.has(it.run)) return [it]
      const story = open.get(it.run)
      return story === undefined ? [] : openPart(it, partOf(story, new Set([stack])))
    }
    await changePending(workspace, stack, runs => runs.flatMap(left))
  }
}

function openPart({run, entries, operations}: PendingRun, {loose, settled, uncertain}: DeadRun): readonly PendingRun[] {
  const keys = new Set([...loose, ...uncertain, ...settled.filter(it => it.recorded !== true)].map(it => it.key))
  if (keys.size === 0) return []
  return [
    {
      run,
      entries: entries.filter(it => !('key' in it) || keys.has(it.key)),
      operations: operations.filter(it => keys.has(keyOfOperation(it))),
    },
  ]
}

async function changePending(
  workspace: Workspace,
  stack: string,
  change: (runs: readonly PendingRun[]) => readonly PendingRun[],
): Promise<void> {
  if (workspace.ledgers.get(stack)?.pending === undefined) return
  await workspace.loadLedgers()
  const book = new LedgerBook(workspace.ledgers, workspace.stores, ledger => Promise.resolve(ledger))
  book.setPending(stack, packed(change(pendingRuns(book.ledger(stack)?.pending).runs)))
  await book.flush()
  await workspace.loadLedgers()
}

/** What the run left can be looked up by its journal alone; what it made is then adopted by name. */
async function planIfReadable({host}: Workspace, header: RunStory['header'], emit: Emit): Promise<Plan | undefined> {
  try {
    return await planOf(host, header)
  } catch (error) {
    if (!(error instanceof RunPlanError)) throw error
    emit({type: 'warning', message: `${error.message}; it is settled by its journal`})
    return undefined
  }
}

async function settleOne(
  workspace: Workspace,
  {run, dead, entries: told, operations, versions, before, signal, emit, note, isOpenStill, isWanted, noteFirst}: Settling,
): Promise<Recovered> {
  const secrets = new RunSecrets(workspace, new Map())
  const ledgers = await workspace.loadLedgers()
  const {sealer, otherLedgers, accountOf} = workspace
  const ownership = new Ownership({ledgers, otherLedgers, accountOf, kinds})
  const book: LedgerBook = new LedgerBook(
    ledgers,
    workspace.stores,
    (ledger, closing) => sealer.seal(ledger, book.secretsOf(ledger.stack), secrets.ofStack(ledger.stack, {operations}), {closing}),
    (ledger, entry, known) => sealer.ahead(ledger, entry, known),
  )
  if (noteFirst) book.flushFirst(noteFirst)
  const entries = [...told]
  emit({type: 'warning', message: `run ${run} did not end; looking up first what became of its requests (${dead.loose.length})`})
  const recovered = await recover({
    run,
    dead,
    operations,
    kinds,
    backendOf: workspace.backendOf,
    accountOf,
    book,
    versions,
    before,
    secret: secrets.ifKnown,
    wasSent: (digest, context, secret) => sealer.wasSent(digest, context, secret),
    isRecorded: (ledger, entry, pointer, secret) => sealer.isRecorded(ledger, entry, pointer, secret),
    isElsewhere: (stack, remoteId) => {
      const api = APIS.find(it => remoteId.startsWith(`${it}/`))
      return api !== undefined && ownership.elsewhere(stack, api, remoteId) !== undefined
    },
    ...(isOpenStill && {isOpenStill}),
    isWanted,
    evaluate,
    lookup: {variable: workspace.variable, attribute: (key, attribute) => attributeIn(book, key, attribute)},
    clock: workspace.host.clock,
    ...runTiming(workspace.settings),
    signal,
    emit,
    note: entry => {
      entries.push(entry)
      note(entry)
    },
  })
  await noteFirst?.()
  await auditDeadRun(workspace, book, {run, operations, entries, failed: recovered.failed, unknown: recovered.unknown})
  for (const {error} of recovered.failed) emit({type: 'warning', message: `run ${run}: ${error.message}`})
  return recovered
}

function attributeIn(book: LedgerBook, key: string, attribute: string): Json | undefined {
  const at = key.indexOf(':')
  const entry = book.ledger(key.slice(0, at))?.entries.get(key.slice(at + 1))
  return recordedAttribute(entry, attribute)
}

/** Asks whose account a key is of only where another one was used then, for what it has begun. @throws OtherAccountRunError */
async function assertSameAccount(workspace: Workspace, story: RunStory): Promise<void> {
  const {header} = story
  const names = ownStacks(story, workspace.ownLedgers)
  const {loose, settled, uncertain} = partOf(story, names)
  const own = workspace.stacks.filter(it => names.has(it.name))
  const {stacks, allLedgers} = workspace
  const spoken: ConnectedStacks = {
    stacks,
    allLedgers,
    apisOf: it => workspace.apisSpoken(it),
    connectionOf: (stack, api) => workspace.connectionOf(stack, api),
  }
  const begun = [...loose, ...settled, ...uncertain].map(({key, kind}) => ({stack: stackOf(key), kind}))
  const other = await otherAccount(asTouched(spoken, header.accounts, begun), header.accounts, own)
  if (other !== undefined) throw new OtherAccountRunError(header.run, other)
}
