import {asJson} from '../base/json.ts'
import {Args} from '../cli/parse/oclif.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {planTable} from '../report/plan-text.ts'

export default class ShowCommand extends ReadingStackCommand {
  static override summary = 'show a saved plan'
  static override examples = [
    '<%= config.bin %> <%= command.id %> shop.plan',
    '<%= config.bin %> <%= command.id %> shop.plan --output json',
  ]
  static override args = {plan: Args.string({description: 'a plan saved with svcctl plan --out', required: true, ignoreStdin: true})}

  protected async read(): Promise<undefined> {
    const {args} = await this.parse(ShowCommand)
    const {readPlan} = await import('../run/saved-plan.ts')
    const plan = await readPlan(args.plan)
    await this.print(asJson(plan), {text: () => this.planText(plan), table: widest => planTable(plan, widest)})
  }
}
