import {BaseCommand} from '../../cli/base-command.ts'
import {requestsSent, runDocument, runState} from '../../report/run-text.ts'
import {table} from '../../report/table.ts'

export default class RunsListCommand extends BaseCommand {
  static override summary = 'list the applies that ran in this folder'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --output json']

  async run(): Promise<undefined> {
    await this.parse(RunsListCommand)
    const {runsHere} = await import('../../run/journal/runs-here.ts')
    const {stories: runs, unreadable} = await runsHere(this.context)
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
}
