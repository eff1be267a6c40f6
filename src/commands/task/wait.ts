import {waitForTask} from '../../cli/api-run.ts'
import {cloudFlags} from '../../cli/parse/flags.ts'
import {idArg} from '../../cli/parse/id-args.ts'
import {ServerCommand} from '../../cli/server-command.ts'
import {rawVoice} from '../../passthrough/raw-voice.ts'

export default class TaskWaitCommand extends ServerCommand {
  static override summary = 'wait until a task is done; exit 1 when it failed, 12 when the time is up'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 4f1c2a9e-1',
    '<%= config.bin %> <%= command.id %> 4f1c2a9e-1 --timeout 1h --poll-interval 5s --output json',
  ]
  static override args = {id: idArg('task')({description: 'id of the task', required: true})}
  static override flags = cloudFlags

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(TaskWaitCommand)
    const started = {deployment: 'cloud', id: args.id} as const
    const voice = rawVoice({deployment: 'cloud', path: '/tasks'})
    const task = await this.withCloud(flags, api => waitForTask(this.context, api, voice, started))
    await this.printRecord(task)
  }
}
