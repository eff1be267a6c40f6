import {listPeerings} from '../../backends/cloud/cloud-api.ts'
import {subscriptionFlag, subscriptionOf} from '../../cli/parent-flags.ts'
import {cloudFlags} from '../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../cli/server-command.ts'

export default class CloudPeeringsCommand extends ServerCommand {
  static override summary = 'list the network peerings of a subscription'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --subscription 12',
    '<%= config.bin %> <%= command.id %> --subscription orders --query "[?status==\'pending-acceptance\']"',
  ]
  static override flags = {...subscriptionFlag, ...cloudFlags}

  async run(): Promise<undefined> {
    const {flags} = await this.parse(CloudPeeringsCommand)
    const peerings = await this.withCloud(flags, async api => listPeerings(api.backend, await subscriptionOf(api), INTERACTIVE))
    const fields = [
      ['id', 'id', 'vpcPeeringId', 'peeringId'],
      'status',
      'provider',
      ['region', 'region', 'regionName'],
      ['network', 'vpcId', 'vpcUid', 'networkName'],
      ['account', 'awsAccountId', 'projectUid'],
      ['cidr', 'vpcCidr', 'vpcCidrs'],
    ] as const
    await this.printRows(peerings, fields, 'peerings')
  }
}
