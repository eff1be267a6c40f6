import {readCluster} from '../../../backends/cluster/cluster-api.ts'
import {found} from '../../../cli/found.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'

export default class ClusterShowCommand extends ServerCommand {
  static override summary = 'show the cluster and its settings'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --query state']
  static override flags = clusterFlags

  async run(): Promise<undefined> {
    const {flags} = await this.parse(ClusterShowCommand)
    const cluster = await this.withCluster(flags, ({backend}) => readCluster(backend, INTERACTIVE))
    await this.printRecord(found(cluster, 'cluster at', '/v1/cluster', 'svcctl api enterprise get /v1/bootstrap'))
  }
}
