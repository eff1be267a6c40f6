/** Carries a plan out in a workspace: journal, ledgers, outputs. */

import {kinds} from '../../backends/kinds.ts'
import {AppError} from '../../base/errors.ts'
import {systemCode} from '../../base/system-code.ts'
import {LedgerBook} from '../../engine/apply/ledger-book.ts'
import type {Undecided} from '../../engine/apply/recovery.ts'
import type {ApplyResult, Work} from '../../engine/apply/work.ts'
import {beforeImage} from '../../engine/model/before-image.ts'
import type {Emit} from '../../engine/model/events.ts'
import type {Journal} from '../../engine/model/journal.ts'
import {emptyLedger, type Ledger} from '../../engine/model/ledger.ts'
import type {Lifts, Plan} from '../../engine/model/plan.ts'
import type {Observation} from '../../engine/observe/observation.ts'
import {restOf} from '../../engine/plan/rest.ts'
import type {LeftOut} from '../../engine/plan/safe.ts'
import {createRunId, type JournalFile} from '../../ledger/journal-file.ts'
import {type AuditHead, auditedInBook, type StackEvent} from '../audit/audit.ts'
import {auditArrivals} from '../audit/audit-arrivals.ts'
import type {Approval} from '../audit/audit-operations.ts'
import {LearnedDurations} from '../host/learned-durations.ts'
import {runTiming} from '../host/timing.ts'
import {DiscreetJournal} from '../journal/discreet-journal.ts'
import {RunJournal} from '../journal/journal.ts'
import {withLeftOut} from '../journal/left-out.ts'
import {type RunHeader, startRun, tidyRuns, writeResidual} from '../journal/run-files.ts'
import {TravellingJournal} from '../journal/travelling-journal.ts'
import {carryOver} from '../ledgers/carry-over.ts'
import {PlanTargetError} from '../plan/saved-plan.ts'
import {accountsOf, recordedAccounts, renamedAccount} from '../workspace/accounts.ts'
import {changeLimits, LearnedLimits} from '../workspace/change-limits.ts'
import {RunSecrets} from '../workspace/secrets.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {type CarryOutOptions, carryOut, plannedWork} from './carry-out.ts'
import {assertNothingOpen} from './open-requests.ts'
import {RunAudit} from './run-audit.ts'
import {outputsOf} from './stack-outputs.ts'
import {type OpenControls, openControls} from './supervision.ts'

export interface ApplyInput {
  readonly workspace: Workspace
  /** What is carried out. */
  readonly plan: Plan
  /** What was approved; `plan` is what is left of it. */
  readonly approved: Plan
  /** Of `--safe-only`: the plan this is a part of, and what of it is left out. */
  readonly whole?: {readonly plan: Plan; readonly approved: Plan; readonly leftOut: readonly LeftOut[]} | undefined
  /** What holds for this run: the plan's, and what its options or a person lifted. */
  readonly lifts: Lifts
  /** `--break-glass`, and why: holds and freezes that are not strict do not count. */
  readonly breakGlass?: string | undefined
  /** What dead runs have begun and nobody can tell the end of yet. */
  readonly undecided: readonly Undecided[]
  readonly observation: Observation
  readonly emit: Emit
  readonly maxInflight: number | undefined
  readonly detach: boolean
  /** Who approved the plan in its review. */
  readonly approval?: Approval | undefined
  readonly warn: (text: string) => void
  /**
   * How the run is told to stop, from the first write of a ledger to its last: the signal starts nothing new. Who is told to end
   * at once calls `atOnce`, which keeps what was done.
   * @param run - which it is, once it has begun; `isOver`: all is done and proven, and what comes of it is being written
   */
  readonly stoppable: (
    run: () => {readonly id: string; readonly isOver: boolean} | undefined,
    atOnce: () => void,
  ) => {readonly signal: AbortSignal; off(): void}
}

