import {BaseCommand} from '../../cli/base-command.ts'
import {configPlace} from '../../cli/config-place.ts'
import {Args} from '../../cli/parse/oclif.ts'
import {setDefaultProfile} from '../../config/profile-store.ts'

export default class ProfileDefaultCommand extends BaseCommand {
  static override summary = 'make a profile the default of its deployment type'
  static override examples = ['<%= config.bin %> <%= command.id %> prod', '<%= config.bin %> <%= command.id %> lab --output json']
  static override args = {name: Args.string({required: true, ignoreStdin: true, description: 'name of the profile'})}

  async run(): Promise<undefined> {
    const {args} = await this.parse(ProfileDefaultCommand)
    const {deployment} = this.context.profiles().get(args.name, 'profile default')
    await setDefaultProfile(configPlace(this.context), args.name, deployment)
    await this.print(
      {name: args.name, deployment_type: deployment, default: true},
      {text: () => `${args.name} is the default for ${deployment}`},
    )
  }
}
