/**
 * What the commands about stacks share: opening a workspace with their options, and closing it whatever happens.
 *
 * A command line that does not parse should cost nothing: whatever brings kinds, schemas and clients along is imported
 * when there is work for it, here and in the commands.
 */
import type {LoadedDeclarations} from '../declaration/load.ts'
import type {StackDeclarations} from '../engine/declaration.ts'
import type {Emit} from '../engine/events.ts'
import type {Plan} from '../engine/plan.ts'
import {planText} from '../report/plan-text.ts'
import {BaseCommand} from './base-command.ts'
import {paintFor} from './context.ts'
import type {ConnectionFlagValues} from './flags.ts'
import {endingOnInterrupt, InterruptedError} from './interrupt.ts'
import type {StackSource, Workspace, WorkspaceOptions} from './workspace.ts'

export interface StackFlagValues extends ConnectionFlagValues {
  readonly 'synth-dir'?: string | undefined
  readonly stack?: readonly string[] | undefined
  readonly state?: string | undefined
  readonly 'max-requests'?: number | undefined
}

export abstract class StackCommand extends BaseCommand {
  protected opened: Workspace | undefined

  /** The last word of a command that is stopped before it changed anything. */
  protected sayStopped(): void {
    this.failAtOnce(new InterruptedError())
    this.logger.end()
  }

  protected async readDeclarations(flags: StackFlagValues, mode: StackSource['mode'] = 'plan'): Promise<LoadedDeclarations> {
    const {readDeclarations} = await import('./workspace.ts')
    return readDeclarations(this.context, this.argv, {
      synthDir: flags['synth-dir'],
      stacks: flags.stack,
      stateFile: flags.state,
      mode,
      onStopped: () => this.sayStopped(),
    })
  }

  /** Runs `work` in a workspace over these stacks; connections are closed afterwards in any case. */
  protected async inWorkspace<T>(
    {stacks, others, variable}: Pick<WorkspaceOptions, 'stacks' | 'others' | 'variable'>,
    flags: StackFlagValues,
    mode: 'plan' | 'full',
    work: (workspace: Workspace) => Promise<T>,
  ): Promise<T> {
    const [{Workspace}, {RequestAllowance}] = await Promise.all([import('./workspace.ts'), import('../transport/request-allowance.ts')])
    const allowance = flags['max-requests'] === undefined ? undefined : new RequestAllowance(flags['max-requests'])
    const open = () =>
      Workspace.open({
        context: this.context,
        argv: this.argv,
        connect: (api, target) => this.connect(api, flags, {target, bothApis: true}),
        stacks,
        others,
        variable,
        mode,
        allowance,
      })
    const workspace = await endingOnInterrupt(open, async usual => {
      this.sayStopped()
      return usual
    })
    this.opened = workspace
    try {
      return await work(workspace)
    } finally {
      await workspace.close()
    }
  }

  protected planText(plan: Plan): string {
    return planText(plan, paintFor(this.context.streams.stdout, this.context.environment))
  }

  /** Shows the events of an apply on standard error, as they happen, while `work` goes on. */
  protected async withProgress<T>({stacks}: Workspace, work: (emit: Emit) => Promise<T>): Promise<T> {
    const {showProgress} = await import('./progress.ts')
    const constructs = stacks
      .flatMap(stack => stack.declarations)
      .flatMap(({key, source: {construct}}) => (construct === undefined ? [] : [[key, construct] as const]))
    return showProgress(this.context, {several: stacks.length > 1, constructs: new Map(constructs)}, work)
  }
}
