import {readPolicy} from '../../../backends/cluster/cluster-api.ts'
import {found} from '../../../cli/found.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'

export default class ClusterPolicyCommand extends ServerCommand {
  static override summary = 'show the policy of the cluster'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --output yaml']
  static override flags = clusterFlags

  async run(): Promise<undefined> {
    const {flags} = await this.parse(ClusterPolicyCommand)
    const policy = await this.withCluster(flags, ({backend}) => readPolicy(backend, INTERACTIVE))
    await this.printRecord(found(policy, 'policy at', '/v1/cluster/policy', 'svcctl enterprise cluster show'))
  }
}
