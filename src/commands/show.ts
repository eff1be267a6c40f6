import type {ExitCode} from '../base/errors.ts'
import {asJson} from '../base/json.ts'
import {Args} from '../cli/parse/oclif.ts'
import {reportFlags} from '../cli/parse/report-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {planTable} from '../report/plan-text.ts'

export default class ShowCommand extends ReadingStackCommand {
  static override summary = 'show a saved plan'
  static override examples = [
    '<%= config.bin %> <%= command.id %> shop.plan',
    '<%= config.bin %> <%= command.id %> shop.plan --output json',
  ]
  static override flags = {...reportFlags}
  static override args = {plan: Args.string({description: 'a plan saved with svcctl plan --out', required: true, ignoreStdin: true})}

  protected async read(): Promise<ExitCode | undefined> {
    const {args, flags} = await this.parse(ShowCommand)
    return this.reporting('show', flags, () => this.#show(args.plan))
  }

  async #show(file: string): Promise<undefined> {
    const [{readPlan}, {applyCommand}] = await Promise.all([import('../run/plan/saved-plan.ts'), import('../cli/show/next-command.ts')])
    const plan = await readPlan(file, this.context.cwd)
    await this.reportPlan(plan, applyCommand(file, plan, {}))
    await this.print(asJson(plan), {text: () => this.planText(plan), table: widest => planTable(plan, widest)})
  }
}
