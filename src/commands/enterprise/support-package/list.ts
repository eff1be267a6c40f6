import {NotFoundError} from '../../../backends/api/api-errors.ts'
import type {JsonObject} from '../../../base/json.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {OutcomeCommand} from '../../../cli/support-package/outcome-command.ts'
import {openCluster} from '../../../run/workspace/open-api.ts'
import {statusResult} from '../../../support-package/package-result.ts'
import {packageStatusOf} from '../../../support-package/package-status.ts'

export default class SupportPackageListCommand extends OutcomeCommand {
  static override summary = 'list packages the server keeps; most server versions keep none'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --output json']
  static override flags = clusterFlags

  protected override async work(signal: AbortSignal): Promise<undefined> {
    const {flags} = await this.parse(SupportPackageListCommand)
    const api = openCluster(this.context, await this.connect('cluster', flags))
    try {
      const kept = await api.backend.rows('/v1/debuginfo', {signal}).catch((error): readonly JsonObject[] => {
        if (error instanceof NotFoundError) return []
        throw error
      })
      const rows = kept.flatMap(row => statusOf(row) ?? [])
      if (rows.length < kept.length)
        this.logger.warn(`${kept.length - rows.length} of the server's packages have no task id and are left out`)
      if (rows.length === 0) this.logger.note('This server keeps no packages; each one is made when it is asked for.')
      await this.print(rows)
    } finally {
      await api.close()
    }
  }
}

function statusOf(row: JsonObject): JsonObject | undefined {
  const status = packageStatusOf(row)
  return status && statusResult(status)
}
