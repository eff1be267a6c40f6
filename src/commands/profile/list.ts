import {BaseCommand} from '../../cli/base-command.ts'
import {table} from '../../report/table.ts'

export default class ProfileListCommand extends BaseCommand {
  static override summary = 'list the profiles'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --output json']

  async run(): Promise<undefined> {
    await this.parse(ProfileListCommand)
    const profiles = this.context.profiles()
    const rows = profiles.names.map(name => ({
      name,
      deployment_type: profiles.deploymentOf(name) ?? null,
      default: profiles.isDefault(name),
    }))
    if (rows.length === 0) this.logger.note('There are no profiles yet: svcctl profile set <name> --deployment cloud|enterprise')
    await this.print(rows, {
      table: widest =>
        table(
          rows,
          [
            {title: 'name', value: row => row.name},
            {title: 'type', value: row => row.deployment_type},
            {title: 'default', value: row => (row.default ? 'yes' : 'no')},
          ],
          widest,
        ),
    })
  }
}
