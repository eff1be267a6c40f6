import {BaseCommand} from '../../cli/base-command.ts'
import {configPlace} from '../../cli/config-place.ts'
import {type ConnectionFlagValues, connectionFlagsFrom, serverFlags} from '../../cli/parse/flags.ts'
import {Flags} from '../../cli/parse/oclif.ts'
import type {ProfileTrial} from '../../cli/try-profile.ts'
import {narrowModes, wideModes} from '../../config/config-file.ts'
import {withConfigLock} from '../../config/config-lock.ts'
import type {Profiles} from '../../config/profiles.ts'
import {ConfigInvalidError, validateProfiles} from '../../config/validate-profiles.ts'

export default class ProfileValidateCommand extends BaseCommand {
  static override summary = 'check the configuration file: syntax, values, variables, keyring entries, permissions'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --fix',
    '<%= config.bin %> <%= command.id %> --connect --output json',
  ]
  static override flags = {
    fix: Flags.boolean({summary: 'close permissions that are too wide'}),
    connect: Flags.boolean({summary: 'send one request with each profile'}),
    ...serverFlags,
    profile: Flags.string({summary: 'with --connect: this profile alone', helpGroup: 'CONNECTION', helpValue: '<name>'}),
  }

  async run(): Promise<undefined> {
    const {flags} = await this.parse(ProfileValidateCommand)
    const {environment, keyring} = this.context
    const path = environment.configFile
    const fixed = flags.fix ? wideModes(path) : []
    if (fixed.length > 0) await withConfigLock(configPlace(this.context), () => narrowModes(fixed))
    for (const {path: closed, mode, wanted} of fixed) this.logger.note(`closed ${closed}: ${mode} is now ${wanted}`)
    const profiles: Profiles = this.context.profiles()
    const {problems, remarks} = await validateProfiles(profiles, keyring)
    for (const remark of remarks) this.logger.warn(remark)
    if (problems.length > 0) throw new ConfigInvalidError(path, problems)
    const names = flags.profile === undefined ? profiles.names : [profiles.get(flags.profile, '--profile').name]
    const connected = flags.connect ? await this.#connected(names, flags) : undefined
    await this.print(
      {
        path,
        valid: true,
        profiles: [...profiles.names],
        remarks: [...remarks],
        fixed: fixed.map(mode => mode.path),
        ...(connected === undefined ? {} : {connected: connected.map(trial => ({...trial}))}),
      },
      {
        text: () =>
          profiles.names.length === 0
            ? `${path} has no profiles, and need not have any`
            : `${path} is valid: ${profiles.names.length} profile${profiles.names.length === 1 ? '' : 's'}${connected === undefined ? '' : flags.profile === undefined ? ', all of them connect' : `, and ${flags.profile} connects`}`,
      },
    )
  }

  async #connected(names: readonly string[], flags: ConnectionFlagValues): Promise<readonly ProfileTrial[]> {
    const {tryProfiles} = await import('../../cli/try-profile.ts')
    return tryProfiles(this.context, names, connectionFlagsFrom(flags))
  }
}
