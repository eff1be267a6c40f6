import {cloudFlags} from '../../cli/parse/flags.ts'
import {idArg} from '../../cli/parse/id-args.ts'
import {ServerCommand} from '../../cli/server-command.ts'
import {findTask} from '../../passthrough/find-task.ts'

export default class TaskShowCommand extends ServerCommand {
  static override summary = 'show one task as it is now'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 4f1c2a9e-1',
    '<%= config.bin %> <%= command.id %> 4f1c2a9e-1 --query status',
  ]
  static override args = {id: idArg('task')({description: 'id of the task', required: true})}
  static override flags = cloudFlags

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(TaskShowCommand)
    const task = await this.withCloud(flags, ({backend}) => findTask(backend, args.id, this.context.clock))
    await this.printRecord(task)
  }
}
