import {listDatabases} from '../../backends/cloud/cloud-api.ts'
import {subscriptionFlag, subscriptionOf} from '../../cli/parent-flags.ts'
import {cloudFlags} from '../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../cli/server-command.ts'

export default class CloudDatabasesCommand extends ServerCommand {
  static override summary = 'list the databases of a subscription'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --subscription 12',
    "<%= config.bin %> <%= command.id %> --subscription orders --query '[].publicEndpoint'",
  ]
  static override flags = {...subscriptionFlag, ...cloudFlags}

  async run(): Promise<undefined> {
    const {flags} = await this.parse(CloudDatabasesCommand)
    const databases = await this.withCloud(flags, async api => listDatabases(api.backend, await subscriptionOf(api), INTERACTIVE))
    const fields = [
      ['id', 'id', 'databaseId'],
      'name',
      'status',
      ['GB', 'memoryLimitInGb'],
      ['persistence', 'dataPersistence'],
      ['endpoint', 'publicEndpoint', 'privateEndpoint'],
    ] as const
    await this.printRows(databases, fields, 'databases')
  }
}
