import {listAclUsers} from '../../../backends/cloud/cloud-api.ts'
import {databaseFlags, databaseOf} from '../../../cli/parent-flags.ts'
import {cloudFlags} from '../../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'

export default class CloudAclUsersCommand extends ServerCommand {
  static override summary = 'list the ACL users of a database'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --subscription 12 --database 51',
    "<%= config.bin %> <%= command.id %> --subscription orders --database cache --query '[].name'",
  ]
  static override flags = {...databaseFlags, ...cloudFlags}

  async run(): Promise<undefined> {
    const {flags} = await this.parse(CloudAclUsersCommand)
    const users = await this.withCloud(flags, async api => listAclUsers(api.backend, ...(await databaseOf(api)), INTERACTIVE))
    await this.printRows(users, [['id', 'id', 'userId', 'aclUserId'], 'name', ['role', 'role', 'acl', 'redisRule'], 'status'], 'users')
  }
}
