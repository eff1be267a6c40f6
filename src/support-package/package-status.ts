/** Packages that a server makes first and hands out later (contract section 3, wire facts: "asynchronous"). */

import {saidBy} from '../backends/api/error-body.ts'
import {taskState} from '../backends/api/task-view.ts'
import type {ClusterBackend} from '../backends/cluster/backend.ts'
import type {Clock} from '../base/clock.ts'
import type {AppError} from '../base/errors.ts'
import {idIn} from '../base/id-in.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {waitFor} from '../base/wait-for.ts'
import type {TaskState} from '../engine/model/backend.ts'
import {
  PackageAddressError,
  PackageFailedError,
  PackageStatusShapeError,
  PackageTaskUnknownError,
  PackageTimeoutError,
} from './package-errors.ts'

export interface PackageStatus {
  readonly taskId: string
  readonly state: TaskState
  /** As the server spells it. */
  readonly status: string
  /** Percent; `null` where the server does not say. */
  readonly progress: number | null
  readonly message: string | null
  readonly downloadUrl?: string
}

/** Words beside those of other tasks. The contract shows `in_progress` alone: anything unknown is still running. */
const STATES: Readonly<Record<string, TaskState>> = {
  complete: 'done',
  done: 'done',
  finished: 'done',
  ready: 'done',
  success: 'done',
  succeeded: 'done',
  error: 'failed',
  failure: 'failed',
  timeout: 'failed',
}

/** @returns `undefined` when the body names no task, and of a task that is known also when it says nothing of it */
export function packageStatusOf(body: Json | undefined, knownId?: string): PackageStatus | undefined {
  if (!isJsonObject(body)) return undefined
  const named = idIn(body, 'task_id', 'taskId', 'action_uid', 'id', 'uid')
  const taskId = named ?? knownId
  const said = textIn(body, ['status', 'state'])
  if (taskId === undefined || (said === undefined && named === undefined && body.progress === undefined)) return undefined
  const status = said ?? 'in_progress'
  const doing = textIn(body, ['message', 'description'])
  const reason = body.error === undefined || body.error === null ? undefined : saidBy(body.error).message
  const downloadUrl = textIn(body, ['download_url', 'downloadUrl'])
  const word = status.toLowerCase()
  const state = taskState(word) ?? (Object.hasOwn(STATES, word) ? STATES[word] : undefined) ?? 'running'
  // Of a failure the message is often what it was doing last, and the reason stands beside it.
  const message = state === 'failed' ? both(doing, reason) : (doing ?? reason)
  return {
    taskId,
    status,
    state,
    progress: percentIn(body.progress),
    message: message ?? null,
    ...(downloadUrl !== undefined && {downloadUrl}),
  }
}

const both = (doing: string | undefined, reason: string | undefined): string | undefined =>
  doing === undefined || reason === undefined || reason === '' || doing.includes(reason) ? (doing ?? reason) : `${reason} (${doing})`

function textIn(body: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = body[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

function percentIn(value: Json | undefined): number | null {
  const number = typeof value === 'number' ? value : typeof value === 'string' ? Number.parseFloat(value) : Number.NaN
  return Number.isFinite(number) ? number : null
}

const pathOf = (task: string): string => `/v1/debuginfo/${encodeURIComponent(task)}`

/** @throws PackageTaskUnknownError, PackageStatusShapeError, and what the cluster throws */
export async function readPackageStatus(cluster: ClusterBackend, task: string, signal?: AbortSignal): Promise<PackageStatus> {
  const found = await look(cluster, task, signal)
  if ('absent' in found) throw found.absent
  return found
}

/** `absent`: what is to be said of the task should it stay so. */
async function look(cluster: ClusterBackend, task: string, signal?: AbortSignal): Promise<PackageStatus | {readonly absent: AppError}> {
  // A status may be spelled as a task that a read waits for: this one is about a task, and whoever asks waits.
  const {status, body} = await cluster.answer(pathOf(task), [404], {...(signal && {signal})})
  const absent = status === 404 || body === undefined
  return packageStatusOf(body, task) ?? {absent: absent ? new PackageTaskUnknownError(task) : new PackageStatusShapeError(task)}
}

export interface PackageWait {
  readonly clock: Clock
  readonly everyMs: number | ((looks: number) => number)
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  readonly onStatus?: (status: PackageStatus) => void
}

/** A new task may be unknown to a node that has not heard of it yet. */
const UNKNOWN_LOOKS = 5

/**
 * Looks until the package is made.
 * @throws PackageTimeoutError, PackageFailedError, PackageTaskUnknownError, PackageStatusShapeError
 */
export async function waitForPackage(cluster: ClusterBackend, begun: PackageStatus, wait: PackageWait): Promise<PackageStatus> {
  const {clock, everyMs, timeoutMs, signal, onStatus} = wait
  const task = begun.taskId
  let unknown = 0
  let first: PackageStatus | undefined = begun
  const next = async (): Promise<PackageStatus | undefined> => {
    const status = first ?? (await look(cluster, task, signal))
    first = undefined
    if ('absent' in status) {
      unknown += 1
      if (unknown > UNKNOWN_LOOKS) throw status.absent
      return undefined
    }
    onStatus?.(status)
    return status.state === 'running' ? undefined : status
  }
  const shortestMs = typeof everyMs === 'number' ? everyMs : everyMs(1)
  const ended = await waitFor(next, {clock, everyMs, shortestMs, timeoutMs, ...(signal && {signal})})
  if (ended === undefined) throw new PackageTimeoutError(Math.round(timeoutMs / 1000), task)
  if (ended.state === 'failed') throw new PackageFailedError(task, ended.message ?? ended.status)
  return ended
}

/**
 * Where a finished package is, below the cluster's address.
 * @throws PackageAddressError when it is somewhere else
 */
export function downloadPath({taskId, downloadUrl}: PackageStatus, address: string): string {
  if (downloadUrl === undefined) return `${pathOf(taskId)}/download`
  const base = new URL(`${address}/`)
  const url = URL.canParse(downloadUrl, base.href) ? new URL(downloadUrl, base) : undefined
  if (url === undefined || url.origin !== base.origin) throw new PackageAddressError(taskId, url?.origin ?? 'an address that is none')
  const prefix = base.pathname.replace(/\/$/, '')
  const path = `${url.pathname}${url.search}`
  return prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
}
