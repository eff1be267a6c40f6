import {readCloudAccount} from '../../backends/cloud/cloud-api.ts'
import {cloudFlags} from '../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../cli/server-command.ts'

export default class CloudAccountCommand extends ServerCommand {
  static override summary = 'show the cloud account these credentials belong to'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --profile prod --query name']
  static override flags = cloudFlags

  async run(): Promise<undefined> {
    const {flags} = await this.parse(CloudAccountCommand)
    const {body} = await this.withCloud(flags, ({backend}) => readCloudAccount(backend, INTERACTIVE))
    await this.printRecord(body)
  }
}
