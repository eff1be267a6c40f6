import {readModule} from '../../../backends/cluster/cluster-api.ts'
import {found} from '../../../cli/found.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {idArg} from '../../../cli/parse/id-args.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'

export default class ModuleShowCommand extends ServerCommand {
  static override summary = 'show one module of the cluster'
  static override examples = ['<%= config.bin %> <%= command.id %> 1', '<%= config.bin %> <%= command.id %> 1 --query semantic_version']
  static override args = {id: idArg('module')({description: 'id of the module', required: true})}
  static override flags = clusterFlags

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(ModuleShowCommand)
    const module = await this.withCluster(flags, ({backend}) => readModule(backend, args.id, INTERACTIVE))
    await this.printRecord(found(module, 'module', args.id, 'svcctl enterprise module list'))
  }
}
