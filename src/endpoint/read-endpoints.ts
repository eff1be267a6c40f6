/** What the endpoint commands read, with as few requests as the records need. */
import type {ClusterBackend} from '../backends/cluster/backend.ts'
import {listBdbs, listNodes, readAvailability, readBdb, readEndpointStats} from '../backends/cluster/cluster-api.ts'
import type {RequestOptions} from '../engine/model/backend.ts'
import {
  AvailabilityUnsupportedError,
  availabilityRecord,
  type EndpointAvailability,
  NoSuchDatabaseError,
  needsNodes,
} from './availability.ts'
import {type EndpointStats, endpointStatsOf, NoEndpointStatsError, needsNames, statsRows} from './stats.ts'

/**
 * One request, and the list of databases where names are missing.
 * @throws NoEndpointStatsError, EndpointStatsShapeError, and whatever a read throws
 */
export async function readStats(cluster: ClusterBackend, options?: RequestOptions): Promise<readonly EndpointStats[]> {
  const answer = await readEndpointStats(cluster, options)
  if (answer === undefined) throw new NoEndpointStatsError()
  const rows = statsRows(answer)
  return endpointStatsOf(rows, needsNames(rows) ? await listBdbs(cluster, options) : [])
}

/**
 * The database first: without it the server's 404 could mean either of two things.
 * @throws NoSuchDatabaseError, AvailabilityUnsupportedError, and whatever a read throws
 */
export async function readEndpointAvailability(
  cluster: ClusterBackend,
  uid: string,
  options?: RequestOptions,
): Promise<EndpointAvailability> {
  const bdb = await readBdb(cluster, uid, options)
  if (bdb === undefined) throw new NoSuchDatabaseError(uid)
  const said = await readAvailability(cluster, uid, options)
  if (said.is === 'not found') throw new AvailabilityUnsupportedError(uid)
  return availabilityRecord(uid, said, bdb, needsNodes(said, bdb) ? await listNodes(cluster, options) : [])
}
