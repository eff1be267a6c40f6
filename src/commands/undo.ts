import {existsSync} from 'node:fs'
import {dirname, resolve} from 'node:path'
import {plainIndentedJson} from '../base/indented-json.ts'
import {asJson} from '../base/json.ts'
import {UsageError} from '../base/usage-error.ts'
import {bothApisFlags, durationFlag} from '../cli/parse/flags.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {planOptions} from '../cli/parse/plan-options.ts'
import {commitFlags, guardFlags, ledgerFlags} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'

export default class UndoCommand extends ReadingStackCommand {
  static override summary = 'plan the way back to what was applied before a run'
  static override description =
    'Writes an ordinary plan: show it, get it approved, apply it. Changes that somebody made since the run stay. The command lists what no plan can bring back: deleted or replaced data, secrets, what the API cannot change. Your code is not touched: it still declares what the run did.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 20261122T101500123-1a2b3c --out undo.plan',
    "<%= config.bin %> <%= command.id %> 20261122T101500123-1a2b3c --out undo.plan --allow-destroy '*' --output json",
  ]
  static override args = {run: Args.string({description: 'a run as "svcctl runs list" names it', required: true, ignoreStdin: true})}
  static override flags = {
    ...bothApisFlags,
    state: ledgerFlags.state,
    out: Flags.string({summary: 'where the plan is written, for svcctl apply FILE', helpValue: '<file>', required: true}),
    'valid-for': durationFlag({summary: 'how long the plan may be applied'}),
    ...commitFlags,
    recreate: Flags.boolean({summary: 'make again, empty, what the run deleted or replaced', helpGroup: 'SAFETY'}),
    'allow-destroy': guardFlags['allow-destroy'],
    'max-destroy': guardFlags['max-destroy'],
    'refuse-risky': guardFlags['refuse-risky'],
    'max-requests': ledgerFlags['max-requests'],
    reserve: ledgerFlags.reserve,
  }

  protected async read(): Promise<undefined> {
    const {args, flags} = await this.parse(UndoCommand)
    const {out} = flags
    if (!existsSync(dirname(resolve(this.context.cwd, out))))
      throw new UsageError(`--out ${out}: there is no folder ${dirname(out)}`, ['Make the folder first, or name another file.'])
    const [{assertOpen}, {openUndo}, {undoDocument}, {applyCommand}, {writeNamedFile}] = await Promise.all([
      import('../run/workspace/controls.ts'),
      import('../run/undo/open-undo.ts'),
      import('../run/undo/undo-document.ts'),
      import('../cli/show/next-command.ts'),
      import('../base/named-file.ts'),
    ])
    const opened = await openUndo(this.context, args.run, {stateFile: flags.state})
    const done = await this.inWorkspace(opened, flags, 'plan', async workspace => {
      await assertOpen(workspace.controls)
      return opened.undo(workspace, {recreate: flags.recreate ?? false, options: planOptions(flags), validForMs: flags['valid-for']})
    })
    const {plan} = done
    await writeNamedFile(out, plainIndentedJson(asJson(plan)), this.context)
    await this.print(asJson(undoDocument(args.run, out, done)), {text: () => this.planText(plan)})
    const next = plan.guards.length > 0 ? 'A guard refuses it; see above.' : `Apply it with: ${applyCommand(out, plan, flags)}`
    this.logger.note(`Saved to ${out}. ${next}`)
  }
}
