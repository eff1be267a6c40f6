import {asJson} from '../../../base/json.ts'
import {waitFor} from '../../../base/wait-for.ts'
import {clusterFlags, durationFlag} from '../../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'
import {readStats} from '../../../endpoint/read-endpoints.ts'
import {fieldTable} from '../../../report/field-table.ts'

const FIELDS = [
  ['endpoint', 'endpoint_name'],
  ['bdb', 'bdb_uid'],
  ['conns', 'current_connections'],
  ['total', 'total_connections'],
  ['failed', 'failed_connections'],
  ['req/s', 'requests_per_sec'],
  ['res/s', 'responses_per_sec'],
  ['latency ms', 'avg_latency_ms'],
  ['in Mbit/s', 'bandwidth_in_mbps'],
  ['out Mbit/s', 'bandwidth_out_mbps'],
  ['errors/s', 'errors_per_sec'],
] as const

/** To the top left, and everything below it away. */
const REDRAW = '\u001b[H\u001b[2J'

export default class EndpointStatsCommand extends ServerCommand {
  static override summary = 'show what the endpoints of all databases are doing'
  static override description =
    'With --watch the figures are read again and again until Ctrl-C; a terminal shows one table that is redrawn, --output json writes one list a line.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --watch 5s',
    "<%= config.bin %> <%= command.id %> --query '[?errors_per_sec > `0`].endpoint_name'",
  ]
  static override flags = {watch: durationFlag({summary: 'read again and redraw, this long apart'}), ...clusterFlags}

  async run(): Promise<undefined> {
    const {flags} = await this.parse(EndpointStatsCommand)
    await this.withCluster(flags, async ({backend}) => {
      const everyMs = flags.watch
      if (everyMs === undefined) {
        const rows = (await readStats(backend, INTERACTIVE)).map(asJson)
        return this.printRows(
          rows,
          FIELDS.map(field => [...field]),
          'endpoints',
        )
      }
      this.untilStopped = true
      const redraw = this.context.streams.stdout.isTTY === true && !this.forPrograms ? REDRAW : ''
      const look = async () => {
        backend.reader.forget('/v1/bdbs')
        const rows = (await readStats(backend, INTERACTIVE)).map(asJson)
        const shown = async (widest?: number) =>
          `${redraw}${new Date(this.context.clock.now()).toISOString()}\n${await fieldTable(rows, FIELDS, widest)}\n`
        await this.printNext(rows, {table: shown})
        return undefined
      }
      await waitFor<never>(look, {clock: this.context.clock, everyMs: Math.max(100, everyMs), timeoutMs: Number.POSITIVE_INFINITY})
    })
  }
}
