/**
 * What the commands about stacks share: opening a workspace with their options, and closing it whatever happens.
 *
 * A command line that does not parse should cost nothing: whatever brings kinds, schemas and clients along is imported
 * when there is work for it, here and in the commands.
 */
import {existsSync} from 'node:fs'
import {dirname, resolve} from 'node:path'
import {EXIT, type ExitCode} from '../base/errors.ts'
import {placeToWrite} from '../base/file-place.ts'
import {plainIndentedJson} from '../base/indented-json.ts'
import {asJson} from '../base/json.ts'
import {UsageError} from '../base/usage-error.ts'
import type {LoadedDeclarations} from '../declaration/read/load.ts'
import type {StackDeclarations} from '../engine/model/declaration.ts'
import type {Emit} from '../engine/model/events.ts'
import type {Plan} from '../engine/model/plan.ts'
import {planTable, planText} from '../report/plan-text.ts'
import type {Stoppable} from '../run/ledgers/locked-ledgers.ts'
import type {StackSource} from '../run/workspace/declarations.ts'
import type {LedgerDesk} from '../run/workspace/ledger-desk.ts'
import type {Workspace, WorkspaceOptions} from '../run/workspace/workspace.ts'
import {endingOnInterrupt, InterruptedError, onInterrupt} from './interrupt.ts'
import type {ConnectionFlagValues} from './parse/flags.ts'
import {type PlanFlags, planOptions} from './parse/plan-options.ts'
import {variableOptions} from './parse/variable-options.ts'
import {ReportingCommand} from './reporting-command.ts'
import {paintFor} from './shell/context.ts'

export interface StackFlagValues extends ConnectionFlagValues {
  readonly 'synth-dir'?: string | undefined
  readonly 'synth-env'?: readonly string[] | undefined
  readonly stack?: readonly string[] | undefined
  readonly state?: string | undefined
  readonly 'max-requests'?: number | undefined
}

export interface PlanFlagValues extends StackFlagValues, PlanFlags {
  readonly out?: string | undefined
  readonly 'valid-for'?: number | undefined
  readonly scope?: 'all' | 'changed' | undefined
  readonly 'detailed-exitcode'?: boolean | undefined
}

export abstract class StackCommand extends ReportingCommand {
  protected opened: Workspace | undefined
  /** Something was changed: whoever stops the command now is not told otherwise. */
  protected changed = false

  /** Whoever stopped the command while its locks were taken, or had them given back. */
  #stopped: AbortSignal | undefined

  /** Tells what is shown; `undefined` while nothing is. */
  #emit: Emit | undefined

