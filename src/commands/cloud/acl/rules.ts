import {listAclRules} from '../../../backends/cloud/cloud-api.ts'
import {databaseFlags, databaseOf} from '../../../cli/parent-flags.ts'
import {cloudFlags} from '../../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'

export default class CloudAclRulesCommand extends ServerCommand {
  static override summary = 'list the ACL rules of a database'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --subscription 12 --database 51',
    '<%= config.bin %> <%= command.id %> --subscription orders --database cache --output json',
  ]
  static override flags = {...databaseFlags, ...cloudFlags}

  async run(): Promise<undefined> {
    const {flags} = await this.parse(CloudAclRulesCommand)
    const rules = await this.withCloud(flags, async api => listAclRules(api.backend, ...(await databaseOf(api)), INTERACTIVE))
    await this.printRows(rules, [['id', 'id', 'ruleId', 'aclRuleId'], 'name', ['rule', 'rule', 'acl'], 'status'], 'rules')
  }
}
