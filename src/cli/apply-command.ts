/** `apply` and `destroy`: lock, settle what died, plan, guard, ask, carry out, prove. */

import type {ExitCode} from '../base/errors.ts'
import {shellWord} from '../base/shell-word.ts'
import {UsageError} from '../base/usage-error.ts'
import {type CodeHost, currentJob} from '../config/ci-job.ts'
import type {LoadedDeclarations} from '../declaration/read/load.ts'
import {Stopped} from '../engine/apply/run-context.ts'
import type {StackDeclarations} from '../engine/model/declaration.ts'
import type {Emit} from '../engine/model/events.ts'
import type {Lifts, Plan} from '../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../engine/model/value.ts'
import type {BuiltPlan} from '../engine/plan/build.ts'
import {applySummary, residualLines} from '../report/apply-text.ts'
import {runText} from '../report/run-text.ts'
import {visible} from '../report/terminal-text.ts'
import type {Settled} from '../run/apply/dead-runs.ts'
import type {ApplyOptions} from '../run/host/plan-options.ts'
import type {RunStory} from '../run/journal/run-files.ts'
import type {Connect, Workspace} from '../run/workspace/workspace.ts'
import {type Interrupts, KilledError, onInterrupt, SettlingStoppedError} from './interrupt.ts'
import {type PlanFlags, planOptions} from './parse/plan-options.ts'
import {variableOptions} from './parse/variable-options.ts'
import {type Context, paintFor} from './shell/context.ts'
import {someOf} from './show/some-of.ts'
import {StackCommand, type StackFlagValues} from './stack-command.ts'

const applyParts = () => import('./apply-parts.ts')
type Parts = Awaited<ReturnType<typeof applyParts>>

export interface ApplyFlagValues extends StackFlagValues, PlanFlags {
  readonly target?: readonly string[] | undefined
  readonly 'max-destroy'?: string | undefined
  readonly 'lock-timeout'?: number | undefined
  readonly 'auto-approve'?: boolean | undefined
  readonly 'max-inflight'?: number | undefined
  readonly approve?: string | undefined
  /** The commit in `--approve HASH@COMMIT`. */
  readonly approvedCommit?: string | undefined
  readonly 'approve-from'?: CodeHost | undefined
  readonly 'safe-only'?: boolean | undefined
  /** Why holds and freezes are passed. */
  readonly 'break-glass'?: string | undefined
  readonly foreign?: 'wait' | 'refuse' | 'ignore' | undefined
  /** `--no-wait` */
  readonly wait?: boolean | undefined
}

/** Several stacks, and none was named. */
function assertOneStack({stacks}: LoadedDeclarations, flags: StackFlagValues, command: string): void {
  if (stacks.length < 2 || (flags.stack?.length ?? 0) > 0) return
  throw new UsageError(`the app has ${stacks.length} stacks (${stacks.map(it => it.name).join(', ')}), and ${command} does not choose`, [
    `Name them: svcctl ${command} --stack ${shellWord(stacks[0]?.name ?? '')}, or --stack '*' for all.`,
  ])
}

export abstract class ApplyCommandBase extends StackCommand {
  /** Who approved the plan in its review, and when. */
  private approval: {readonly by: string; readonly at: string} | undefined

  protected async applyStacks(flags: ApplyFlagValues, destroy: boolean): Promise<ExitCode> {
    const {heldOperations, kinds, lastingPlan, lookAgain, planWorkspace, waitForOthers} = await applyParts()
    const options = planOptions(flags)
    const loaded = await this.readDeclarations(flags)
    assertOneStack(loaded, flags, destroy ? 'destroy' : 'apply')
    return this.inWorkspace(loaded, flags, 'full', workspace =>
      this.lockedWithProgress(workspace, flags, async emit => {
        const settled = await this.settled(workspace, emit, destroy ? 'nothing' : 'declared')
        const plan = () => planWorkspace(workspace, {options, destroy})
        const first = await plan()
        const waited = await waitForOthers(workspace, first.plan, flags.foreign ?? 'wait', emit, settled)
        const built = waited ? await plan() : first
        // A hash may be that of a plan that was saved, and names more.
        const other = flags['approve-from'] !== undefined || (flags.approve !== undefined && !built.plan.hash.startsWith(flags.approve))
        const approved = other ? await lastingPlan(workspace, built.plan) : built.plan
        const open = new Set(heldOperations(approved.operations, settled.unknown, {kinds, accountOf: workspace.accountOf}).keys())
        const again = (lifted: Pick<Lifts, 'allowDestroy' | 'adopt'>) =>
          lookAgain(workspace, {...built, plan: approved}, {options, destroy, lifted}, open)
        return this.carryOut(workspace, {...built, plan: approved, unknown: settled.unknown, again}, flags, emit)
      }),
    )
  }

