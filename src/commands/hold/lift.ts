import {asJson} from '../../base/json.ts'
import {objectWords} from '../../cli/parse/object-words.ts'
import {Args} from '../../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../../cli/parse/stack-flags.ts'
import {StackCommand} from '../../cli/stack-command.ts'
import {oneLine} from '../../report/terminal-text.ts'

export default class HoldLiftCommand extends StackCommand {
  static override summary = 'end a hold before its time'
  static override examples = [
    '<%= config.bin %> <%= command.id %> null_resource.cache',
    "<%= config.bin %> <%= command.id %> '*' --stack shop",
  ]
  static override strict = false
  static override args = {
    address: Args.string({
      description: "holds to end: the address from then or from now, or a pattern; '*' for all",
      ignoreStdin: true,
    }),
  }
  static override flags = {...stackFlags, ...stateFlag}

  async run(): Promise<undefined> {
    const {argv, flags} = await this.parse(HoldLiftCommand)
    const words = objectWords(argv, HoldLiftCommand, this.id, 'address')
    const {liftHolds} = await import('../../run/upkeep/hold.ts')
    const desk = await this.openDesk(flags)
    try {
      const lifted = await liftHolds(desk, flags.stack ?? [], words)
      await this.print(asJson({lifted, requests: {used: 0}}), {
        text: () => lifted.map(it => `${oneLine(`${it.stack}:${it.address}`)} is held no more`).join('\n'),
      })
    } finally {
      await desk.close()
    }
  }
}
