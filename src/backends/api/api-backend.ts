/** What both APIs are built of: reads with paging, writes as outcomes, tasks in words that are known. */
import type {Clock} from '../../base/clock.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import type {RequestOptions, SeenTask, WriteOutcome} from '../../engine/model/backend.ts'
import type {ApiRequest} from '../../engine/model/kind.ts'
import type {ApiClient} from '../../transport/api-client.ts'
import {ApiReads, asPage, type Got} from './api-reads.ts'
import {PagedReader} from './paged-reader.ts'
import type {FetchPage} from './paging-facts.ts'
import {taskState, taskView} from './task-view.ts'
import type {Warn} from './warning.ts'
import {type WriteRules, writeOutcome} from './write-outcome.ts'

export interface BackendOptions {
  readonly clock: Clock
  readonly onWarning?: Warn
  /** Where the credentials came from, in words, for the error that says they are wrong. */
  readonly credentialSource?: string
  /** Between two looks at the task of an asynchronous read, default one second; and between two at the list of all tasks, default none. */
  readonly pollIntervalMs?: number
  /** How long an asynchronous read may take; default ten minutes. */
  readonly taskTimeoutMs?: number
  /** Of one answer, `--max-response`: it bounds what lists may have. */
  readonly maxResponseBytes?: number
  /** Hears what an asynchronous read waits for. */
  readonly onWait?: (text: string) => void
  /** Changes of this account known to be running: tells "too many changes" from "too many requests". Default: those started here. */
  readonly changesInFlight?: () => number
}

export class ApiBackend {
  readonly reads: ApiReads
  readonly reader: PagedReader
  readonly #client: ApiClient
  readonly #rules: Omit<WriteRules, 'changesInFlight' | 'mayHaveArrived'>
  readonly #running: () => number
  readonly #warn: Warn
  readonly #strange = new Set<string>()
  /** Tasks of writes made here whose end nobody has seen. */
  readonly #started = new Set<string>()

  constructor(client: ApiClient, options: BackendOptions, rules: Omit<WriteRules, 'changesInFlight' | 'mayHaveArrived'>) {
    const {clock, pollIntervalMs = 1_000, taskTimeoutMs = 600_000, changesInFlight = () => this.#started.size} = options
    this.#client = client
    this.#running = changesInFlight
    this.#rules = rules
    this.#warn = options.onWarning ?? (() => {})
    this.reads = new ApiReads({...options, client, voice: rules.voice, clock, pollIntervalMs, taskTimeoutMs})
    this.reader = new PagedReader({page: this.page, object: this.#object, warn: this.#warn, maxResponseBytes: options.maxResponseBytes})
  }

  readonly page: FetchPage<Json> = async (path, options) => {
    return asPage(await this.reads.list(path, options))
  }

  readonly #object = async (path: string, options?: RequestOptions): Promise<JsonObject | undefined> =>
    orNothing(await this.reads.follow(path, body => (isJsonObject(body) ? body : undefined), options))

  async write(request: ApiRequest, options?: RequestOptions): Promise<WriteOutcome> {
    // As many as ran when it was refused: one may end before the answer is read here.
    let running: number | undefined
    const count = () => {
      running = this.#running()
      return running
    }
    const answer = await this.#client.call(request, {...options, changesInFlight: count})
    const changesInFlight = () => running ?? this.#running()
    const outcome = writeOutcome(request, answer, {...this.#rules, changesInFlight, mayHaveArrived: options?.mayHaveArrived})
    if (outcome.outcome === 'accepted' && outcome.taskId !== undefined) this.#started.add(outcome.taskId)
    return outcome
  }

  /** The record at `path` as a task, and as it is; `undefined` for a 404. */
  async task(path: string, options?: RequestOptions): Promise<{view: SeenTask; body: JsonObject} | undefined> {
    const task = orNothing(
      await this.reads.get(
        path,
        body => {
          const view = body === undefined ? undefined : taskView(body)
          return view && isJsonObject(body) ? {view, body} : undefined
        },
        options,
      ),
    )
    if (task) this.noticed(task.view)
    return task
  }

  /** Takes note of an end; says once of each status that nobody knows that it counts as running. */
  readonly noticed = ({id, status, state}: SeenTask): void => {
    if (state !== 'running') this.#started.delete(id)
    if (taskState(status) !== undefined || this.#strange.has(status)) return
    this.#strange.add(status)
    this.#warn({
      code: 'W_TASK_STATUS',
      message: `Task ${id} has the status ${JSON.stringify(status)}, which is not known; it counts as running.`,
    })
  }
}

function orNothing<T>(got: Got<T>): T | undefined {
  if (got.ok) return got.value
  if (got.status === 404 || got.status === 410) return undefined
  throw got.error
}
