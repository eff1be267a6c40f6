/** One package from the request to the file: family, asynchronous form, download, check, optimisation. */

import {rowId} from '../backends/api/list-rows.ts'
import type {ClusterBackend} from '../backends/cluster/backend.ts'
import {listNodes, readNode} from '../backends/cluster/cluster-api.ts'
import {clusterVoice} from '../backends/cluster/errors.ts'
import type {Clock} from '../base/clock.ts'
import {AppError} from '../base/errors.ts'
import {pollInterval} from '../base/poll-interval.ts'
import type {ConnectedClient} from '../transport/api-client.ts'
import {atMost} from '../transport/size-limit.ts'
import {NotAnArchiveError} from './archive-errors.ts'
import {type DownloadProgress, download as downloadBytes} from './download.ts'
import {ArchiveChangedError, NoSuchNodeError, PackageInterruptedError} from './package-errors.ts'
import {type PackageScope, packagePaths} from './package-paths.ts'
import {downloadPath, type PackageStatus, waitForPackage} from './package-status.ts'
import {type PackageAnswer, type PackageConnection, requestPackage} from './request-package.ts'
import {type SavedArchive, type SaveOptions, saveArchive} from './save-archive.ts'

export type PackageEvent =
  | {readonly type: 'requested'; readonly path: string}
  /** This server line lacks the path. */
  | {readonly type: 'other-family'; readonly path: string}
  /** Whether the node is there could not be asked. */
  | {readonly type: 'node-unproven'; readonly reason: string}
  /** The endpoint ignores the node; `alone`: this server has no other. */
  | {readonly type: 'all-nodes'; readonly alone: boolean}
  | {readonly type: 'status'; readonly status: PackageStatus}
  | ({readonly type: 'progress'} & DownloadProgress)
  | {readonly type: 'resumed'; readonly bytes: number; readonly reason: string}
  /** The server has another archive now. */
  | {readonly type: 'started-over'}

export interface MakeOptions {
  readonly client: ConnectedClient
  readonly cluster: ClusterBackend
  readonly clock: Clock
  readonly scope: PackageScope
  readonly newApi: boolean
  /** Absolute. */
  readonly target: string
  readonly replace: SaveOptions['replace']
  readonly optimize?: SaveOptions['optimize']
  /** Of the archive as it comes; absent: as much as the disk takes. */
  readonly maxBytes?: number | undefined
  /** `false`: an asynchronous package is only begun. */
  readonly wait: boolean
  readonly waitTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly pollIntervalMs?: number
  readonly credentialSource?: string
  readonly signal?: AbortSignal
  readonly onEvent: (event: PackageEvent) => void
}

export type MadePackage =
  | ({readonly is: 'saved'; readonly taskId?: string} & SavedArchive)
  /** Not waited for. */
  | {readonly is: 'begun'; readonly status: PackageStatus; readonly path?: undefined}

/** @throws what the steps throw; nothing is left at the destination then */
export async function makePackage(options: MakeOptions): Promise<MadePackage> {
  const {client, clock, waitTimeoutMs, idleTimeoutMs, signal, onEvent, cluster} = options
  const download = new AbortController()
  const abandon = () => download.abort(signal?.reason)
  if (signal?.aborted) abandon()
  signal?.addEventListener('abort', abandon, {once: true})
  const connection: PackageConnection = {
    client,
    clock,
    voice: clusterVoice(options.credentialSource),
    firstByteTimeoutMs: waitTimeoutMs,
    idleTimeoutMs,
    signal: download.signal,
  }
  const {path, answer} = await ask(connection, options)
  if (answer.is === 'archive') return {is: 'saved', ...(await save(connection, path, answer, options, abandon))}
  if (!options.wait) return {is: 'begun', status: answer.status}
  const {taskId: task} = answer.status
  const ready = await waitForPackage(cluster, answer.status, {
    clock,
    everyMs: pollInterval(options.pollIntervalMs),
    timeoutMs: waitTimeoutMs,
    ...(signal && {signal}),
    onStatus: status => onEvent({type: 'status', status}),
  }).catch(error => {
    throw signal?.aborted ? new PackageInterruptedError(task) : error
  })
  const place = downloadPath(ready, client.address)
  const made = await requestPackage(connection, place)
  if (made.is === 'absent') throw made.error
  if (made.is === 'task') throw new NotAnArchiveError(`the answer of GET ${place}`, 'json', made.status.message ?? undefined)
  return {is: 'saved', taskId: ready.taskId, ...(await save(connection, place, made, options, abandon))}
}

/** The first family that knows the path; the last one's refusal when none does. */
async function ask(
  connection: PackageConnection,
  options: MakeOptions,
): Promise<{path: string; answer: Exclude<PackageAnswer, {is: 'absent'}>}> {
  const {scope, newApi, onEvent} = options
  const paths = packagePaths(scope, newApi)
  for (const [at, {path, allNodes}] of paths.entries()) {
    // This path cannot say that there is no such node: it answers with all of them.
    if (allNodes && scope.type === 'node' && scope.uid !== undefined) await proveNode(scope.uid, options)
    onEvent({type: 'requested', path})
    const answer = await requestPackage(connection, path)
    if (answer.is !== 'absent') {
      if (allNodes) onEvent({type: 'all-nodes', alone: at > 0})
      return {path, answer}
    }
    if (at === paths.length - 1) throw answer.error
    onEvent({type: 'other-family', path})
  }
  throw new RangeError('there is no path to ask')
}

/** A cluster that is too ill to say which nodes it has still gets its package. @throws NoSuchNodeError */
async function proveNode(uid: string, {cluster, signal, onEvent}: MakeOptions): Promise<void> {
  const options = signal && {signal}
  try {
    if ((await readNode(cluster, uid, options)) !== undefined) return
    const nodes = await listNodes(cluster, options)
    throw new NoSuchNodeError(
      uid,
      nodes.flatMap(node => rowId(node, '/v1/nodes') ?? []),
    )
  } catch (error) {
    if (signal?.aborted || !(error instanceof AppError) || error instanceof NoSuchNodeError) throw error
    onEvent({type: 'node-unproven', reason: error.message})
  }
}

const what = 'the support package'

/** An archive that another one takes the place of while it is loaded is begun anew, a few times. */
const MAX_STARTS = 3

async function save(
  connection: PackageConnection,
  path: string,
  first: Extract<PackageAnswer, {is: 'archive'}>,
  {target, replace, optimize, maxBytes, onEvent}: MakeOptions,
  abandon: () => void,
): Promise<SavedArchive> {
  let answer = first
  for (let start = 1; ; start++) {
    const bytes = downloadBytes(connection, path, answer, {
      onProgress: progress => onEvent({type: 'progress', ...progress}),
      onResume: (bytes, reason) => onEvent({type: 'resumed', bytes, reason}),
    })
    try {
      const bounded = atMost(bytes, answer.headers, {maxBytes, what})
      return await saveArchive(bounded, target, {what, replace, abandon, ...(optimize && {optimize})})
    } catch (error) {
      if (!(error instanceof ArchiveChangedError) || start === MAX_STARTS) throw error
      onEvent({type: 'started-over'})
      const next = await requestPackage(connection, path)
      if (next.is !== 'archive') throw error
      answer = next
    }
  }
}
