import {Args} from '../../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../../cli/reading-stack-command.ts'
import {fieldColumns, table} from '../../report/table.ts'

export default class StateListCommand extends ReadingStackCommand {
  static override summary = 'list the objects in the ledgers, without a request'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --stack shop',
    "<%= config.bin %> <%= command.id %> 'null_resource.cache*' --output json",
  ]
  static override args = {pattern: Args.string({description: 'address, name, remote id, or a glob of these', ignoreStdin: true})}
  static override flags = {...stackFlags, ...stateFlag}

  protected async read(): Promise<undefined> {
    const {args, flags} = await this.parse(StateListCommand)
    const {listOwned, ownedDocument} = await import('../../run/upkeep/state.ts')
    const desk = await this.openDesk(flags)
    try {
      const words = args.pattern === undefined ? [] : [args.pattern]
      const resources = (await listOwned(desk, flags.stack ?? [], words)).map(ownedDocument)
      if (resources.length === 0 && !this.forPrograms) this.logger.note('no ledger has anything')
      await this.print(
        {resources, requests: {used: 0}},
        {
          table: widest =>
            table(
              resources,
              [
                ...fieldColumns('stack', 'address', 'kind'),
                {title: 'remote id', value: it => it.remoteId},
                {title: 'origin', value: it => it.origin},
              ],
              widest,
            ),
        },
      )
    } finally {
      await desk.close()
    }
  }
}
