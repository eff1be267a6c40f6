import {EXIT, type ExitCode} from '../base/errors.ts'
import {asJson} from '../base/json.ts'
import {bothApisFlags} from '../cli/parse/flags.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {stateFlag, synthesisFlags} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {paintFor} from '../cli/shell/context.ts'
import {compareTable, compareText} from '../report/compare-text.ts'

export default class CompareCommand extends ReadingStackCommand {
  static override summary = 'show what two stacks declare differently, without a request'
  static override description =
    'Objects are paired by their construct paths within the stacks. --map pairs a construct of the first stack with another path in the second. Of secrets, only the versions are compared.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> staging production',
    '<%= config.bin %> <%= command.id %> staging production --map cart=basket --detailed-exitcode',
    '<%= config.bin %> <%= command.id %> staging production --live --output json',
  ]
  static override args = {
    a: Args.string({description: 'a stack by name or glob', required: true, ignoreStdin: true}),
    b: Args.string({description: 'the stack it is compared with', required: true, ignoreStdin: true}),
  }
  static override flags = {
    ...bothApisFlags,
    ...synthesisFlags,
    ...stateFlag,
    map: Flags.string({
      summary: 'construct of the first stack, and its path in the second',
      helpValue: '<from=to>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    live: Flags.boolean({summary: 'compare the live values of these fields; sends GET requests'}),
    'detailed-exitcode': Flags.boolean({summary: 'exit 2 when they differ'}),
  }

  protected async read(): Promise<ExitCode> {
    const {args, flags} = await this.parse(CompareCommand)
    const [{compareDeclared, compareLive, namedStack, placeMap}, {isEqual}] = await Promise.all([
      import('../run/plan/compare.ts'),
      import('../engine/plan/compare.ts'),
    ])
    const maps = (flags.map ?? []).map(placeMap)
    // What is declared is compared as it stands: a variable without a value is one in both.
    const loaded = flags.live
      ? await this.readDeclarations({...flags, stack: [args.a, args.b]})
      : await this.readDeclarations(flags, 'validate')
    const [a, b] = [namedStack(args.a, loaded.stacks), namedStack(args.b, loaded.stacks)]
    const {found, used} = flags.live
      ? await this.inWorkspace(loaded, flags, 'plan', async workspace => ({
          found: await compareLive(workspace, a, b, maps),
          used: workspace.usedRequests(),
        }))
      : {found: compareDeclared(a, b, maps), used: 0}
    const stacks = {a: a.name, b: b.name}
    const document = {stacks, of: flags.live ? 'live' : 'declared', ...found, requests: {used}}
    await this.print(asJson(document), {
      text: () => compareText({...found, stacks}, paintFor(this.context.streams.stdout, this.context.environment)),
      table: widest => compareTable({...found, stacks}, widest),
    })
    return flags['detailed-exitcode'] && !isEqual(found) ? EXIT.changes : EXIT.ok
  }
}