export interface ApplyDone {
  /** Absent when there was nothing to do: no journal was written, and no run can be shown or resumed. */
  readonly run?: string
  readonly result: ApplyResult
  readonly interrupted: boolean
  /** All that the command sent: settling dead runs, planning, carrying out, proving. */
  readonly requests: number
  /** Those sent before anything was carried out. */
  readonly before: number
  /** Requests of dead runs that nobody can tell the end of, and that no operation of the plan is about. */
  readonly undecided: readonly AppError[]
  /** Where the rest is, when there is one. */
  readonly residualPlan?: string
  /** The last lines of the audits of its stacks; none: nothing was done. */
  readonly audit: readonly AuditHead[]
}

export async function applyPlan(input: ApplyInput): Promise<ApplyDone> {
  const {workspace, plan, observation} = input
  const before = workspace.usedRequests()
  const controls = await openControls(workspace, plan, input.whole?.plan ?? plan, input.breakGlass)
  const secrets = new RunSecrets(workspace, observation.pairs)
  secrets.assertAll(plan)
  const {accountOf} = workspace
  const {work, held} = plannedWork({plan, observation, secret: secrets.of, left: controls.left, undecided: input.undecided, accountOf})
  const said = new Set([...held.values()].flatMap(it => ('error' in it ? it.error : [])))
  const undecided = input.undecided.map(it => it.error).filter(it => !said.has(it))
  for (const {message} of undecided) input.emit({type: 'warning', message})
  let begun: ReturnType<typeof startRun> | undefined
  let isOver = false
  const interrupts = input.stoppable(
    () => begun && {id: begun.run, isOver},
    () => begun?.journal.close(),
  )
  const begin: typeof startRun = (...given) => {
    begun = startRun(...given)
    return begun
  }
  const over = () => {
    isOver = true
  }
  try {
    return {...(await underWay(input, {controls, secrets, work, held, before, begin, over, stop: interrupts.signal})), undecided}
  } finally {
    interrupts.off()
  }
}

interface UnderWay extends Pick<ApplyDone, 'before'>, ReturnType<typeof plannedWork> {
  readonly controls: OpenControls
  readonly secrets: RunSecrets
  readonly begin: typeof startRun
  /** Nothing is left that could be stopped. */
  readonly over: () => void
  readonly stop: AbortSignal
}

