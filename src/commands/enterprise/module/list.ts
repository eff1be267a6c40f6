import {listModules} from '../../../backends/cluster/cluster-api.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'

export default class ModuleListCommand extends ServerCommand {
  static override summary = 'list the modules of the cluster'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    "<%= config.bin %> <%= command.id %> --query '[].{name: module_name, version: semantic_version}'",
  ]
  static override flags = clusterFlags

  async run(): Promise<undefined> {
    const {flags} = await this.parse(ModuleListCommand)
    const modules = await this.withCluster(flags, ({backend}) => listModules(backend, INTERACTIVE))
    const fields = [
      ['id', 'uid', 'id'],
      ['name', 'module_name', 'name'],
      ['display name', 'display_name'],
      ['version', 'semantic_version', 'version'],
    ] as const
    await this.printRows(modules, fields, 'modules')
  }
}
