import {asJson} from '../../base/json.ts'
import {FreezeCommandBase} from '../../cli/freeze-command.ts'
import {accountFlags} from '../../cli/parse/control-flags.ts'
import {objectWords} from '../../cli/parse/object-words.ts'
import {Args} from '../../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../../cli/parse/stack-flags.ts'
import {oneLine} from '../../report/terminal-text.ts'

export default class FreezeLiftCommand extends FreezeCommandBase {
  static override summary = 'end a freeze before its time'
  static override examples = [
    '<%= config.bin %> <%= command.id %> f-1a2b3c4d',
    '<%= config.bin %> <%= command.id %> f-1a2b3c4d --account --profile prod',
  ]
  static override strict = false
  static override args = {id: Args.string({description: 'the freeze, as svcctl freeze list names it', ignoreStdin: true})}
  static override flags = {...stackFlags, ...stateFlag, ...accountFlags}

  async run(): Promise<undefined> {
    const {argv, flags} = await this.parse(FreezeLiftCommand)
    const ids = objectWords(argv, FreezeLiftCommand, this.id, 'id')
    const {liftFreezes} = await import('../../run/upkeep/freeze.ts')
    await this.withAll(flags, async scope => {
      const lifted = await liftFreezes(this.context, scope, ids, this.stoppable)
      await this.print(asJson({lifted, requests: {used: 0}}), {
        text: () =>
          lifted
            .map(
              it => `${it.stack === undefined ? (it.account ?? 'the account') : `stack ${oneLine(it.stack)}`} is frozen no more (${it.id})`,
            )
            .join('\n'),
      })
    })
  }
}
