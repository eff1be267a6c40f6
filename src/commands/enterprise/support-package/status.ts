import {clusterFlags} from '../../../cli/parse/flags.ts'
import {idArg} from '../../../cli/parse/id-args.ts'
import {OutcomeCommand} from '../../../cli/support-package/outcome-command.ts'
import {harmless} from '../../../report/terminal-text.ts'
import {openCluster} from '../../../run/workspace/open-api.ts'
import {statusResult} from '../../../support-package/package-result.ts'
import {readPackageStatus} from '../../../support-package/package-status.ts'

export default class SupportPackageStatusCommand extends OutcomeCommand {
  static override summary = 'show the progress of a package that was started with --no-wait'
  static override examples = [
    '<%= config.bin %> <%= command.id %> TASK_ID',
    '<%= config.bin %> <%= command.id %> TASK_ID --output json --query progress',
  ]
  static override args = {'task-id': idArg('package')({description: 'task id', required: true})}
  static override flags = clusterFlags

  protected override async work(signal: AbortSignal): Promise<undefined> {
    const {args, flags} = await this.parse(SupportPackageStatusCommand)
    const api = openCluster(this.context, await this.connect('cluster', flags))
    try {
      const status = await readPackageStatus(api.backend, args['task-id'], signal)
      const {taskId, progress, message} = status
      await this.print(statusResult(status), {
        text: () =>
          harmless(
            [
              `Task ID   ${taskId}`,
              `Status    ${status.status}`,
              `Progress  ${progress === null ? 'unknown' : `${progress} %`}`,
              ...(message === null ? [] : [`Message   ${message}`]),
            ].join('\n'),
          ),
      })
    } finally {
      await api.close()
    }
  }
}
