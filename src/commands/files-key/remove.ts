import {UsageError} from '../../base/usage-error.ts'
import {BaseCommand} from '../../cli/base-command.ts'
import {configPlace} from '../../cli/config-place.ts'
import {Flags} from '../../cli/parse/oclif.ts'
import {FILES_KEY_ENTRY} from '../../config/files-key.ts'
import {removeFilesKey} from '../../config/profile-store.ts'
import {KEYRING_PREFIX} from '../../config/profiles.ts'

export default class FilesKeyRemoveCommand extends BaseCommand {
  static override summary = 'remove the stored upload key'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --keyring',
    '<%= config.bin %> <%= command.id %> --profile lab --output json',
  ]
  static override flags = {
    keyring: Flags.boolean({aliases: ['use-keyring'], exclusive: ['global', 'profile'], summary: "from the system's keyring"}),
    global: Flags.boolean({exclusive: ['profile'], summary: 'the one for all profiles'}),
    profile: Flags.string({summary: 'the one of this profile', helpValue: '<name>'}),
  }

  async run(): Promise<undefined> {
    const {flags} = await this.parse(FilesKeyRemoveCommand)
    if (!flags.keyring && !flags.global && flags.profile === undefined) {
      throw new UsageError('no key was chosen: say which one to remove', ['Add --keyring, --global or --profile <name>.'])
    }
    const removed = flags.keyring ? await this.#fromKeyring() : await removeFilesKey(configPlace(this.context), {profile: flags.profile})
    await this.print({removed}, {text: () => (removed ? 'removed the upload key' : 'there was no upload key there')})
  }

  /** The entry, and the reference to it: left alone, that would be an error from then on. */
  async #fromKeyring(): Promise<boolean> {
    const removed = await this.context.keyring.remove(FILES_KEY_ENTRY)
    const referred = await removeFilesKey(configPlace(this.context), {only: `${KEYRING_PREFIX}${FILES_KEY_ENTRY}`})
    return removed || referred
  }
}