  protected async applyFile(file: string, flags: ApplyFlagValues): Promise<ExitCode> {
    const {applyCommand, assertCommit, assertPlannedLedgers, begunBefore, begunRun, onceAlone, readPlan, recheckPlan, waitForOthers} =
      await applyParts()
    const plan = await readPlan(file, this.context.cwd)
    await this.reportPlan(plan, applyCommand(file, plan, flags))
    assertCommit(plan, flags.approvedCommit, flags.commit ?? headOfRequest(this.context))
    const {stacks, others} = flags['synth-dir'] === undefined ? {stacks: [], others: []} : await this.readDeclarations(flags)
    const granted = await this.grantedFrom(flags['approve-from'], plan)
    const approve = granted ?? (await inheritedApproval(this.context, plan, flags.approve))
    const assertLedgers = ({ownLedgers}: Workspace) => assertPlannedLedgers(plan, ownLedgers)
    return this.inPlanned(plan, {...flags, approve}, [...stacks, ...others], assertLedgers, async (workspace, emit) => {
      const settled = await this.settled(workspace, emit, 'declared')
      const {unknown, plans} = settled
      const options = planOptions({...flags, approve: granted ?? flags.approve})
      const begun = plans.has(plan.hash) ? begunRun(this.context, plan.hash) : undefined
      const before = () => begunBefore(this.context, plan.hash)
      const recheck = (given: ApplyOptions) => recheckPlan(workspace, plan, given, {undecided: unknown, begun, begunBefore: before})
      const alone = (planned: Plan) => waitForOthers(workspace, planned, flags.foreign ?? 'wait', emit, settled)
      const built = await onceAlone(plan, () => recheck(options), alone)
      const again = (lifted: Pick<Lifts, 'allowDestroy' | 'adopt'>) => recheck(withLifted(options, lifted))
      return this.carryOut(workspace, {...built, unknown, approved: plan, again}, {...flags, approve, 'approve-from': undefined}, emit)
    })
  }

  /** Finishes a run that did not end: what it started is settled, the rest of its plan is carried out. */
  protected async resume(run: string | undefined, flags: ApplyFlagValues): Promise<ExitCode> {
    const {assertOwnLedgers, begunRun, findRun, onceAlone, planOf, recheckPlan, RunPlanError, runToResume, waitForOthers} =
      await applyParts()
    const connect: Connect = (api, target) => this.connect(api, flags, {target, bothApis: true})
    const story = run === undefined ? await runToResume(this.context, {stateFile: flags.state, connect}) : findRun(this.context, run)
    const plan = await planOf(this.context, story.header)
    if (plan === undefined) throw new RunPlanError(story.header.run, 'gone')
    const permission = story.header.approved
    const allowed = {
      ...flags,
      'auto-approve': true,
      'allow-destroy': [...(flags['allow-destroy'] ?? []), ...permission.allowDestroy],
      adopt: [...(flags.adopt ?? []), ...permission.adopt],
      'skip-blocked': flags['skip-blocked'] || permission.skipBlocked,
      'skip-held': flags['skip-held'] || (flags['break-glass'] === undefined && permission.skipHeld),
      ...(permission.maxDestroy === undefined ? {} : {'max-destroy': permission.maxDestroy}),
      ...(permission.refuseRisky === false && flags['refuse-risky'] === undefined ? {'refuse-risky': false} : {}),
      ...(permission.onDrift === undefined || flags['on-drift'] !== undefined ? {} : {'on-drift': permission.onDrift}),
    }
    const {stacks, others} = flags['synth-dir'] === undefined ? {stacks: [], others: []} : await this.readDeclarations(flags)
    const assertLedgers = ({ownLedgers}: Workspace) => assertOwnLedgers(story, ownLedgers)
    return this.inPlanned(
      {...plan, accounts: story.header.accounts},
      flags,
      [...stacks, ...others],
      assertLedgers,
      async (workspace, emit) => {
        const settled = await this.settled(workspace, emit, 'declared')
        const {unknown} = settled
        // What was open when the run died is settled now, and may be half of a replacement.
        const begun = begunRun(this.context, plan.hash, story.header.run)
        const recheck = () => recheckPlan(workspace, plan, planOptions(allowed), {undecided: unknown, resumed: true, begun})
        const built = await onceAlone(plan, recheck, planned => waitForOthers(workspace, planned, flags.foreign ?? 'wait', emit, settled))
        return this.carryOut(workspace, {...built, unknown, approved: plan, again: recheck}, allowed, emit)
      },
    )
  }

