import {asJson} from '../base/json.ts'
import {UsageError} from '../base/usage-error.ts'
import {bothApisFlags} from '../cli/parse/flags.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {planOptions} from '../cli/parse/plan-options.ts'
import {selectionFlags, stackFlags} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import type {StackFlagValues} from '../cli/stack-command.ts'
import {table} from '../report/table.ts'
import type {GraphDone, GraphFormat} from '../run/plan/graph.ts'

interface GraphFlagValues extends StackFlagValues {
  readonly target?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
}

export default class GraphCommand extends ReadingStackCommand {
  static override summary = 'draw which operation waits for which, and why'
  static override description =
    'Draws a saved plan without a request; without PLAN it plans first. An arrow goes from an operation to one that waits for it, and says why. Unchanged objects are drawn only where something depends on them.\nCode hosts draw Mermaid but refuse large graphs: over 400 arrows or 45 000 characters, similar objects become one box.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> shop.plan --format svg > shop.svg',
    '<%= config.bin %> <%= command.id %> --stack shop --format mermaid',
    '<%= config.bin %> <%= command.id %> --target null_resource.cache --output json',
  ]
  static override args = {plan: Args.string({description: 'a plan saved with svcctl plan --out', ignoreStdin: true})}
  static override flags = {
    ...bothApisFlags,
    ...stackFlags,
    ...selectionFlags,
    format: Flags.option({
      summary: 'the language of the graph',
      options: ['dot', 'mermaid', 'svg'] as const,
      default: 'dot' as const,
    })(),
  }

  protected async read(): Promise<undefined> {
    const {args, flags} = await this.parse(GraphCommand)
    const {done, used} = args.plan === undefined ? await this.#planned(flags, flags.format) : await this.#saved(args.plan, flags)
    if (done.nodes.length === 0 && !this.forPrograms) this.logger.note('nothing is to be done, and nothing hangs on anything')
    const {text, ...rest} = done
    await this.print(asJson({...rest, text, requests: {used}}), {text: () => text, table: widest => edgeTable(done, widest)})
  }

  async #saved(file: string, flags: GraphFlagValues & {readonly format: GraphFormat}) {
    const given = (['target', 'exclude', 'stack', 'state'] as const).find(it => flags[it] !== undefined)
    if (given !== undefined)
      throw new UsageError(`--${given} says what is planned, and ${file} is planned already`, [`Leave --${given} out, or the file.`])
    const [{readPlan}, {graphDone}] = await Promise.all([import('../run/plan/saved-plan.ts'), import('../run/plan/graph.ts')])
    return {done: await graphDone(await readPlan(file, this.context.cwd), flags.format), used: 0}
  }

  async #planned(flags: GraphFlagValues, format: GraphFormat) {
    const [{planWorkspace}, {graphDone}] = await Promise.all([import('../run/plan/plan.ts'), import('../run/plan/graph.ts')])
    const loaded = await this.readDeclarations(flags)
    return this.inWorkspace(loaded, flags, 'plan', async workspace => {
      const {plan} = await planWorkspace(workspace, {options: planOptions(flags)})
      return {done: await graphDone(plan, format, [...loaded.stacks, ...loaded.others]), used: workspace.usedRequests()}
    })
  }
}

/** `-o table`: one line an arrow. */
const edgeTable = ({edges}: GraphDone, widest?: number): Promise<string> =>
  table(
    edges,
    [
      {title: 'first', value: it => it.from},
      {title: 'then', value: it => it.to},
      {title: 'because', value: it => it.reason},
    ],
    widest,
  )
