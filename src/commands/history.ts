import {asJson} from '../base/json.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {paintFor} from '../cli/shell/context.ts'
import {historyText} from '../report/audit-text.ts'

export default class HistoryCommand extends ReadingStackCommand {
  static override summary = 'show who did what to which object, the newest first, without a request'
  static override description =
    'Reads the audit files of this machine and the last lines that the ledgers carry. Follows an object through renames, moves and transfers. Lists the lines that are not here.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> null_resource.cache --since 7d',
    "<%= config.bin %> <%= command.id %> --by 'ada*' --output json",
  ]
  static override args = {
    address: Args.string({description: 'one object: address, construct path, name, remote id, or a pattern of these', ignoreStdin: true}),
  }
  static override flags = {
    ...stackFlags,
    ...stateFlag,
    since: Flags.string({summary: 'only from this time on: how long ago (7d), or a time (2026-11-22T10:00:00Z)', helpValue: '<when>'}),
    by: Flags.string({summary: 'only what this person or job did or approved, by name or glob', helpValue: '<name>'}),
  }

  protected async read(): Promise<undefined> {
    const {args, flags} = await this.parse(HistoryCommand)
    const {readHistory} = await import('../run/history/history.ts')
    const desk = await this.openDesk(flags)
    try {
      const history = await readHistory(desk, {stacks: flags.stack ?? [], word: args.address, since: flags.since, by: flags.by})
      await this.print(asJson(history), {
        text: () => historyText(history.events, history.gaps, paintFor(this.context.streams.stdout, this.context.environment)),
      })
    } finally {
      await desk.close()
    }
  }
}