  /** Waits for what a run has in flight, and starts nothing. */
  protected async attach(run: string, flags: ApplyFlagValues): Promise<ExitCode> {
    const {assertOwnLedgers, attachedDocument, attachedExit, findRun, planOf, RunPlanError, waitForRun} = await applyParts()
    const story = await waitForRun(this.context, run, flags.timeout)
    const plan = await planOf(this.context, story.header)
    if (plan === undefined) throw new RunPlanError(story.header.run, 'gone')
    const tell = async (attached: Parameters<typeof attachedDocument>[0]) => {
      await this.print(attachedDocument(attached), {text: () => runText({...attached.story, operations: attached.plan.operations})})
      return attachedExit(attached)
    }
    if (story.ended) return tell({story, plan, unknown: [], requests: 0})
    const assertLedgers = ({ownLedgers}: Workspace) => assertOwnLedgers(story, ownLedgers)
    const wait = async (workspace: Workspace, emit: Emit) => {
      const {unknown} = await this.settled(workspace, emit, 'nothing', story)
      return tell({story: findRun(this.context, run), plan, unknown, requests: workspace.usedRequests()})
    }
    return this.inPlanned({...plan, accounts: story.header.accounts}, flags, [], assertLedgers, wait, 'ignore')
  }

  /** @param assertLedgers - whether the ledgers are those that are meant: asked before their locks are taken, for which folders may be made */
  private async inPlanned(
    plan: Plan,
    flags: ApplyFlagValues,
    stacks: readonly StackDeclarations[],
    assertLedgers: (workspace: Workspace) => void,
    work: (workspace: Workspace, emit: Emit) => Promise<ExitCode>,
    frozen?: 'ignore',
  ): Promise<ExitCode> {
    const {assertStacks, assertTarget, goingOf, hideSecretsOf, inStateFile, othersOf, planSecrets, planStacks, variableLookup} =
      await applyParts()
    assertStacks(plan, flags.stack ?? [])
    const variables = variableOptions(this.argv)
    const sources = {cwd: this.context.cwd, environment: this.context.environment.all, variables}
    const variable = await variableLookup(sources, [...plan.stacks.map(it => it.name), ...(plan.otherStacks ?? []).map(it => it.name)])
    const secret = planSecrets(variable, stacks, this.context.redactor)
    hideSecretsOf(plan, variable, secret, this.context.redactor)
    const planned = planStacks(plan, secret).map(it => inStateFile(it, flags.state))
    return this.inWorkspace(
      {stacks: planned, others: othersOf(plan, stacks), going: goingOf(plan, new Map()), variable},
      flags,
      'full',
      async workspace => {
        await assertTarget(workspace, plan)
        assertLedgers(workspace)
        const run = (emit: Emit) => {
          // They may have become others while the locks were waited for.
          assertLedgers(workspace)
          return work(workspace, emit)
        }
        return this.lockedWithProgress(workspace, flags, run, frozen)
      },
    )
  }

  private lockedWithProgress<T>(
    workspace: Workspace,
    flags: ApplyFlagValues,
    work: (emit: Emit) => Promise<T>,
    frozen?: 'ignore',
  ): Promise<T> {
    const obeys = flags['break-glass'] === undefined ? 'obey' : 'break glass'
    return this.locked(workspace, flags['lock-timeout'], () => this.withProgress(work), frozen ?? obeys)
  }

