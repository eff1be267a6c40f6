import {asJson} from '../base/json.ts'
import {UsageError} from '../base/usage-error.ts'
import {bothApisFlags} from '../cli/parse/flags.ts'
import {Args} from '../cli/parse/oclif.ts'
import {type PlanFlags, planOptions} from '../cli/parse/plan-options.ts'
import {guardFlags, selectionFlags, stackFlags} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {paintFor} from '../cli/shell/context.ts'
import type {StackFlagValues} from '../cli/stack-command.ts'
import {type Explanation, explainTable, explainText} from '../report/explain-text.ts'

const {target: _target, exclude: _exclude, ...otherSelectionFlags} = selectionFlags

export default class ExplainCommand extends ReadingStackCommand {
  static override summary = 'explain what a plan does to one object, field by field'
  static override description =
    'Sends the same requests as svcctl plan --target, and none with a saved plan. For each field it shows what is declared, what was applied last, what is live, and which rule decided.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> null_resource.cache',
    '<%= config.bin %> <%= command.id %> shop/cart/db-1 --output json',
    '<%= config.bin %> <%= command.id %> shop/cart/db-1 shop.plan',
  ]
  static override args = {
    address: Args.string({
      description: 'an object: address, construct path, remote id, name, or a pattern of these',
      required: true,
      ignoreStdin: true,
    }),
    plan: Args.string({description: 'a plan saved with svcctl plan --out', ignoreStdin: true}),
  }
  static override flags = {...bothApisFlags, ...stackFlags, ...otherSelectionFlags, ...guardFlags}

  protected async read(): Promise<undefined> {
    const {args, flags} = await this.parse(ExplainCommand)
    const explanation = await (args.plan === undefined ? this.#planned(args.address, flags) : this.#saved(args.address, args.plan, flags))
    await this.print(asJson(explanation), {
      text: () => explainText(explanation, paintFor(this.context.streams.stdout, this.context.environment)),
      table: widest => explainTable(explanation, widest),
    })
  }

  async #planned(word: string, flags: StackFlagValues & PlanFlags): Promise<Explanation> {
    const {explainObject} = await import('../run/plan/explain.ts')
    const loaded = await this.readDeclarations(flags)
    return this.inWorkspace(loaded, flags, 'plan', workspace => explainObject(workspace, word, planOptions(flags)))
  }

  async #saved(word: string, file: string, flags: object): Promise<Explanation> {
    const decides = Object.keys({...guardFlags, stack: 0, state: 0}).find(it => Object.hasOwn(flags, it))
    if (decides !== undefined)
      throw new UsageError(`--${decides} says what is planned, and ${file} is planned already`, [`Leave --${decides} out, or the file.`])
    const [{readPlan}, {explainPlanned}] = await Promise.all([import('../run/plan/saved-plan.ts'), import('../run/plan/explain.ts')])
    return explainPlanned(await readPlan(file, this.context.cwd), word)
  }
}