  /**
   * Right before something is written: whoever stopped the command meanwhile was told that nothing was changed.
   * @throws InterruptedError
   */
  protected assertNotStopped(): void {
    if (this.#stopped?.aborted) throw new InterruptedError()
  }

  /** @throws InterruptedError */
  protected beginChanging(): void {
    this.assertNotStopped()
    this.changed = true
  }

  /** The last word of a command that is stopped before it changed anything. */
  protected sayStopped(): void {
    this.failAtOnce(new InterruptedError())
    this.logger.end()
  }

  /** Of commands that only write ledgers. */
  protected get stoppable(): Stoppable {
    return {
      waiting: (work, end) =>
        endingOnInterrupt(work, async usual => {
          this.sayStopped()
          await end()
          return usual
        }),
      finishing: (until = 'the ledgers are written') =>
        onInterrupt(
          () => this.logger.warn(`stopping as soon as ${until}`),
          () => {},
        ).off,
    }
  }

  /** While `work` only reads: whoever stops it is told so, and what it had opened is given back. */
  protected reading<T>(work: () => Promise<T>): Promise<T> {
    return endingOnInterrupt(work, async usual => {
      this.sayStopped()
      await this.opened?.close()
      return usual
    })
  }

  protected async readDeclarations(flags: StackFlagValues, mode: StackSource['mode'] = 'plan'): Promise<LoadedDeclarations> {
    const app = new AbortController()
    const source = {
      synthDir: flags['synth-dir'],
      synthEnvironment: flags['synth-env'],
      stacks: flags.stack,
      stateFile: flags.state,
      mode,
      variables: variableOptions(this.argv),
      signal: app.signal,
    }
    if (source.synthDir === undefined) (await import('../run/workspace/project.ts')).assertProject(this.context)
    const {readDeclarations} = await import('../run/workspace/declarations.ts')
    let reading: Promise<LoadedDeclarations> | undefined
    const read = (leaveToSystem: () => void) => (emit: Emit) => {
      const onApp = (app: string) => emit({type: 'reading', doing: `Running the app: ${app}`})
      const onEvaluate = () => {
        emit({type: 'reading'})
        leaveToSystem()
      }
      reading = readDeclarations(this.context, {...source, onApp, onEvaluate})
      return reading
    }
    const loaded = await endingOnInterrupt(
      leaveToSystem => this.showing([], read(leaveToSystem)),
      async usual => {
        app.abort()
        await reading?.catch(() => undefined)
        this.sayStopped()
        return usual
      },
    )
    this.reports?.learnStacks(loaded.stacks.map(it => it.name))
    return loaded
  }

  /** The ledgers of the app, and those left beside them, with the chosen one in the file of `--state`. */
  protected async openDesk(flags: StackFlagValues): Promise<LedgerDesk> {
    const loaded = await this.readDeclarations({...flags, stack: undefined, state: undefined}, 'validate')
    const {LedgerDesk} = await import('../run/workspace/ledger-desk.ts')
    const {meantAccounts} = await import('./meant-accounts.ts')
    return LedgerDesk.open(this.context, loaded, this.stoppable, {
      stacks: flags.stack ?? [],
      file: flags.state,
      accounts: targets => meantAccounts(this.context, flags.profile, targets),
    })
  }

  /** The ledgers that lie in the working folder, whether there is an app or not. */
  protected async openDeskOfFolder(): Promise<LedgerDesk> {
    const {LedgerDesk} = await import('../run/workspace/ledger-desk.ts')
    return LedgerDesk.open(this.context, {stacks: [], others: []}, this.stoppable, {
      stacks: [],
      file: undefined,
      accounts: () => Promise.resolve([]),
    })
  }

  /** Runs `work` in a workspace over these stacks; connections are closed afterwards in any case. */
  protected async inWorkspace<T>(
    {stacks, others, going, variable}: Pick<WorkspaceOptions, 'stacks' | 'others' | 'going' | 'variable'>,
    flags: StackFlagValues,
    mode: 'plan' | 'full',
    work: (workspace: Workspace) => Promise<T>,
  ): Promise<T> {
    const [{Workspace}, {RequestAllowance}, {readingOf}] = await Promise.all([
      import('../run/workspace/workspace.ts'),
      import('../transport/request-allowance.ts'),
      import('./reading-events.ts'),
    ])
    const allowance = flags['max-requests'] === undefined ? undefined : new RequestAllowance(flags['max-requests'])
    return this.showing(stacks, async emit => {
      const reading = readingOf('Reading live state', emit)
      const open = () =>
        Workspace.open({
          host: this.context,
          variables: variableOptions(this.argv),
          connect: (api, target) => this.connect(api, flags, {target, bothApis: true}),
          stacks,
          others,
          going,
          variable,
          mode,
          allowance,
          onEvent: event => {
            reading(event)
            if (event.type === 'request' && event.status === 429) this.recorded?.refused()
          },
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
    })
  }

  /**
   * Holds the locks of all stacks while `work` goes on; ledgers are read under them. Whoever takes them is about to change
   * something, and is refused where that is frozen.
   *
   * @param frozen - `obey` unless told: freezes count; `break glass`: only strict ones; `ignore`: it changes nothing
   * @throws FrozenError, ControlsError
   */
  protected async locked<T>(
    workspace: Workspace,
    lockTimeoutMs: number | undefined,
    work: () => Promise<T>,
    frozen: 'obey' | 'break glass' | 'ignore' = 'obey',
  ): Promise<T> {
    const [{givenBack, lockedUntil}, {assertOpen}] = await Promise.all([
      import('../run/ledgers/locked-ledgers.ts'),
      import('../run/workspace/controls.ts'),
    ])
    const open = async () => {
      if (frozen !== 'ignore') await assertOpen(workspace.controls, frozen === 'break glass')
    }
    await this.reading(open)
    const stop = new AbortController()
    this.#stopped = stop.signal
    const taking = workspace.lock(lockTimeoutMs ?? 0, stop.signal)
    const run = async () => {
      await taking
      // Somebody may have frozen it while the lock was waited for.
      await open()
      await workspace.loadLedgers()
      return work()
    }
    // While nothing is at stake (a lock is waited for, a plan is made, a person is asked): what was taken is given back.
    const reading = () =>
      endingOnInterrupt(run, async usual => {
        if (!this.changed) this.sayStopped()
        await givenBack(stop, taking)
        return usual
      })
    const finishing = () =>
      onInterrupt(
        () => this.logger.warn('stopping as soon as the locks are given back'),
        () => {},
      ).off
    return lockedUntil(reading, taking, {log: this.logger, finishing})
  }

  /** Makes a plan, saves it where that is asked for, and prints it. Changes nothing. */
  protected async makePlan(flags: PlanFlagValues, destroy: boolean): Promise<ExitCode> {
    if (flags.out !== undefined && !existsSync(resolve(this.context.cwd, dirname(flags.out))))
      throw new UsageError(`--out ${flags.out}: there is no folder ${dirname(flags.out)}`, ['Make the folder first, or name another file.'])
    // What cannot hold a plan is refused before anything is read.
    const place = flags.out === undefined ? undefined : placeToWrite(flags.out, this.context.cwd)
    const loaded = await this.readDeclarations(flags)
    const [
      {lastingPlan, outputsToRecord, planWorkspace},
      {openRequests, UnsettledRunError},
      {AmbiguousIdentityError},
      {applyCommand, planAgain},
      {writeNamedFile},
    ] = await Promise.all([
      import('../run/plan/plan.ts'),
      import('../run/apply/open-requests.ts'),
      import('../engine/plan/build.ts'),
      import('./show/next-command.ts'),
      import('../base/named-file.ts'),
    ])
    const {plan, outputs} = await this.inWorkspace(loaded, flags, 'plan', async workspace => {
      const notes = await openRequests(workspace)
      const built = await planWorkspace(workspace, {
        options: planOptions(flags),
        validForMs: flags['valid-for'],
        notes,
        destroy,
        onlyChanged: !destroy && flags.scope === 'changed',
      }).catch(error => {
        throw notes.length > 0 && error instanceof AmbiguousIdentityError ? new UnsettledRunError(notes, error) : error
      })
      const plan = flags.out === undefined ? built.plan : await lastingPlan(workspace, built.plan)
      return {plan, outputs: outputsToRecord(plan, workspace.ledgers)}
    })
    await this.reportPlan(plan, flags.out === undefined ? this.context.here.text(planAgain(plan)) : applyCommand(flags.out, plan, flags))
    if (flags.out !== undefined) {
      await writeNamedFile(flags.out, plainIndentedJson(asJson(plan)), this.context)
      const next = plan.guards.length > 0 ? 'A guard refuses it; see above.' : `Apply it with: ${applyCommand(flags.out, plan, flags)}`
      this.logger.note(place?.is === 'stream' ? `The plan was written to ${flags.out}` : `Saved to ${flags.out}. ${next}`)
    }
    await this.print(asJson(plan), {text: () => this.planText(plan), table: widest => planTable(plan, widest)})
    const operates = plan.operations.some(it => it.action !== 'no-op')
    if (!operates && outputs.length > 0) this.logger.note(`apply will record the outputs ${outputs.join(', ')}`)
    const pending = operates || outputs.length > 0
    if (!flags['detailed-exitcode']) return EXIT.ok
    return plan.guards.length > 0 ? EXIT.refused : pending ? EXIT.changes : EXIT.ok
  }

  protected planText(plan: Plan): string {
    return planText(plan, paintFor(this.context.streams.stdout, this.context.environment), this.context.here.text)
  }

  /** `work` with what tells the events of an apply, which are shown while they happen. */
  protected async withProgress<T>(work: (emit: Emit) => Promise<T>): Promise<T> {
    const {recorded} = this
    return this.showing([], emit =>
      work(event => {
        recorded?.on(event)
        emit(event)
      }),
    )
  }

  /** Shows on standard error what goes on during `work`, in the one view that there is. */
  private async showing<T>(stacks: readonly StackDeclarations[], work: (emit: Emit) => Promise<T>): Promise<T> {
    if (this.#emit !== undefined) return work(this.#emit)
    const {showProgress} = await import('./show/progress.ts')
    const constructs = stacks
      .flatMap(stack => stack.declarations)
      .flatMap(({key, source: {construct}}) => (construct === undefined ? [] : [[key, construct] as const]))
    return showProgress(this.context, {several: stacks.length > 1, constructs: new Map(constructs)}, async emit => {
      this.#emit = emit
      try {
        return await work(emit)
      } finally {
        this.#emit = undefined
      }
    })
  }
}
