import {listSubscriptions} from '../../backends/cloud/cloud-api.ts'
import {cloudFlags} from '../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../cli/server-command.ts'

export default class CloudSubscriptionsCommand extends ServerCommand {
  static override summary = 'list the subscriptions of the cloud account'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --query "[?status!=\'active\']"']
  static override flags = cloudFlags

  async run(): Promise<undefined> {
    const {flags} = await this.parse(CloudSubscriptionsCommand)
    const subscriptions = await this.withCloud(flags, ({backend}) => listSubscriptions(backend, INTERACTIVE))
    const fields = [['id', 'id', 'subscriptionId'], 'name', 'status', ['databases', 'numberOfDatabases']] as const
    await this.printRows(subscriptions, fields, 'subscriptions')
  }
}
