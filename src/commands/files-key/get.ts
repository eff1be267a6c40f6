import {BaseCommand} from '../../cli/base-command.ts'
import {Flags} from '../../cli/parse/oclif.ts'
import {activeFilesProfile, resolveFilesKey} from '../../config/files-key.ts'
import {mask} from '../../config/mask.ts'

export default class FilesKeyGetCommand extends BaseCommand {
  static override summary = 'show the upload key, masked, and where it comes from'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --output json --query source']
  static override flags = {profile: Flags.string({summary: 'profile to look in', helpValue: '<name>'})}

  async run(): Promise<undefined> {
    const {flags} = await this.parse(FilesKeyGetCommand)
    const {environment, keyring, redactor} = this.context
    const profiles = this.context.profiles()
    const {found, keyringFailure} = await resolveFilesKey(
      environment,
      profiles,
      activeFilesProfile(environment, profiles, flags.profile),
      keyring,
    )
    redactor.register(found?.key)
    if (found === undefined && keyringFailure !== undefined) this.logger.warn(keyringFailure.message)
    if (found === undefined && !this.forPrograms) {
      this.logger.note('There is no upload key. Store one: printf %s "$UPLOAD_KEY" | svcctl files-key set - --use-keyring')
    }
    const document = {found: found !== undefined, source: found?.source ?? null, key: found === undefined ? null : mask(found.key)}
    await this.print(document, {text: () => (found === undefined ? '' : `${mask(found.key)} (${found.source})`)})
  }
}
