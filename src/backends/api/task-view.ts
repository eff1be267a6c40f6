/** A task or an action in either vocabulary (wire facts, "Task body", "Task status"; cluster `/v1/actions`). */
import {idIn} from '../../base/id-in.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import type {SeenTask, TaskFailure, TaskState} from '../../engine/model/backend.ts'
import {saidBy} from './error-body.ts'
import {isTaken, notNow} from './not-now.ts'

const STATES: Readonly<Record<string, TaskState>> = {
  processing: 'running',
  initialized: 'running',
  received: 'running',
  'processing-in-progress': 'running',
  queued: 'running',
  starting: 'running',
  running: 'running',
  active: 'running',
  cancelling: 'running',
  completed: 'done',
  'processing-completed': 'done',
  failed: 'failed',
  'processing-error': 'failed',
  cancelled: 'failed',
  aborted: 'failed',
}

/** Any other word is taken for a running task. */
export const taskState = (status: string): TaskState | undefined =>
  Object.hasOwn(STATES, status.toLowerCase()) ? STATES[status.toLowerCase()] : undefined

const TASK_FIELDS = new Set(['taskId', 'action_uid', 'commandType', 'status', 'description', 'timestamp', 'response', 'links', 'progress'])

/** Whether this body is a task instead of what was asked for. */
export function isTaskAnswer(body: Json | undefined, status: number): body is JsonObject {
  if (!isJsonObject(body) || idIn(body, 'taskId') === undefined) return false
  return status === 202 || Object.keys(body).every(key => TASK_FIELDS.has(key))
}

/** The payload of an asynchronous read. */
export const taskResource = (body: JsonObject): Json | undefined => (isJsonObject(body.response) ? body.response.resource : undefined)

/** @returns undefined when this is no task */
export function taskView(body: Json): SeenTask | undefined {
  if (!isJsonObject(body)) return undefined
  const id = idIn(body, 'taskId', 'action_uid', 'id')
  if (id === undefined) return undefined
  const status = typeof body.status === 'string' ? body.status : ''
  const response = isJsonObject(body.response) ? body.response : {}
  const state = taskState(status) ?? 'running'
  const resourceId = idIn(response, 'resourceId') ?? idIn(body, 'resourceId')
  const commandType = textOf(body.commandType) ?? textOf(body.name)
  const description = textOf(body.description) ?? progressOf(body.progress)
  const startedAt = startOf(body)
  return {
    id,
    state,
    status,
    ...(resourceId === undefined ? {} : {resourceId}),
    ...(commandType === undefined ? {} : {commandType}),
    ...(description === undefined ? {} : {description}),
    ...(startedAt === undefined ? {} : {startedAt}),
    ...(state === 'failed' ? {error: failureOf(body, response, status)} : {}),
  }
}

/** The code decides what a failure means; a status counts only where there is no code. */
function failureOf(body: JsonObject, response: JsonObject, status: string): TaskFailure {
  const error = response.error ?? body.error
  const said = error === undefined || error === null ? {message: textOf(body.description) ?? status} : saidBy(error)
  const statusBeside = isJsonObject(error) && said.code === undefined ? String(error.status ?? '') : ''
  const wait = notNow(said) ?? (/^(409|429)\b/.test(statusBeside) ? 'busy' : undefined)
  return {
    ...(said.code === undefined ? {} : {code: said.code}),
    message: said.message,
    ...(said.field === undefined ? {} : {field: said.field}),
    transient: wait !== undefined,
    ...(wait === 'crowded' ? {crowded: true} : {}),
    ...(wait === undefined && isTaken(said) ? {taken: true as const} : {}),
  }
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** Percent, as a number or as text. */
function progressOf(progress: Json | undefined): string | undefined {
  if (typeof progress === 'number') return `${progress} %`
  return typeof progress === 'string' && progress !== '' ? progress.replace(/^(\d+(?:\.\d+)?)$/, '$1 %') : undefined
}

/**
 * Seconds, milliseconds or ISO text. `timestamp` is the task's last change, so that it began no later: whoever asks
 * whether a task is older than a request may rely on it.
 */
function startOf(body: JsonObject): number | undefined {
  for (const name of ['startedAt', 'startTime', 'createdAt', 'createdTimestamp', 'creation_time', 'timestamp']) {
    const value = body[name]
    if (typeof value === 'number' && value > 0) return value < 100_000_000_000 ? value * 1000 : value
    const parsed = typeof value === 'string' ? Date.parse(value) : Number.NaN
    if (!Number.isNaN(parsed)) return parsed
  }
  return undefined
}
