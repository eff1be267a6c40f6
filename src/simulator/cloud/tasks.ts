/** Tasks: the state of asynchronous operations, in both vocabularies. */
import type {Json} from '../../base/json.ts'
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import type {CloudConfig} from '../base/config.ts'
import {onePage} from '../base/list-query.ts'
import {drawUuid} from '../base/random.ts'
import type {Fields, Task, TaskError, World} from '../base/world.ts'
import {listBody} from './spelling.ts'

export function newTask(
  world: World,
  now: number,
  more: {command: string; doneAt: number; resourceId?: string; error?: TaskError; resource?: Json},
): Task {
  const task: Task = {taskId: drawUuid(world.random), createdAt: now, reads: 0, ...more}
  world.cloud.tasks[task.taskId] = task
  return task
}

export const isRunning = (task: Task, now: number): boolean => now < task.doneAt

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  received: 'Task request received and is being queued for processing.',
  'processing-in-progress': 'Task is currently being processed.',
  'processing-completed': 'Request processing completed successfully.',
  'processing-error': 'Task request failed during processing. See error information for failure details.',
}

function statusWord(config: CloudConfig, task: Task, now: number): string {
  const long = config.taskWords === 'long'
  if (isRunning(task, now)) {
    if (!long) return 'processing'
    return now < task.createdAt + (task.doneAt - task.createdAt) / 4 ? 'received' : 'processing-in-progress'
  }
  if (task.error) return long ? 'processing-error' : 'failed'
  return long ? 'processing-completed' : 'completed'
}

export function showTask(config: CloudConfig, task: Task, now: number): Fields {
  const status = statusWord(config, task, now)
  const out: Fields = {taskId: task.taskId, commandType: task.command, status}
  const description = DESCRIPTIONS[status]
  if (description) out.description = description
  out.timestamp = new Date(task.createdAt).toISOString()
  if (isRunning(task, now)) return out
  const response: Fields = {}
  if (task.error) response.error = showTaskError(config, task.error)
  else if (task.resource !== undefined) response.resource = task.resource
  if (task.resourceId !== undefined && config.taskResourceId) {
    response.resourceId = config.idType === 'number' && /^\d+$/.test(task.resourceId) ? Number(task.resourceId) : task.resourceId
  }
  if (Object.keys(response).length > 0) out.response = response
  return out
}

function showTaskError(config: CloudConfig, error: TaskError): Json {
  if (config.taskError === 'text') return `${error.code}: ${error.message}`
  if (config.taskWords === 'long') return {type: error.code, status: error.status, description: error.message}
  return {code: error.code, message: error.message, ...(error.field === undefined ? {} : {details: {field: error.field}})}
}

export function readTask(exchange: Exchange, id: string): Answer {
  const {world, config, now} = exchange
  const task = world.cloud.tasks[id]
  if (!task) throw new Refusal(404, 'TASK_NOT_FOUND', `Task ${id} not found.`)
  task.reads++
  if (task.reads <= config.cloud.taskNotFoundReads) throw new Refusal(404, 'TASK_NOT_FOUND', `Task ${id} not found.`)
  return {status: 200, json: showTask(config.cloud, task, now)}
}

/** Newest first. */
export function listTasks(exchange: Exchange): Answer {
  const {world, config, now, query} = exchange
  const {maxRows, runningOnly, served} = config.cloud.taskList
  if (!served) throw new Refusal(404, 'NOT_FOUND', 'There is nothing at /tasks.')
  const wanted = query.get('status')
  let tasks = Object.values(world.cloud.tasks).reverse()
  if (runningOnly) tasks = tasks.filter(task => isRunning(task, now))
  if (wanted !== null) tasks = tasks.filter(task => statusWord(config.cloud, task, now) === wanted)
  if (maxRows !== null) tasks = tasks.slice(0, maxRows)
  const rows = onePage(exchange, tasks, task => showTask(config.cloud, task, now), {
    paging: config.cloud.paging,
    shuffled: false,
    badRequest: 'INVALID_REQUEST',
  })
  return {status: 200, json: listBody(config.cloud, 'tasks', rows)}
}
