import {BaseCommand} from '../../cli/base-command.ts'
import {requestsSent, runDocument, runState} from '../../report/run-text.ts'
import {table} from '../../report/table.ts'
import type {RunsHere} from '../../run/journal/run-files.ts'

export default class RunsListCommand extends BaseCommand {
  static override summary = 'list the applies that ran in this folder'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --output json']

  async run(): Promise<undefined> {
    await this.parse(RunsListCommand)
    const {runsHere} = await import('../../run/journal/runs-here.ts')
    const {stories, unreadable} = await runsHere(this.context)
    const runs = this.forPrograms ? await this.withPlans(stories) : stories
    for (const {error} of unreadable) this.logger.warn(error.message)
    if (runs.length === 0 && !this.forPrograms) this.logger.note('no runs: they lie in .svcctl/runs beside cdktf.json')
    await this.print(runs.map(runDocument), {
      table: widest =>
        table(
          runs,
          [
            {title: 'run', value: it => it.header.run},
            {title: 'state', value: runState},
            {title: 'stacks', value: it => it.header.stacks.join(', ')},
            {title: 'requests', value: it => requestsSent(it), align: 'right'},
            {title: 'in flight', value: it => it.loose.length, align: 'right'},
          ],
          widest,
        ),
    })
  }

  private async withPlans(stories: RunsHere['stories']): Promise<RunsHere['stories']> {
    if (stories.length === 0) return stories
    const {withOperations} = await import('../../run/plan/run-plan.ts')
    return Promise.all(stories.map(it => withOperations(this.context, it)))
  }
}
