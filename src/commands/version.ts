import {BaseCommand} from '../cli/base-command.ts'

export default class VersionCommand extends BaseCommand {
  static override summary = 'print the version of svcctl'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --output json']

  async run(): Promise<undefined> {
    await this.parse(VersionCommand)
    const {version} = this.context
    const document = {version, node: process.version, platform: `${process.platform}-${process.arch}`}
    await this.print(document, {text: () => version})
  }
}
