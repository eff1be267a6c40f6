import {isJsonObject, type Json} from '../../../base/json.ts'
import {clusterFlags} from '../../../cli/flags.ts'
import {openCluster} from '../../../cli/open-api.ts'
import {statusResult} from '../../../support-package/package-result.ts'
import {packageStatus} from '../../../support-package/package-status.ts'
import {ReportingCommand} from './reporting-command.ts'

export default class SupportPackageListCommand extends ReportingCommand {
  static override summary = 'list packages the server keeps; most server versions keep none'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --output json']
  static override flags = clusterFlags

  protected override async work(signal: AbortSignal): Promise<undefined> {
    const {flags} = await this.parse(SupportPackageListCommand)
    const api = openCluster(this.context, await this.connect('cluster', flags))
    try {
      const rows = rowsIn(await api.backend.find('/v1/debuginfo', {signal}))
      if (rows.length === 0) this.logger.note('This server keeps no packages; each one is made when it is asked for.')
      await this.print(rows)
    } finally {
      await api.close()
    }
  }
}

/** A bare array, or an object with one. */
function rowsIn(body: Json | undefined) {
  const list = Array.isArray(body) ? body : isJsonObject(body) ? Object.values(body).find(Array.isArray) : undefined
  return ((list ?? []) as readonly Json[]).flatMap(row => {
    const status = packageStatus(row)
    return status === undefined ? [] : [statusResult(status)]
  })
}
