/** Commands that talk to one server: the connection is opened before and closed after, and what is shown holds no secret. */
import type {CloudBackend} from '../backends/cloud/backend.ts'
import type {ClusterBackend} from '../backends/cluster/backend.ts'
import type {ExactJson} from '../base/lossless-json.ts'
import {maskSecrets} from '../base/secret-fields.ts'
import {PRIORITY} from '../engine/backend.ts'
import {fieldTable, type ShownField} from '../report/field-table.ts'
import {BaseCommand} from './base-command.ts'
import type {ConnectionFlagValues} from './flags.ts'
import {type OpenedApi, openCloud, openCluster} from './open-api.ts'

/** Somebody waits for the answer: these requests go before those of plans and applies. */
export const INTERACTIVE = {priority: PRIORITY.interactive} as const

type Row = {readonly [key: string]: ExactJson}

export abstract class ServerCommand extends BaseCommand {
  /** @throws what `connect` throws, and what `use` does */
  protected async withCloud<T>(flags: ConnectionFlagValues, use: (api: OpenedApi<CloudBackend>) => Promise<T>): Promise<T> {
    return closing(openCloud(this.context, await this.connect('cloud', flags)), use)
  }

  protected async withCluster<T>(flags: ConnectionFlagValues, use: (api: OpenedApi<ClusterBackend>) => Promise<T>): Promise<T> {
    return closing(openCluster(this.context, await this.connect('cluster', flags)), use)
  }

  /** A list: a table of these fields for people, all of it for programs. */
  protected async printRows(rows: readonly Row[], fields: readonly ShownField[], noun: string): Promise<void> {
    const shown = maskSecrets(rows)
    if (rows.length === 0 && !this.forPrograms) this.logger.note(`no ${noun}`)
    await this.print(shown, {table: () => fieldTable(shown, fields)})
  }

  /** One object, field by field. */
  protected printRecord(record: ExactJson): Promise<void> {
    return this.print(maskSecrets(record))
  }
}

async function closing<A extends {close(): Promise<void>}, T>(api: A, use: (api: A) => Promise<T>): Promise<T> {
  try {
    return await use(api)
  } finally {
    await api.close()
  }
}
