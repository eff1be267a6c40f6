/** The cloud API as the engine and the imperative commands use it. */
import type {Clock} from '../../base/clock.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {type Backend, PRIORITY, type RequestOptions, type TaskList, type TaskView, type WriteOutcome} from '../../engine/backend.ts'
import type {ApiRequest} from '../../engine/kind.ts'
import type {ApiClient} from '../../transport/api-client.ts'
import {ApiReads, asPage} from '../api-reads.ts'
import {rowsIn} from '../list-rows.ts'
import {PagedReader} from '../paged-reader.ts'
import type {FetchPage} from '../paging-facts.ts'
import {TaskLists} from '../task-list.ts'
import {taskState, taskView} from '../task-view.ts'
import type {Warn} from '../warning.ts'
import {isCrowded429, type WriteRules, writeOutcome} from '../write-outcome.ts'
import {cloudErrors} from './errors.ts'

/** Nearer to a poll than to a read: priorities are shifted by the length of the path that waits. */
const isPoll = ({priority = 0}: RequestOptions): boolean => priority > (PRIORITY.read + PRIORITY.poll) / 2

export interface CloudBackendOptions {
  readonly clock: Clock
  readonly onWarning?: Warn
  /** Where the credentials came from, in words, for the error that says they are wrong. */
  readonly credentialSource?: string
  /** Between two looks at the task of an asynchronous read; default one second. */
  readonly pollIntervalMs?: number
  /** How long an asynchronous read may take; default ten minutes. */
  readonly taskTimeoutMs?: number
  /** Changes of this account known to be running: tells "too many changes" from "too many requests". */
  readonly changesInFlight?: () => number
}

export interface CloudBackend extends Backend {
  readonly name: 'cloud'
  readonly address: string
  readonly reader: PagedReader
  /** A GET whose body is not a list: the body, `undefined` when it is empty. Throws for any error. */
  get(path: string, options?: RequestOptions): Promise<Json | undefined>
  /** `prove`: spend requests until the list is known to be all; default for everything but polls. */
  tasks(options?: RequestOptions & {readonly prove?: boolean}): Promise<TaskList | undefined>
  /** The whole task as the API spells it; `undefined` for a 404. */
  rawTask(id: string, options?: RequestOptions): Promise<JsonObject | undefined>
}

export function openCloudBackend(client: ApiClient, options: CloudBackendOptions): CloudBackend {
  const warn: Warn = options.onWarning ?? (() => {})
  const errors = cloudErrors(options.credentialSource)
  const {clock, pollIntervalMs = 1_000, taskTimeoutMs = 600_000} = options
  const reads = new ApiReads({client, errors, clock, pollIntervalMs, taskTimeoutMs})

  const page: FetchPage<Json> = async (path, at) =>
    asPage(
      await reads.follow(
        path,
        (body, answer) => (body === undefined ? (answer?.status === 204 ? [] : undefined) : rowsIn(body, path.split('?')[0] ?? path)),
        at,
      ),
    )
  const object = async (path: string, at?: RequestOptions): Promise<JsonObject | undefined> => {
    const got = await reads.follow(path, body => (isJsonObject(body) ? body : undefined), at)
    if (got.ok) return got.value
    if (got.status === 404) return undefined
    throw got.error
  }

  const strange = new Set<string>()
  const noticed = ({id, status}: TaskView): void => {
    if (taskState(status) !== undefined || strange.has(status)) return
    strange.add(status)
    warn({code: 'W_TASK_STATUS', message: `Task ${id} has the status ${JSON.stringify(status)}, which is not known; it counts as running.`})
  }

  const reader = new PagedReader({page, object, warn})
  const taskLists = new TaskLists(page, reader.facts, noticed)
  const rules: WriteRules = {
    errors,
    handles: ['taskId'],
    isCrowded: answer => isCrowded429(answer, options.changesInFlight),
    refusedBy503: () => false,
  }

  const rawTask = async (id: string, at?: RequestOptions): Promise<JsonObject | undefined> => {
    const got = await reads.get(`/tasks/${encodeURIComponent(id)}`, body => (isJsonObject(body) && taskView(body) ? body : undefined), at)
    if (got.ok) return got.value
    if (got.status === 404) return undefined
    throw got.error
  }

  return {
    name: 'cloud',
    address: client.address,
    reader,
    spending: client.spending,
    rawTask,
    get: (path, at) => reads.json(path, at),
    async write(request: ApiRequest, at?: RequestOptions): Promise<WriteOutcome> {
      const outcome = writeOutcome(request, await client.call(request, at), rules)
      if (outcome.outcome === 'accepted' && outcome.taskId !== undefined) taskLists.exists(outcome.taskId)
      return outcome
    },
    // A poll looks often and must stay cheap; any other look wants to conclude something.
    tasks: (at = {}) => taskLists.read({prove: at.prove ?? !isPoll(at)}, at),
    async task(id, at) {
      const body = await rawTask(id, at)
      const view = body && taskView(body)
      if (view) {
        taskLists.exists(id)
        noticed(view)
      }
      return view
    },
  }
}
