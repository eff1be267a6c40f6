import {readStatistics} from '../../../backends/cluster/cluster-api.ts'
import {isJsonObject} from '../../../base/json.ts'
import {maskSecrets} from '../../../base/secret-fields.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {Flags} from '../../../cli/parse/oclif.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'
import {tableOf} from '../../../report/table.ts'

const OF = {cluster: 'cluster', databases: 'bdbs', nodes: 'nodes', shards: 'shards'} as const

export default class ClusterStatsCommand extends ServerCommand {
  static override summary = 'show the latest statistics of the cluster, its databases, nodes or shards'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --of databases --output table',
    '<%= config.bin %> <%= command.id %> --of nodes --output json',
  ]
  static override flags = {
    of: Flags.option({summary: 'whose statistics', options: ['cluster', 'databases', 'nodes', 'shards'] as const, default: 'cluster'})(),
    ...clusterFlags,
  }

  async run(): Promise<undefined> {
    const {flags} = await this.parse(ClusterStatsCommand)
    const answer = await this.withCluster(flags, ({backend}) => readStatistics(backend, OF[flags.of], INTERACTIVE))
    const document = maskSecrets(answer ?? {})
    // Statistics of several things come by their uid: for people, one row each.
    const rows = isJsonObject(document) && flags.of !== 'cluster' ? Object.values(document) : undefined
    await this.print(document, {table: widest => tableOf(rows?.every(isJsonObject) ? rows : document, widest)})
  }
}
