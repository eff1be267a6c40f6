import {asJson} from '../base/json.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {ReportingCommand} from '../cli/reporting-command.ts'

export default class CommentCommand extends ReportingCommand {
  static override summary = 'show a saved plan in a comment of its pull or merge request'
  static override description =
    `There is one comment for an app and its stacks. A later run updates it; an earlier run that ends late leaves it alone.
The request and the token come from the variables of the CI job: GITHUB_*, CI_*, GITLAB_TOKEN.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> shop.plan --on github',
    '<%= config.bin %> <%= command.id %> shop.plan --on gitlab --output json',
  ]
  static override args = {plan: Args.string({description: 'a plan saved with svcctl plan --out', required: true, ignoreStdin: true})}
  static override flags = {
    on: Flags.option({summary: 'where the code is reviewed', options: ['github', 'gitlab'] as const, required: true})(),
  }

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(CommentCommand)
    const [{readPlan}, {commentPlan}, {applyCommand}] = await Promise.all([
      import('../run/plan/saved-plan.ts'),
      import('../run/reports/review.ts'),
      import('../cli/show/next-command.ts'),
    ])
    const plan = await readPlan(args.plan, this.context.cwd)
    const options = await this.planReportOptions(applyCommand(args.plan, plan, {}))
    const done = await commentPlan(this.context, flags.on, plan, options)
    await this.print(asJson(done), {text: () => `${done.action} ${done.url}`})
  }
}
