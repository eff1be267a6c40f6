import {DEPLOYMENTS} from '../../base/apis.ts'
import {notEmpty} from '../../base/usage-error.ts'
import {BaseCommand} from '../../cli/base-command.ts'
import {configPlace} from '../../cli/config-place.ts'
import {Args, Flags} from '../../cli/parse/oclif.ts'
import {fieldFlags, fieldValues} from '../../cli/parse/profile-flags.ts'
import {readSecret} from '../../cli/prompt.ts'
import {isInteractive} from '../../cli/shell/context.ts'
import {profileView, viewText} from '../../cli/show/profile-view.ts'
import {undoText, withKeyringEntries} from '../../config/keyring-change.ts'
import {profileField} from '../../config/profile-fields.ts'
import {saveProfile} from '../../config/profile-store.ts'
import {KEYRING_PREFIX, Profiles} from '../../config/profiles.ts'
import {assertSendableSecret} from '../../config/sendable-secret.ts'

export default class ProfileSetCommand extends BaseCommand {
  static override summary = 'create a profile, or change fields of one'
  static override description =
    'Comments, unknown keys and ${VAR} references in the file stay as they are. A secret given as - comes from standard input; a new profile without one asks for it on a terminal.'
  static override examples = [
    'printf %s "$SECRET" | <%= config.bin %> <%= command.id %> prod --deployment cloud --api-url https://api.example.com/v1 --api-key \'${PROD_KEY}\' --api-secret -',
    '<%= config.bin %> <%= command.id %> lab --deployment enterprise --url https://lab.example.com:9443 --username admin --password - --insecure --use-keyring',
    '<%= config.bin %> <%= command.id %> prod --rate 60 --mode read-only',
  ]
  static override args = {name: Args.string({required: true, ignoreStdin: true, description: 'name of the profile'})}
  static override flags = {
    deployment: Flags.option({options: DEPLOYMENTS, aliases: ['type'], summary: 'which API it is for', helpValue: '<deployment>'})(),
    ...fieldFlags,
    unset: Flags.string({multiple: true, multipleNonGreedy: true, summary: 'field to take out of the profile', helpValue: '<field>'}),
    'use-keyring': Flags.boolean({summary: "keep secrets in the system's keyring, and only their names in the file"}),
  }

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(ProfileSetCommand)
    const {environment, keyring} = this.context
    notEmpty(args.name, 'the name of the profile')
    const values = fieldValues(flags)
    for (const [field, value] of Object.entries(values)) notEmpty(value, `--${field.replaceAll('_', '-')}`)
    for (const [field, value] of Object.entries(values)) {
      if (value === '-' && profileField(field)?.secret) values[field] = await this.secretFromInput(`--${field.replaceAll('_', '-')}`)
    }
    const isNew = !this.context.profiles().names.includes(args.name)
    const missing = flags.deployment === 'cloud' ? 'api_secret' : 'password'
    if (isNew && flags.deployment !== undefined && values[missing] === undefined && isInteractive(this.context)) {
      values[missing] = await readSecret(this.context, missing)
    }
    for (const [field, value] of Object.entries(values)) assertSendableSecret(field, value, field, flags['use-keyring'])
    const kept: Record<string, string> = {}
    if (flags['use-keyring']) {
      for (const [field, value] of Object.entries(values)) {
        if (!profileField(field)?.secret || value.startsWith(KEYRING_PREFIX)) continue
        const entry = `${args.name}.${field}`
        kept[entry] = value
        values[field] = `${KEYRING_PREFIX}${entry}`
      }
    }
    const change = {
      name: args.name,
      deployment: flags.deployment,
      set: values,
      unset: (flags.unset ?? []).map(field => field.replaceAll('-', '_')),
    }
    const {configFile, all} = environment
    const shown = (profiles: Profiles) => profileView(profiles, change.name)
    const saved = await withKeyringEntries(
      keyring,
      kept,
      () => saveProfile(configPlace(this.context), change, root => shown(new Profiles(configFile, root, all))),
      undo => this.logger.warn(undoText(undo)),
    )
    const view = shown(Profiles.load(configFile, all))
    this.logger.info(`${saved.created ? 'created' : 'changed'} profile "${saved.name}" in ${configFile}`)
    await this.print(view, {text: () => viewText(view)})
  }
}