  /** @param made - what is made behind it, where nothing of it is there */
  private async settled(workspace: Workspace, emit: Emit, made: 'declared' | 'nothing', only?: RunStory): Promise<Settled> {
    const {settleDeadRuns} = await applyParts()
    const travelled = [...workspace.ledgers.values()].some(it => it.pending !== undefined)
    this.assertNotStopped()
    const interrupts = onInterrupt(
      () => this.logger.warn('stopping: what the dead run left stays as it is, and the next run looks again'),
      () => this.failAtOnce(new SettlingStoppedError()),
    )
    try {
      const declared = new Set(made === 'nothing' ? [] : workspace.stacks.flatMap(it => it.declarations.map(({key}) => key)))
      const isWanted = (key: Key) => declared.has(key)
      const settled = await settleDeadRuns(workspace, {emit, signal: interrupts.signal, only, isWanted})
      this.changed ||= travelled || settled.runs.length > 0
      // It may have come to its end all the same; whoever was told to stop begins nothing behind it.
      if (interrupts.signal.aborted) throw new SettlingStoppedError()
      return settled
    } catch (error) {
      throw error instanceof Stopped ? new SettlingStoppedError() : error
    } finally {
      interrupts.off()
    }
  }

  private async reportApply(plan: Plan, document: ReturnType<Parts['applyDocument']>): Promise<void> {
    if (this.reports === undefined) return
    const {applyReport} = await import('../report/document/of-apply.ts')
    const options = await this.planReportOptions()
    const timeline = this.recorded?.timeline
    this.reports.learn(frame => applyReport(frame, plan, document, {...options, ...(timeline === undefined ? {} : {timeline})}))
  }

  /** The hash, where reviewers have approved this plan. @throws NotApprovedError */
  private async grantedFrom(host: CodeHost | undefined, plan: Plan): Promise<string | undefined> {
    if (host === undefined) return undefined
    const [{approvedOn}, {applyCommand}] = await Promise.all([import('../run/reports/review.ts'), import('./show/next-command.ts')])
    const options = await this.planReportOptions(applyCommand('FILE', plan, {}))
    const {by, at} = await approvedOn(this.context, host, plan, options)
    this.approval = {by, at: new Date(at).toISOString()}
    this.logger.note(`approved by ${by} at ${this.approval.at}`)
    return plan.hash
  }

  private sayNotChecked(keys: readonly Key[], {stacks}: Workspace): void {
    if (keys.length === 0) return
    this.logger.note(`Not read again, because this plan does not change them: ${someOf(keys, stacks)}`)
  }

  /** @param run - which it is, once it has begun */
  private stoppedWhileWriting(run: () => {readonly id: string; readonly isOver: boolean} | undefined, atOnce: () => void): Interrupts {
    this.beginChanging()
    return onInterrupt(
      () => {
        const begun = run()
        if (begun?.isOver) return this.logger.note('nothing is left to stop: what the run has done is being written')
        const what =
          begun === undefined ? 'nothing was sent' : `what is in flight goes on without us; resume with: svcctl apply --resume ${begun.id}`
        this.logger.warn(`stopping: ${what}`)
      },
      () => {
        atOnce()
        const begun = run()
        if (begun !== undefined) this.failAtOnce(new KilledError(begun.id))
      },
    )
  }

