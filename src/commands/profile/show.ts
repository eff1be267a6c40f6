import {BaseCommand} from '../../cli/base-command.ts'
import {Args} from '../../cli/parse/oclif.ts'
import {profileView, viewText} from '../../cli/show/profile-view.ts'

export default class ProfileShowCommand extends BaseCommand {
  static override summary = 'show one profile, secrets masked'
  static override examples = [
    '<%= config.bin %> <%= command.id %> prod',
    '<%= config.bin %> <%= command.id %> prod --output json --query deployment_type',
  ]
  static override args = {name: Args.string({required: true, ignoreStdin: true, description: 'name of the profile'})}

  async run(): Promise<undefined> {
    const {args} = await this.parse(ProfileShowCommand)
    const view = profileView(this.context.profiles(), args.name)
    await this.print(view, {text: () => viewText(view)})
  }
}
