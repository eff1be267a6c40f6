/** `apply` and `destroy`: lock, plan, guard, ask, carry out, prove. */
import type {ExitCode} from '../base/errors.ts'
import type {LoadedDeclarations} from '../declaration/load.ts'
import {variableLookup} from '../declaration/variable-lookup.ts'
import type {BuiltPlan} from '../engine/build-plan.ts'
import {applySummary} from '../report/apply-text.ts'
import {applyDocument, applyExit, applyPlan} from './apply-run.ts'
import {approvePlan} from './approve.ts'
import {paintFor} from './context.ts'
import {type PlanFlags, planWorkspace} from './plan-run.ts'
import {planSecrets, planStacks, readPlan, recheckPlan} from './saved-plan.ts'
import {StackCommand, type StackFlagValues} from './stack-command.ts'
import {variableOptions} from './stack-flags.ts'
import {UsageError} from './usage-error.ts'
import type {Workspace} from './workspace.ts'

export interface ApplyFlagValues extends StackFlagValues, PlanFlags {
  readonly target?: readonly string[] | undefined
  readonly 'max-destroy'?: string | undefined
  readonly 'lock-timeout'?: number | undefined
  readonly 'auto-approve'?: boolean | undefined
  readonly 'max-inflight'?: number | undefined
  readonly approve?: string | undefined
}

/** Several stacks, and none was named. */
function assertOneStack({stacks}: LoadedDeclarations, flags: StackFlagValues, command: string): void {
  if (stacks.length < 2 || (flags.stack?.length ?? 0) > 0) return
  throw new UsageError(`the app has ${stacks.length} stacks (${stacks.map(it => it.name).join(', ')}), and ${command} does not choose`, [
    `Name them: svcctl ${command} --stack ${stacks[0]?.name ?? ''}, or --stack '*' for all.`,
  ])
}

export abstract class ApplyCommandBase extends StackCommand {
  protected async applyStacks(flags: ApplyFlagValues, destroy: boolean): Promise<ExitCode> {
    const loaded = await this.readDeclarations(flags)
    assertOneStack(loaded, flags, destroy ? 'destroy' : 'apply')
    return this.inWorkspace(loaded, flags, 'full', workspace =>
      this.locked(workspace, flags, async () => {
        const built = await planWorkspace(workspace, {flags, destroy})
        return this.carryOut(workspace, built, flags)
      }),
    )
  }

  /** Holds the locks of all stacks while `work` goes on; ledgers are read under them. */
  protected async locked<T>(workspace: Workspace, flags: ApplyFlagValues, work: () => Promise<T>): Promise<T> {
    const unlock = await workspace.lock(flags['lock-timeout'] ?? 0)
    try {
      await workspace.loadLedgers()
      return await work()
    } finally {
      await unlock()
    }
  }

  /** Shows the plan, has it approved, carries it out, and says what came of it. */
  protected async carryOut(workspace: Workspace, {plan, observation}: BuiltPlan, flags: ApplyFlagValues): Promise<ExitCode> {
    if (!this.forPrograms) await this.write(this.context.redactor.text(this.planText(plan)))
    await approvePlan(this.context, plan, {autoApprove: flags['auto-approve'] ?? false, approve: flags.approve})
    const emit = this.progress()
    const done = await applyPlan({
      workspace,
      plan,
      observation,
      emit,
      maxInflight: flags['max-inflight'],
      warn: text => this.logger.warn(text),
    })
    const paint = paintFor(this.context.streams.stdout, this.context.environment)
    await this.print(applyDocument(done, plan), {text: () => applySummary(done.result, done.requests, paint)})
    return applyExit(done)
  }

  protected async applyFile(file: string, flags: ApplyFlagValues): Promise<ExitCode> {
    const plan = await readPlan(file)
    const {stacks, others} = flags['synth-dir'] === undefined ? {stacks: [], others: []} : await this.readDeclarations(flags)
    const variables = variableOptions(this.argv)
    const variable = await variableLookup({cwd: this.context.cwd, environment: this.context.environment.all, variables})
    const planned = planStacks(plan, planSecrets(variable, [...stacks, ...others]))
    return this.inWorkspace({stacks: planned, others: []}, flags, 'full', workspace =>
      this.locked(workspace, flags, async () => this.carryOut(workspace, await recheckPlan(workspace, plan, flags), flags)),
    )
  }
}
