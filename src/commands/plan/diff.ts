import {EXIT} from '../../base/errors.ts'
import {asJson} from '../../base/json.ts'
import {BaseCommand} from '../../cli/base-command.ts'
import {Args, Flags} from '../../cli/parse/oclif.ts'

export default class PlanDiffCommand extends BaseCommand {
  static override summary = 'show what is different between two saved plans'
  static override examples = [
    '<%= config.bin %> <%= command.id %> approved.plan new.plan',
    '<%= config.bin %> <%= command.id %> approved.plan new.plan --detailed-exitcode --output json',
  ]
  static override args = {
    before: Args.string({description: 'the plan that was approved', required: true, ignoreStdin: true}),
    after: Args.string({description: 'the plan of now', required: true, ignoreStdin: true}),
  }
  static override flags = {'detailed-exitcode': Flags.boolean({summary: 'exit 2 when they differ'})}

  async run() {
    const {args, flags} = await this.parse(PlanDiffCommand)
    const [{readPlan}, {diffFrames, diffPlans}, {planDiffText}] = await Promise.all([
      import('../../run/plan/saved-plan.ts'),
      import('../../engine/plan/plan-diff.ts'),
      import('../../report/plan-diff-text.ts'),
    ])
    const {cwd} = this.context
    const [before, after] = await Promise.all([readPlan(args.before, cwd), readPlan(args.after, cwd)])
    const differences = diffPlans(before, after)
    const also = diffFrames(before, after)
    const document = {before: before.hash, after: after.hash, differences: differences.map(asJson), also}
    await this.print(document, {text: () => planDiffText(differences, also)})
    return flags['detailed-exitcode'] && differences.length + also.length > 0 ? EXIT.changes : EXIT.ok
  }
}
