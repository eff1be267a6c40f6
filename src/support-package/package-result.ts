/** What the support-package commands answer (contract section 2, "Support package result" and "Optimisation report"). */

import type {ClusterBackend} from '../backends/cluster/backend.ts'
import {listNodes, readCluster} from '../backends/cluster/cluster-api.ts'
import type {Clock} from '../base/clock.ts'
import type {JsonObject} from '../base/json.ts'
import {shellWord} from '../base/shell-word.ts'
import type {PackageScope} from './package-paths.ts'
import type {PackageStatus} from './package-status.ts'
import type {Optimization, SavedArchive} from './save-archive.ts'
import type {Uploaded} from './upload-archive.ts'

export interface ClusterIdentity {
  readonly name: string | null
  /** With its build suffix. */
  readonly version: string | null
}

/** A package that is there does not wait any longer for the name of its cluster. */
const PATIENCE_MS = 10_000

/**
 * Best effort: a package is worth having also from a cluster that does not say who it is. Asked after the package, so
 * that a server that answers nothing else cannot hold it up.
 */
export async function identifyCluster(cluster: ClusterBackend, clock: Clock, signal?: AbortSignal): Promise<ClusterIdentity> {
  const late = new AbortController()
  const known = new AbortController()
  const stop = () => late.abort(signal?.reason)
  signal?.addEventListener('abort', stop, {once: true})
  clock.sleep(PATIENCE_MS, known.signal).then(
    () => late.abort(),
    () => {},
  )
  try {
    const [found, nodes] = await Promise.all([
      readCluster(cluster, {signal: late.signal}).catch(() => undefined),
      listNodes(cluster, {signal: late.signal}).catch((): readonly JsonObject[] => []),
    ])
    const version = nodes.map(node => node.software_version).find(it => typeof it === 'string')
    return {name: typeof found?.name === 'string' ? found.name : null, version: typeof version === 'string' ? version : null}
  } finally {
    known.abort()
    signal?.removeEventListener('abort', stop)
  }
}

export interface PackageOutcome {
  readonly scope: PackageScope
  readonly saved: SavedArchive
  readonly taskId?: string
  /** Absent: no local copy was kept. */
  readonly file?: string
  readonly uploaded?: Uploaded
  readonly cluster: ClusterIdentity
  readonly elapsedMs: number
  readonly now: number
}

export function packageResult({scope, saved, taskId, file, uploaded, cluster, elapsedMs, now}: PackageOutcome): JsonObject {
  const {sizeBytes, optimization} = saved
  return {
    success: true,
    package_type: scope.type,
    file_path: file ?? null,
    file_size: sizeBytes,
    file_size_display: displaySize(sizeBytes),
    elapsed_seconds: Math.round(elapsedMs / 1000),
    cluster_name: cluster.name,
    cluster_version: cluster.version,
    message: messageOf(optimization, file, uploaded),
    timestamp: new Date(now).toISOString(),
    ...(taskId !== undefined && {task_id: taskId}),
    ...(optimization !== undefined && {optimization: optimizationReport(optimization)}),
    ...(uploaded !== undefined && {upload: uploadResult(uploaded)}),
  }
}

function messageOf(optimization: Optimization | undefined, file: string | undefined, uploaded: Uploaded | undefined): string {
  const parts = ['Support package created']
  if (optimization?.applied) parts.push('optimized')
  if (uploaded !== undefined) parts.push('uploaded')
  const said = parts.length < 3 ? parts.join(' and ') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
  const kept = optimization !== undefined && !optimization.applied ? `; not optimized, the original is kept: ${optimization.reason}` : ''
  return `${said}${kept}${file === undefined ? '; no local copy was kept' : ''}.`
}

export function optimizationReport(optimization: Optimization): JsonObject {
  const {result} = optimization
  const reason = optimization.applied ? null : optimization.reason
  if (result === undefined) return {applied: false, reason}
  return {
    applied: optimization.applied,
    reason,
    size_before: result.sizeBefore,
    size_after: result.sizeAfter,
    reduction_percent: Number((100 * (1 - result.sizeAfter / Math.max(1, result.sizeBefore))).toFixed(1)),
    files_processed: result.filesProcessed,
    files_truncated: result.filesTruncated,
    files_removed: result.filesRemoved,
    removed: result.removed.map(({path, reason, detail}) => ({path, reason, ...(detail !== undefined && {detail})})),
  }
}

/** The report as people read it. */
export function optimizationText(optimization: Optimization): string {
  const {result} = optimization
  if (result === undefined) return optimization.applied ? '' : `Not optimized: ${optimization.reason}`
  const percent = (100 * (1 - result.sizeAfter / Math.max(1, result.sizeBefore))).toFixed(1)
  return [
    'Optimization',
    `  size before      ${displaySize(result.sizeBefore)}`,
    `  size after       ${displaySize(result.sizeAfter)}`,
    `  reduction        ${percent} %`,
    `  files processed  ${result.filesProcessed}`,
    `  files truncated  ${result.filesTruncated}`,
    `  files removed    ${result.filesRemoved}`,
    ...result.removed.map(({path, reason, detail}) => `    ${path}: ${reason}${detail === undefined ? '' : ` (${detail})`}`),
    ...(result.removed.length < result.filesRemoved ? [`    and ${result.filesRemoved - result.removed.length} more`] : []),
  ].join('\n')
}

export const uploadResult = ({path, size, elapsedMs}: Uploaded): JsonObject => ({
  path,
  size,
  elapsed_seconds: Math.round(elapsedMs / 1000),
})

/** Of a package that was begun and not waited for. */
export const begunResult = (status: PackageStatus): JsonObject => ({
  success: true,
  task_id: status.taskId,
  status: status.status,
  command: `svcctl enterprise support-package status ${shellWord(status.taskId)}`,
})

export const statusResult = ({taskId, status, progress, message}: PackageStatus): JsonObject => ({
  task_id: taskId,
  status,
  progress,
  message,
})

/** The contract's "human readable, for example in MB": powers of 1000. */
export function displaySize(bytes: number): string {
  for (const [unit, size] of [
    ['GB', 1e9],
    ['MB', 1e6],
    ['kB', 1e3],
  ] as const) {
    if (bytes >= size) return `${(bytes / size).toFixed(1)} ${unit}`
  }
  return `${bytes} B`
}
