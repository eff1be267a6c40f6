import {existsSync} from 'node:fs'
import {dirname} from 'node:path'
import {writeFileAtomic} from '../base/atomic-file.ts'
import {EXIT} from '../base/errors.ts'
import {asJson} from '../base/json.ts'
import {durationFlag} from '../cli/flags.ts'
import {Flags} from '../cli/oclif.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {planningFlags} from '../cli/stack-flags.ts'
import {UsageError} from '../cli/usage-error.ts'
import {planTable} from '../report/plan-text.ts'

export default class PlanCommand extends ReadingStackCommand {
  static override summary = 'show what apply would change, and change nothing'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --stack shop --out shop.plan',
    '<%= config.bin %> <%= command.id %> --target null_resource.cache --detailed-exitcode',
  ]
  static override flags = {
    ...planningFlags,
    out: Flags.string({summary: 'save the plan, for svcctl apply FILE', helpValue: '<file>'}),
    'valid-for': durationFlag({summary: 'how long the saved plan may be applied'}),
    scope: Flags.option({
      summary: 'changed: read only what differs from the ledger; changes made outside are not seen',
      options: ['all', 'changed'] as const,
      default: 'all' as const,
    })(),
    unmanaged: Flags.boolean({summary: 'list what was seen and belongs to no stack of the app'}),
    'detailed-exitcode': Flags.boolean({summary: 'exit 2 when there is anything to apply, 3 when the plan is refused'}),
  }

  protected async read() {
    const {flags} = await this.parse(PlanCommand)
    if (flags.out !== undefined && !existsSync(dirname(flags.out)))
      throw new UsageError(`--out ${flags.out}: there is no folder ${dirname(flags.out)}`, ['Make the folder first, or name another file.'])
    const [{outputsToRecord, planWorkspace}, {openRequests, UnsettledRunError}, {AmbiguousIdentityError}, {applyCommand}] =
      await Promise.all([
        import('../cli/plan-run.ts'),
        import('../cli/dead-runs.ts'),
        import('../engine/build-plan.ts'),
        import('../cli/next-command.ts'),
      ])
    const loaded = await this.readDeclarations(flags)
    const {plan, outputs} = await this.inWorkspace(loaded, flags, 'plan', async workspace => {
      const notes = await openRequests(workspace)
      const built = await planWorkspace(workspace, {
        flags,
        validForMs: flags['valid-for'],
        notes,
        onlyChanged: flags.scope === 'changed',
      }).catch(error => {
        throw notes.length > 0 && error instanceof AmbiguousIdentityError ? new UnsettledRunError(notes, error) : error
      })
      return {plan: built.plan, outputs: outputsToRecord(built.plan, workspace.ledgers)}
    })
    if (flags.out !== undefined) {
      await writeFileAtomic(flags.out, `${JSON.stringify(plan, null, 2)}\n`, {mode: 0o600})
      const next = plan.guards.length > 0 ? 'it is refused as it is' : `apply it with: ${applyCommand(flags.out, plan, flags)}`
      this.logger.note(`The plan is in ${flags.out}; ${next}`)
    }
    await this.print(asJson(plan), {text: () => this.planText(plan), table: widest => planTable(plan, widest)})
    const operates = plan.operations.some(it => it.action !== 'no-op')
    if (!operates && outputs.length > 0) this.logger.note(`apply will record the outputs ${outputs.join(', ')}`)
    const pending = operates || outputs.length > 0
    if (!flags['detailed-exitcode']) return EXIT.ok
    return plan.guards.length > 0 ? EXIT.refused : pending ? EXIT.changes : EXIT.ok
  }
}
