import {Flags} from '../cli/parse/oclif.ts'
import {reportFlags} from '../cli/parse/report-flags.ts'
import {planningFlags, savedPlanFlags} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'

export default class PlanCommand extends ReadingStackCommand {
  static override summary = 'show what apply would change, and change nothing'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --stack shop --out shop.plan',
    '<%= config.bin %> <%= command.id %> --target null_resource.cache --detailed-exitcode',
  ]
  static override flags = {
    ...planningFlags,
    ...savedPlanFlags,
    ...reportFlags,
    destroy: Flags.boolean({summary: 'plan to delete everything the stacks own, as svcctl destroy would'}),
    scope: Flags.option({
      summary: 'changed: read only what differs from the ledger; changes made outside are not seen',
      options: ['all', 'changed'] as const,
      default: 'all' as const,
    })(),
    unmanaged: Flags.boolean({summary: 'list objects that were read and belong to no stack of the app'}),
    'detailed-exitcode': Flags.boolean({summary: 'exit 2 when there is anything to apply, 3 when the plan is refused'}),
  }

  protected async read() {
    const {flags} = await this.parse(PlanCommand)
    return this.reporting('plan', flags, () => this.makePlan(flags, flags.destroy))
  }
}
