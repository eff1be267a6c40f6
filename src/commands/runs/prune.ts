import {BaseCommand} from '../../cli/base-command.ts'
import {durationFlag, wholeNumberFlag} from '../../cli/parse/flags.ts'

export default class RunsPruneCommand extends BaseCommand {
  static override summary = 'remove old runs that ended; unfinished ones stay'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --older-than 7d --keep 5']
  static override flags = {
    'older-than': durationFlag({summary: 'remove runs that began longer ago (default 30d)'}),
    keep: wholeNumberFlag({summary: 'keep this many of the newest, however old (default 20)', helpValue: '<number>'}),
  }

  async run(): Promise<undefined> {
    const {flags} = await this.parse(RunsPruneCommand)
    const {pruneRuns, tidyOpenRuns, USUAL_PRUNING} = await import('../../run/journal/run-files.ts')
    for (const {error} of tidyOpenRuns(this.context)) this.logger.warn(`${error.message} It stays.`)
    const {olderThanMs, keep} = USUAL_PRUNING
    const removed = pruneRuns(this.context, {olderThanMs: flags['older-than'] ?? olderThanMs, keep: flags.keep ?? keep})
    await this.print({removed}, {text: () => `removed ${removed.length} run${removed.length === 1 ? '' : 's'}`})
    return undefined
  }
}
