import {deleteModule, readModule} from '../../../backends/cluster/cluster-api.ts'
import {wordOf} from '../../../base/word-of.ts'
import {found} from '../../../cli/found.ts'
import {clusterFlags, yesFlag} from '../../../cli/parse/flags.ts'
import {idArg} from '../../../cli/parse/id-args.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'
import {isInteractive} from '../../../cli/shell/context.ts'
import {acceptedBody} from '../../../cli/write-result.ts'

const LIST = 'svcctl enterprise module list'

export default class ModuleDeleteCommand extends ServerCommand {
  static override summary = 'delete a module from the cluster'
  static override examples = ['<%= config.bin %> <%= command.id %> 3', '<%= config.bin %> <%= command.id %> 3 --yes --output json']
  static override args = {id: idArg('module')({description: 'id of the module', required: true})}
  static override flags = {...yesFlag, ...clusterFlags}

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(ModuleDeleteCommand)
    const {id} = args
    await this.withCluster(flags, async ({backend}) => {
      // What is asked about is named, where somebody can answer.
      const module = !flags.yes && isInteractive(this.context) ? found(await readModule(backend, id, INTERACTIVE), 'module', id, LIST) : {}
      const name = 'module_name' in module ? ` (${wordOf(module.module_name)})` : ''
      await this.confirm(`Delete module ${id}${name}?`, flags.yes)
      const outcome = await this.writing({what: `the delete of module ${id}`, look: LIST}, options => deleteModule(backend, id, options))
      if (outcome.outcome === 'gone') found(undefined, 'module', id, LIST)
      acceptedBody(outcome, `the delete of module ${id}`, LIST)
      await this.print({deleted: true, id}, {text: () => `deleted module ${id}`})
    })
  }
}
