import {asJson} from '../../base/json.ts'
import {FreezeCommandBase} from '../../cli/freeze-command.ts'
import {accountFlags} from '../../cli/parse/control-flags.ts'
import {stackFlags, stateFlag} from '../../cli/parse/stack-flags.ts'
import {freezeTable} from '../../report/control-text.ts'

export default class FreezeListCommand extends FreezeCommandBase {
  static override summary = 'list what is frozen: stacks, and the accounts they speak to'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --account --profile prod --output json',
  ]
  static override flags = {...stackFlags, ...stateFlag, ...accountFlags}

  run(): Promise<undefined> {
    return this.reading(async () => {
      const {flags} = await this.parse(FreezeListCommand)
      const {listFreezes} = await import('../../run/upkeep/freeze.ts')
      await this.withAll(flags, async scope => {
        const freezes = await listFreezes(this.context, scope)
        if (freezes.length === 0 && !this.forPrograms) this.logger.note('nothing is frozen')
        await this.print(asJson({freezes, requests: {used: 0}}), {table: widest => freezeTable(freezes, widest)})
      })
      return undefined
    })
  }
}
