import {listRegions} from '../../backends/cloud/cloud-api.ts'
import {cloudFlags} from '../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../cli/server-command.ts'

export default class CloudRegionsCommand extends ServerCommand {
  static override summary = 'list the regions in which subscriptions can be'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --query "[?provider==\'AWS\'].name"',
  ]
  static override flags = cloudFlags

  async run(): Promise<undefined> {
    const {flags} = await this.parse(CloudRegionsCommand)
    const regions = await this.withCloud(flags, ({backend}) => listRegions(backend, INTERACTIVE))
    await this.printRows(regions, [['id', 'id', 'regionId'], 'name', 'provider'], 'regions')
  }
}
