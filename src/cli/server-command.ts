/** Commands that talk to one server: the connection is opened before and closed after, whatever comes of it. */
import type {CloudBackend} from '../backends/cloud/backend.ts'
import type {ClusterBackend} from '../backends/cluster/backend.ts'
import {BaseCommand} from './base-command.ts'
import type {ConnectionFlagValues} from './flags.ts'
import {type OpenedApi, openCloud, openCluster} from './open-api.ts'

export abstract class ServerCommand extends BaseCommand {
  /** @throws what `connect` throws, and what `use` does */
  protected async withCloud<T>(flags: ConnectionFlagValues, use: (api: OpenedApi<CloudBackend>) => Promise<T>): Promise<T> {
    return closing(openCloud(this.context, await this.connect('cloud', flags)), use)
  }

  protected async withCluster<T>(flags: ConnectionFlagValues, use: (api: OpenedApi<ClusterBackend>) => Promise<T>): Promise<T> {
    return closing(openCluster(this.context, await this.connect('cluster', flags)), use)
  }
}

async function closing<A extends {close(): Promise<void>}, T>(api: A, use: (api: A) => Promise<T>): Promise<T> {
  try {
    return await use(api)
  } finally {
    await api.close()
  }
}
