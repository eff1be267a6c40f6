import {asJson} from '../base/json.ts'
import {FreezeCommandBase} from '../cli/freeze-command.ts'
import {accountFlags, saidFlags} from '../cli/parse/control-flags.ts'
import {Flags} from '../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../cli/parse/stack-flags.ts'

export default class FreezeCommand extends FreezeCommandBase {
  static override summary = 'stop all changes to a stack or an account for a while, on every machine'
  static override description =
    'apply, destroy, import, absorb, forget, transfer and undo refuse (E_FROZEN) until the freeze ends or is lifted. Five seconds after this command returns, no running apply on any machine that shares the controls sends anything new: requests in flight finish, and the rest is saved as a plan.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --stack shop --until 4h --reason "incident 4711"',
    '<%= config.bin %> <%= command.id %> --account --profile prod --until 2026-12-01T08:00:00Z --reason "end of the quarter" --strict',
  ]
  static override flags = {
    ...stackFlags,
    ...stateFlag,
    ...accountFlags,
    ...saidFlags,
    strict: Flags.boolean({summary: 'not even apply --break-glass ignores it'}),
  }

  async run(): Promise<undefined> {
    const {flags} = await this.parse(FreezeCommand)
    const {freeze} = await import('../run/upkeep/freeze.ts')
    await this.withOne(flags, async scope => {
      const freezes = await freeze(this.context, scope, {...flags, strict: flags.strict ?? false}, this.stoppable)
      await this.print(asJson({freezes, requests: {used: 0}}), {
        text: () =>
          freezes
            .map(
              it =>
                `${it.stack === undefined ? `${it.account ?? 'the account'} (kept in ${it.place})` : `stack ${it.stack}`} is frozen until ${it.until}: ${it.id}`,
            )
            .join('\n'),
      })
    })
  }
}
