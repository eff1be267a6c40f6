import {listNodes} from '../../../backends/cluster/cluster-api.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'

export default class NodeListCommand extends ServerCommand {
  static override summary = 'list the nodes of the cluster'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --query "[?status!=\'active\'].uid"',
  ]
  static override flags = clusterFlags

  async run(): Promise<undefined> {
    const {flags} = await this.parse(NodeListCommand)
    const nodes = await this.withCluster(flags, ({backend}) => listNodes(backend, INTERACTIVE))
    const fields = [
      'uid',
      'addr',
      'status',
      ['rack', 'rack_id'],
      ['shards', 'shard_count'],
      'cores',
      ['version', 'software_version'],
    ] as const
    await this.printRows(nodes, fields, 'nodes')
  }
}