/** Ledgers are written from here on: whoever stops that stops it where each of them is whole, and locked still. */
async function underWay(
  input: ApplyInput,
  {controls, secrets, work, held, before, begin, over, stop}: UnderWay,
): Promise<Omit<ApplyDone, 'undecided'>> {
  const {workspace, plan, observation} = input
  const {host} = workspace
  const whole = input.whole?.plan ?? plan
  // As they are before anything of this run stands in them.
  const image = beforeImage(plan.operations, workspace.ledgers)
  const transfer = createRunId(host.clock, host.random)
  const arriving = auditArrivals(host, workspace.stores, transfer)
  if (await carryOver(transfer, plan.operations, workspace.stores, held, arriving)) await workspace.loadLedgers()
  const book = bookOf(workspace, plan, secrets)
  const recorded = new Map<string, Pick<Ledger, 'accounts'>>()
  for (const stack of workspace.stacks) recorded.set(stack.name, {accounts: await recordedAccounts(workspace, stack, plan)})
  for (const [stack, {accounts}] of recorded) book.setAccounts(stack, accounts)
  const accounts = accountsOf(workspace, recorded)
  const other = renamedAccount(plan.accounts, accounts)
  if (other !== undefined) throw new PlanTargetError(other)
  if (!plan.operations.some(it => it.action !== 'no-op')) return withRest(input, accounts, await nothingToDo(input, work, book))
  const {run, journal: file} = begin(host, input.approved, {
    ledgers: Object.fromEntries([...workspace.ownLedgers].map(([stack, {place}]) => [stack, place])),
    accounts,
    approved: permissionOf(input.lifts),
    before: image,
  })
  const {written, travelling, discreet} = journalsOf(input, run, file, book)
  const durations = new LearnedDurations(host)
  const limits = new LearnedLimits(workspace)
  const audit = new RunAudit(input, run, book)
  try {
    await audit.begin(() => written.append({type: 'end', summary: {}}, true))
    const options = {
      ...optionsOf({...input, emit: audit.emit}, run, book, discreet, stop, limits),
      supervision: controls.supervision,
      learned: durations.learn,
      durationMs: durations.of,
    }
    const result = await carryOut(work, observation, options)
    const interrupted = stop.aborted && result.stopped === true
    if (result.stopped !== true) over()
    if (![durations.save(), limits.save()].every(Boolean))
      input.warn('how long changes took, and how many may run at once, could not be remembered: the state folder cannot be written')
    if (limits.news !== undefined) input.warn(limits.news)
    for (const stack of workspace.stacks) book.setOutputs(stack.name, outputsOf(workspace, plan, stack.name, result))
    travelling?.ended()
    await audit.end(result, interrupted)
    // What the run did was read back before its journal said so; outputs and the rest are known to the next one.
    await book.save(run, host.clock, input.emit, false)
    const rest = restOf({...whole, accounts}, result, {kinds, approved: input.whole?.approved ?? input.approved, lifts: input.lifts})
    const residualPlan = rest && savedRest(input, run, rest)
    return {
      run,
      result: withLeftOut(result, input.whole?.leftOut ?? []),
      interrupted,
      requests: workspace.usedRequests(),
      before,
      audit: audit.heads,
      ...(residualPlan === undefined ? {} : {residualPlan}),
    }
  } catch (error) {
    await audit.broke(error)
    throw written.withRecord(error)
  } finally {
    audit.close()
    written.leave()
    file.close()
    tidyRuns(host, run)
  }
}

/** Where the rest is. That it could not be saved is said, and changes nothing of what was done. */
function savedRest({workspace: {host}, warn}: Pick<ApplyInput, 'workspace' | 'warn'>, run: string, rest: Plan): string | undefined {
  try {
    return writeResidual(host, run, rest)
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof AppError)) throw error
    const why = error instanceof Error ? error.message : String(error)
    warn(`what is left to do could not be saved as a plan (${why.replace(/\.$/, '')}): plan again, which plans it anew`)
    return undefined
  }
}

/** Where nothing is done, what was left out is the rest. */
function withRest<T extends Omit<ApplyDone, 'undecided'>>(input: ApplyInput, accounts: Plan['accounts'], done: T): T {
  const {
    workspace: {host},
    whole,
    lifts,
  } = input
  if (whole === undefined || whole.leftOut.length === 0) return done
  const rest = restOf({...whole.plan, accounts}, done.result, {kinds, approved: whole.approved, lifts})
  const residual = rest && savedRest(input, createRunId(host.clock, host.random), rest)
  const result = withLeftOut(done.result, whole.leftOut)
  return {...done, result, ...(residual === undefined ? {} : {residualPlan: residual})}
}

const permissionOf = ({accept: _, noDestroy: _no, ...permission}: Lifts): RunHeader['approved'] => ({
  ...permission,
  allowDestroy: [...permission.allowDestroy],
  adopt: [...permission.adopt],
})

function bookOf({ledgers, stores, sealer}: Workspace, plan: Plan, secrets: RunSecrets): LedgerBook {
  const book: LedgerBook = new LedgerBook(
    ledgers,
    stores,
    (ledger, closing) => sealer.seal(ledger, book.secretsOf(ledger.stack), secrets.ofStack(ledger.stack, plan), {closing}),
    (ledger, entry, known) => sealer.ahead(ledger, entry, known),
  )
  return book
}