  /** Shows the plan, has it approved, carries it out, and says what came of it. */
  private async carryOut(workspace: Workspace, built: ToCarryOut, flags: ApplyFlagValues, emit: Emit): Promise<ExitCode> {
    const {
      applyDocument,
      applyExit,
      applyPlan,
      approveFresh,
      assertCommit,
      kinds,
      notChecked,
      pastHolds,
      planAgain,
      PlanRefusedError,
      safePart,
    } = await applyParts()
    const {unknown} = built
    // Of `--safe-only` a part is carried out; what is approved is the whole.
    const breakGlass = flags['break-glass']
    const passed = (plan: Plan) => (breakGlass === undefined ? plan : pastHolds(plan))
    const partOf = (whole: Plan) => (flags['safe-only'] ? safePart(passed(whole), kinds) : {plan: passed(whole), leftOut: undefined})
    const asked = {...partOf(built.plan).plan, hash: built.plan.hash}
    if (built.approved === undefined) await this.reportPlan(built.plan, this.context.here.text(planAgain(built.plan)))
    assertCommit(built.plan, flags.approvedCommit, flags.commit)
    if (!this.forPrograms) await this.write(visible(this.planText(built.plan)))
    if (!this.forPrograms && built.approved !== undefined) this.sayNotChecked(notChecked(built.approved), workspace)
    workspace.assertAffordable(asked)
    const approval = {
      autoApprove: flags['auto-approve'] ?? false,
      approve: (await this.grantedFrom(flags['approve-from'], built.plan)) ?? flags.approve,
    }
    const {lifted, fresh} = await approveFresh(this.context, asked, approval, async given => {
      this.logger.note('the question stood for a while: what the plan touches is read again')
      await workspace.readAnew()
      return built.again(given)
    })
    const {plan: whole, observation} = fresh ?? built
    const {plan, leftOut} = partOf(whole)
    if (leftOut !== undefined && leftOut.length > 0)
      this.logger.note(
        `left out by --safe-only: ${leftOut.length} of ${plan.operations.length + leftOut.length}: ${someOf(
          leftOut.map(it => keyOfOperation(it.operation)),
          workspace.stacks,
        )}`,
      )
    if (fresh !== undefined) {
      if (plan.guards.length > 0) throw new PlanRefusedError(plan)
      workspace.assertAffordable(plan)
    }
    const done = await applyPlan({
      workspace,
      plan,
      breakGlass,
      undecided: unknown,
      // A run that is resumed later does this part too, and no more.
      approved: leftOut === undefined ? (built.approved ?? built.plan) : plan,
      whole: leftOut && {plan: whole, approved: built.approved ?? built.plan, leftOut},
      lifts: {
        ...plan.lifts,
        allowDestroy: [...plan.lifts.allowDestroy, ...lifted.allowDestroy],
        adopt: [...plan.lifts.adopt, ...lifted.adopt],
      },
      observation,
      emit,
      maxInflight: flags['max-inflight'],
      approval: this.approval,
      detach: flags.wait === false,
      warn: text => this.logger.warn(text),
      stoppable: (run, atOnce) => this.stoppedWhileWriting(run, atOnce),
    })
    const paint = paintFor(this.context.streams.stdout, this.context.environment)
    const ended = applyDocument(done, whole, built.approved)
    const document: typeof ended = this.approval === undefined ? ended : Object.assign(ended, {approval: this.approval})
    await this.reportApply(whole, document)
    if (this.forPrograms)
      for (const text of residualLines(done.result, whole.stacks.length > 1, this.context.here.text)) this.logger.warn(text)
    await this.print(document, {text: () => applySummary({...done, bill: plan.bill}, paint, this.context.here.text)})
    return applyExit(done)
  }
}

/** The commit a review is about, as the job of a pull request knows it; after a merge it is another one. */
function headOfRequest({environment}: Pick<Context, 'environment'>): string | undefined {
  const job = currentJob(environment.all)
  return job?.request === undefined ? undefined : job.commit
}

/** What is left of an approved plan needs no new approval: the hash of the whole one holds for a strict subset of it. */
async function inheritedApproval(context: Context, plan: Plan, approve: string | undefined): Promise<string | undefined> {
  if (approve === undefined || plan.residualOf === undefined || !plan.residualOf.startsWith(approve)) return approve
  const {isSubset, planOf, readRuns} = await applyParts()
  for (const story of readRuns(context).stories) {
    if (story.header.plan !== plan.residualOf) continue
    const whole = await planOf(context, story.header)
    if (whole?.hash === plan.residualOf && isSubset(plan, whole)) return plan.hash
  }
  return approve
}

/** Options as if what a person allowed at the prompt had stood among them. */
const withLifted = (options: ApplyOptions, {allowDestroy, adopt}: Pick<Lifts, 'allowDestroy' | 'adopt'>): ApplyOptions => ({
  ...options,
  ...(allowDestroy.length === 0 ? {} : {allowDestroy: [...(options.allowDestroy ?? []), ...allowDestroy]}),
  ...(adopt.length === 0 ? {} : {adopt: [...(options.adopt ?? []), ...adopt]}),
})

interface ToCarryOut extends BuiltPlan {
  /** The same from facts of now, with what a person has allowed. @throws StalePlanError */
  readonly again: (lifted: Pick<Lifts, 'allowDestroy' | 'adopt'>) => Promise<BuiltPlan>
  readonly unknown: Settled['unknown']
  /** The plan that was approved, where `plan` is what is left of it. */
  readonly approved?: Plan
}
