import {readNode} from '../../../backends/cluster/cluster-api.ts'
import {found} from '../../../cli/found.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {uidArg} from '../../../cli/parse/id-args.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'

export default class NodeShowCommand extends ServerCommand {
  static override summary = 'show one node of the cluster'
  static override examples = ['<%= config.bin %> <%= command.id %> 1', '<%= config.bin %> <%= command.id %> 1 --query software_version']
  static override args = {uid: uidArg('node')({description: 'uid of the node', required: true})}
  static override flags = clusterFlags

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(NodeShowCommand)
    const node = await this.withCluster(flags, ({backend}) => readNode(backend, args.uid, INTERACTIVE))
    await this.printRecord(found(node, 'node', args.uid, 'svcctl enterprise node list'))
  }
}
