import {BaseCommand} from '../../cli/base-command.ts'
import {configPlace} from '../../cli/config-place.ts'
import {yesFlag} from '../../cli/parse/flags.ts'
import {Args} from '../../cli/parse/oclif.ts'
import {removeProfile} from '../../config/profile-store.ts'
import {UnknownProfileError} from '../../config/profiles.ts'

export default class ProfileRemoveCommand extends BaseCommand {
  static override summary = 'remove a profile, and its secrets from the keyring'
  static override examples = ['<%= config.bin %> <%= command.id %> lab', '<%= config.bin %> <%= command.id %> lab --yes --output json']
  static override args = {name: Args.string({required: true, ignoreStdin: true, description: 'name of the profile'})}
  static override flags = yesFlag

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(ProfileRemoveCommand)
    const {environment, keyring} = this.context
    const {names} = this.context.profiles()
    if (!names.includes(args.name)) throw new UnknownProfileError(args.name, names, 'profile remove')
    await this.confirm(`Remove profile "${args.name}" from ${environment.configFile}?`, flags.yes)
    for (const entry of await removeProfile(configPlace(this.context), args.name)) await keyring.remove(entry)
    await this.print({name: args.name, removed: true}, {text: () => `removed profile ${args.name}`})
  }
}
