import {BaseCommand} from '../../cli/base-command.ts'
import {Args} from '../../cli/parse/oclif.ts'
import {runDocument, runText} from '../../report/run-text.ts'

export default class RunsShowCommand extends BaseCommand {
  static override summary = 'show one apply: what it sent, when, and how it ended'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 20260401T093012345-1a2b3c',
    '<%= config.bin %> <%= command.id %> 20260401T093012345-1a2b3c --output json',
  ]
  static override args = {run: Args.string({description: 'the run', required: true, ignoreStdin: true})}

  async run(): Promise<undefined> {
    const {args} = await this.parse(RunsShowCommand)
    const {findRun} = await import('../../run/journal/run-files.ts')
    const {withOperations} = await import('../../run/plan/run-plan.ts')
    const run = await withOperations(this.context, findRun(this.context, args.run))
    await this.print(runDocument(run), {text: () => runText(run)})
  }
}