type RunInput = Pick<ApplyInput, 'workspace' | 'plan' | 'observation' | 'emit' | 'maxInflight' | 'detach'>

/** On the disk, in the ledgers that are elsewhere, and what goes into both. */
function journalsOf({workspace, plan}: ApplyInput, run: string, file: JournalFile, book: LedgerBook) {
  const written = new RunJournal(run, file, () => workspace.usedRequests())
  const remote = new Set([...workspace.stores].flatMap(([stack, store]) => (store.isRemote ? [stack] : [])))
  const travelling = remote.size > 0 ? new TravellingJournal(run, written, book, remote, plan) : undefined
  return {written, travelling, discreet: new DiscreetJournal(travelling ?? written, workspace.host.redactor)}
}

function optionsOf(
  {workspace, emit, maxInflight, detach}: RunInput,
  run: string,
  book: LedgerBook,
  journal: Journal,
  stop: AbortSignal,
  limits = new LearnedLimits(workspace),
): CarryOutOptions {
  const {settings, host} = workspace
  const {pace, timeoutMs, lagMs} = runTiming(settings)
  return {
    run,
    backendOf: workspace.backendOf,
    accountOf: workspace.accountOf,
    clock: host.clock,
    wallClock: host.wallClock,
    sentDigest: (stack, where, secret) => workspace.sealer.sentDigest(book.ledger(stack) ?? emptyLedger(stack), where, secret),
    hides: value => host.redactor.value(value),
    learnsSecret: (value, of) => host.redactor.registerValue(value, of),
    variable: workspace.variable,
    book,
    journal,
    emit,
    limits: changeLimits(workspace, limits, maxInflight),
    narrowed: limits.learn,
    pace,
    timeoutMs,
    listLagMs: lagMs,
    detach,
    stop,
  }
}

/**
 * Writes what operations that send nothing make known into the ledgers; for commands that only take note.
 * @param outputs - whether the stacks' outputs are taken note of, too
 * @param events - what is said of it in the audits
 */
export async function recordPlan(
  workspace: Workspace,
  {plan, observation}: Pick<ApplyInput, 'plan' | 'observation'>,
  {outputs, events}: {readonly outputs: boolean; readonly events: readonly StackEvent[]},
): Promise<ApplyResult> {
  assertNothingOpen(workspace)
  const secrets = new RunSecrets(workspace, observation.pairs)
  secrets.assertAll(plan)
  const book = bookOf(workspace, plan, secrets)
  for (const stack of workspace.stacks) book.setAccounts(stack.name, await recordedAccounts(workspace, stack, plan))
  const input = {workspace, plan, observation, emit: () => {}, maxInflight: undefined, detach: false}
  const run = createRunId(workspace.host.clock, workspace.host.random)
  return auditedInBook(workspace, book, run, events, async () => {
    const {result} = await nothingToDo(input, plannedWork({plan, observation, secret: secrets.of}).work, book, {outputs})
    const failed = result.ended.find(it => it.state !== 'done')?.error
    if (failed !== undefined) throw failed
    return result
  })
}

/** Nothing is sent, so there is nothing to journal; the ledger may still learn of outputs and accounts. */
async function nothingToDo(
  input: RunInput,
  work: readonly Work[],
  book: LedgerBook,
  {outputs} = {outputs: true},
): Promise<Omit<ApplyDone, 'undecided'>> {
  const {workspace, plan, observation} = input
  const silent: Journal = {append: () => {}}
  const never = new AbortController().signal
  const run = createRunId(workspace.host.clock, workspace.host.random)
  const result = await carryOut(work, observation, {...optionsOf(input, run, book, silent, never), adoptsUnfinished: true})
  for (const stack of outputs ? workspace.stacks : []) book.setOutputs(stack.name, outputsOf(workspace, plan, stack.name, result))
  await book.flush()
  const requests = workspace.usedRequests()
  return {result, interrupted: false, requests, before: requests, audit: []}
}
