/** An API as a stack speaks to it: what can be asked, and whose account that is. */
import type {CloudBackend} from '../../backends/cloud/backend.ts'
import {readCloudAccount} from '../../backends/cloud/cloud-api.ts'
import type {ClusterBackend} from '../../backends/cluster/backend.ts'
import {readClusterAccount} from '../../backends/cluster/cluster-api.ts'
import type {Api} from '../../base/apis.ts'
import type {Connection} from '../../config/connection.ts'
import type {Host} from '../host/host.ts'
import {type OpenedApi, openCloud, openCluster} from './open-api.ts'

export interface OpenedStackApi {
  readonly api: OpenedApi<CloudBackend | ClusterBackend>
  /** Asked once. */
  readonly account: () => Promise<string>
}

export function openStackApi(
  host: Host,
  api: Api,
  connection: Connection,
  options: Parameters<typeof openCloud>[2] & Parameters<typeof openCluster>[2],
): OpenedStackApi {
  return api === 'cloud' ? cloudOf(openCloud(host, connection, options)) : clusterOf(openCluster(host, connection, options))
}

const cloudOf = (api: OpenedApi<CloudBackend>): OpenedStackApi => ({
  api,
  account: once(async () => (await readCloudAccount(api.backend)).key),
})
const clusterOf = (api: OpenedApi<ClusterBackend>): OpenedStackApi => ({
  api,
  account: once(async () => (await readClusterAccount(api.backend)).key),
})

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
