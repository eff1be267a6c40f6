import {type LogsWanted, readLogs} from '../../../backends/cluster/cluster-api.ts'
import type {JsonObject} from '../../../base/json.ts'
import {maskSecrets} from '../../../base/secret-fields.ts'
import {clusterFlags, wholeNumberFlag} from '../../../cli/parse/flags.ts'
import {Flags} from '../../../cli/parse/oclif.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'
import {followLog, logLine, logsWanted, logWindow} from '../../../endpoint/event-log.ts'
import {oneLine} from '../../../report/terminal-text.ts'

const EVERY_MS = 2_000

export default class ClusterLogsCommand extends ServerCommand {
  static override summary = "print the cluster's log"
  static override description =
    'Times are UTC (2026-01-31T08:00:00Z) or how long ago (15m, 2h, 3d).\n' +
    'With --follow it keeps reading until --until or Ctrl-C: one entry a line, with --output json one document a line.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --since 1h --limit 100',
    '<%= config.bin %> <%= command.id %> --since 2026-01-31T08:00:00Z --until 2026-01-31T09:00:00Z --output json',
    '<%= config.bin %> <%= command.id %> --follow --poll-interval 5s',
  ]
  static override flags = {
    since: Flags.string({summary: 'entries from this time on', helpValue: '<time>'}),
    until: Flags.string({summary: 'entries up to this time', helpValue: '<time>'}),
    limit: wholeNumberFlag({summary: 'at most this many entries; the server chooses which', min: 1}),
    follow: Flags.boolean({summary: 'keep printing new entries'}),
    ...clusterFlags,
  }

  async run(): Promise<undefined> {
    const {flags} = await this.parse(ClusterLogsCommand)
    const {clock} = this.context
    const window = logWindow(flags, clock.now())
    const lineOf = (entry: JsonObject) => oneLine(logLine(entry))
    await this.withCluster(flags, async ({backend, connection}) => {
      const read = async (wanted: LogsWanted) => maskSecrets(await readLogs(backend, wanted, INTERACTIVE))
      if (!flags.follow) {
        const entries = await read(logsWanted(window))
        if (entries.length === 0 && !this.forPrograms) this.logger.note('no log entries')
        return this.print(entries, {text: () => entries.map(lineOf).join('\n')})
      }
      this.untilStopped = true
      const everyMs = connection.settings.pollIntervalMs ?? EVERY_MS
      return followLog({read, window, clock, everyMs, onEntry: entry => this.printNext(entry, {text: () => lineOf(entry)})})
    })
  }
}
