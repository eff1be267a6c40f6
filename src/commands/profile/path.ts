import {BaseCommand} from '../../cli/base-command.ts'

export default class ProfilePathCommand extends BaseCommand {
  static override summary = 'print the path of the configuration file'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --output json']

  async run(): Promise<undefined> {
    await this.parse(ProfilePathCommand)
    const path = this.context.environment.configFile
    await this.print({path}, {text: () => path})
  }
}
