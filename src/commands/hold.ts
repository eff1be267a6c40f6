import {asJson} from '../base/json.ts'
import {saidFlags} from '../cli/parse/control-flags.ts'
import {objectWords} from '../cli/parse/object-words.ts'
import {Args} from '../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../cli/parse/stack-flags.ts'
import {StackCommand} from '../cli/stack-command.ts'

export default class HoldCommand extends StackCommand {
  static override summary = 'keep objects unchanged for a while, whatever a plan would do'
  static override description =
    'A plan that would touch a held object is refused (G_HELD) until the hold ends or is lifted; --skip-held leaves the object out and does the rest. Holds are stored beside the ledger and count for everybody who uses it.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> null_resource.cache --until 7d --reason "load test of the shop team"',
    "<%= config.bin %> <%= command.id %> 'shop:null_resource.db_*' --until 2026-12-01T08:00:00Z --reason 'migration OPS-12' --by ada@example.com",
  ]
  static override strict = false
  static override args = {
    address: Args.string({description: 'what is held: address, name, remote id, a kind, or a pattern of these', ignoreStdin: true}),
  }
  static override flags = {...stackFlags, ...stateFlag, ...saidFlags}

  async run(): Promise<undefined> {
    const {argv, flags} = await this.parse(HoldCommand)
    const words = objectWords(argv, HoldCommand, this.id, 'address')
    const {hold} = await import('../run/upkeep/hold.ts')
    const desk = await this.openDesk(flags)
    try {
      const holds = await hold(desk, flags.stack ?? [], words, flags)
      await this.print(asJson({holds, requests: {used: 0}}), {
        text: () => holds.map(it => `${it.stack}:${it.address} is held until ${it.until}`).join('\n'),
      })
    } finally {
      await desk.close()
    }
  }
}
