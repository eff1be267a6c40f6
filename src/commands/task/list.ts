import {listTasks} from '../../backends/cloud/cloud-api.ts'
import {cloudFlags, wholeNumberFlag} from '../../cli/parse/flags.ts'
import {Flags} from '../../cli/parse/oclif.ts'
import {INTERACTIVE, ServerCommand} from '../../cli/server-command.ts'

export default class TaskListCommand extends ServerCommand {
  static override summary = 'list the asynchronous tasks of the cloud account'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --status processing --limit 10 --output json',
  ]
  static override flags = {
    status: Flags.string({summary: 'only tasks with this status, as the API spells it', helpValue: '<status>'}),
    limit: wholeNumberFlag({summary: 'at most this many, in the order of the API', min: 1}),
    ...cloudFlags,
  }

  async run(): Promise<undefined> {
    const {flags} = await this.parse(TaskListCommand)
    const tasks = await this.withCloud(flags, ({backend}) => listTasks(backend, flags.status, INTERACTIVE))
    const fields = [['id', 'taskId', 'id'], ['command', 'commandType'], 'status', ['resource', 'response/resourceId'], 'timestamp'] as const
    await this.printRows(tasks.slice(0, flags.limit), fields, 'tasks')
  }
}
