/** The cloud API as the engine and the imperative commands use it. */
import type {Json, JsonObject} from '../../base/json.ts'
import {type Backend, PRIORITY, type RequestOptions, type TaskList} from '../../engine/model/backend.ts'
import type {ApiClient} from '../../transport/api-client.ts'
import {ApiBackend, type BackendOptions} from '../api/api-backend.ts'
import type {PagedReader} from '../api/paged-reader.ts'
import {TaskLists} from '../api/task-list.ts'
import {cloudVoice} from './errors.ts'

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

/** Nearer to a poll than to a read: priorities are shifted by the length of the path that waits. */
const isPoll = ({priority = 0}: RequestOptions): boolean => priority > (PRIORITY.read + PRIORITY.poll) / 2

export function openCloudBackend(client: ApiClient, options: BackendOptions): CloudBackend {
  const api = new ApiBackend(client, options, {
    voice: cloudVoice(options.credentialSource),
    handles: ['taskId'],
    refusedBy503: () => false,
  })
  // A task list may be capped or filtered where the collections are not (wire facts): neither vouches for the other.
  const taskLists = new TaskLists(api.page, api.reader.facts.apart(), api.noticed, {
    clock: options.clock,
    shortestMs: options.pollIntervalMs ?? 0,
  })
  const readTask: typeof api.task = async (id, at) => {
    const task = await api.task(`/tasks/${encodeURIComponent(id)}`, at)
    if (task) taskLists.exists(id)
    return task
  }
  return {
    name: 'cloud',
    address: client.address,
    reader: api.reader,
    spending: client.spending,
    now: client.now,
    get: (path, at) => api.reads.json(path, at),
    async write(request, at) {
      const outcome = await api.write(request, at)
      if (outcome.outcome === 'accepted' && outcome.taskId !== undefined) taskLists.exists(outcome.taskId)
      return outcome
    },
    // A poll looks often and must stay cheap; any other look wants to conclude something.
    tasks: (at = {}) => taskLists.read({prove: at.prove ?? !isPoll(at)}, at),
    task: async (id, at) => (await readTask(id, at))?.view,
    rawTask: async (id, at) => (await readTask(id, at))?.body,
  }
}
