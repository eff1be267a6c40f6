import {asJson} from '../../base/json.ts'
import {stackFlags, stateFlag} from '../../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../../cli/reading-stack-command.ts'
import {holdTable} from '../../report/control-text.ts'

export default class HoldListCommand extends ReadingStackCommand {
  static override summary = 'list what is held, by whom, until when and why'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --stack shop --output json']
  static override flags = {...stackFlags, ...stateFlag}

  protected async read(): Promise<undefined> {
    const {flags} = await this.parse(HoldListCommand)
    const {listHolds} = await import('../../run/upkeep/hold.ts')
    const desk = await this.openDesk(flags)
    try {
      const holds = await listHolds(desk, flags.stack ?? [])
      if (holds.length === 0 && !this.forPrograms) this.logger.note('nothing is held')
      await this.print(asJson({holds, requests: {used: 0}}), {table: widest => holdTable(holds, widest)})
    } finally {
      await desk.close()
    }
  }
}
