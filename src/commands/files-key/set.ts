import {notEmpty} from '../../base/usage-error.ts'
import {BaseCommand} from '../../cli/base-command.ts'
import {configPlace} from '../../cli/config-place.ts'
import {Args, Flags} from '../../cli/parse/oclif.ts'
import {FILES_KEY_ENTRY} from '../../config/files-key.ts'
import {undoText, withKeyringEntries} from '../../config/keyring-change.ts'
import {mask} from '../../config/mask.ts'
import {saveFilesKey} from '../../config/profile-store.ts'
import {KEYRING_PREFIX} from '../../config/profiles.ts'
import {assertSendableSecret} from '../../config/sendable-secret.ts'

export default class FilesKeySetCommand extends BaseCommand {
  static override summary = 'store the upload key'
  static override description =
    'Stores the key in the keyring, in one profile, or (the default) in the configuration file for all profiles.'
  static override examples = [
    'printf %s "$UPLOAD_KEY" | <%= config.bin %> <%= command.id %> - --use-keyring',
    'printf %s "$UPLOAD_KEY" | <%= config.bin %> <%= command.id %> - --profile lab',
  ]
  static override args = {key: Args.string({required: true, ignoreStdin: true, description: 'the key; - reads standard input'})}
  static override flags = {
    'use-keyring': Flags.boolean({exclusive: ['global', 'profile'], summary: "keep it in the system's keyring"}),
    global: Flags.boolean({exclusive: ['profile'], summary: 'for all profiles (the default)'}),
    profile: Flags.string({summary: 'for one profile', helpValue: '<name>'}),
  }

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(FilesKeySetCommand)
    const {keyring, redactor} = this.context
    const place = configPlace(this.context)
    const key = notEmpty(args.key === '-' ? await this.secretFromInput('KEY') : args.key, 'the key')
    assertSendableSecret('files_api_key', key, 'the key', flags['use-keyring'])
    if (!flags['use-keyring']) await saveFilesKey(place, key, flags.profile)
    else {
      await withKeyringEntries(
        keyring,
        {[FILES_KEY_ENTRY]: key},
        () => saveFilesKey(place, `${KEYRING_PREFIX}${FILES_KEY_ENTRY}`),
        undo => this.logger.warn(undoText(undo)),
      )
    }
    const stored = flags['use-keyring'] ? 'keyring' : flags.profile === undefined ? 'global config' : `profile ${flags.profile}`
    redactor.register(key)
    await this.print({stored, key: mask(key)}, {text: () => `stored the upload key in: ${stored}`})
  }
}
