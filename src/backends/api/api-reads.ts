/**
 * GETs of one API: the answer as JSON or a typed error. An answer that cannot be read (cut short, HTML, another shape)
 * is asked for again a few times; an asynchronous answer is followed to its resource.
 */
import type {Clock} from '../../base/clock.ts'
import {formatDuration} from '../../base/duration.ts'
import type {Json, JsonObject} from '../../base/json.ts'
import {type Tried, tryAgain} from '../../base/try-again.ts'
import type {RequestOptions, SeenTask} from '../../engine/model/backend.ts'
import {followToEnd} from '../../engine/model/task-follower.ts'
import type {ApiAnswer, ApiClient} from '../../transport/api-client.ts'
import {answerBody} from './answer-body.ts'
import {type Asked, type ErrorVoice, errorOf, TaskFailedError, TaskTimeoutError, UnreadableError} from './api-errors.ts'
import {objectsIn} from './list-rows.ts'
import type {PageAnswer} from './paging-facts.ts'
import {isTaskAnswer, taskResource, taskView} from './task-view.ts'

/** How often an unreadable answer is asked for, and the pause before the second time; it doubles. */
const TRIES = 3
const PAUSE_MS = 1_000

export type Got<T> =
  /** `sizeBytes`: of the answer that it stood in. */
  {readonly ok: true; readonly value: T; readonly sizeBytes: number} | {readonly ok: false; readonly status: number; readonly error: Error}

export interface PlainAnswer {
  readonly status: number
  readonly text: string
  readonly body?: Json
}

const isSuccess = (status: number): boolean => status >= 200 && status <= 299

export interface ApiReadsOptions {
  readonly client: ApiClient
  readonly voice: ErrorVoice
  readonly clock: Clock
  readonly pollIntervalMs: number
  readonly taskTimeoutMs: number
  /** Hears from time to time what is waited for. */
  readonly onWait?: (text: string) => void
}

export class ApiReads {
  readonly #options: ApiReadsOptions
  /** However many lists are waited for. */
  #saidAt = Number.NEGATIVE_INFINITY

  constructor(options: ApiReadsOptions) {
    this.#options = options
  }

  /**
   * @param parse - what the body (`undefined` when empty) says; `undefined` when it cannot be understood
   * @throws AppError when there is no answer, or none that can be read
   */
  async get<T>(
    path: string,
    parse: (body: Json | undefined, answer: ApiAnswer) => T | undefined,
    options?: RequestOptions,
  ): Promise<Got<T>> {
    const {client, voice, clock} = this.#options
    const asked: Asked = {method: 'GET', path}
    const once = async (attempt: number): Promise<Tried<Got<T>>> => {
      const result = await client.call(asked, options)
      if (!result.answered) throw result.error
      const {answer} = result
      if (!isSuccess(answer.status)) return {done: {ok: false, status: answer.status, error: errorOf(voice, asked, answer)}}
      const body = answerBody(answer.text)
      const value = body.is === 'unreadable' ? undefined : parse(body.is === 'json' ? body.value : undefined, answer)
      if (value !== undefined) return {done: {ok: true, value, sizeBytes: answer.bytes.length}}
      if (attempt >= TRIES) throw new UnreadableError(voice, asked, answer, body.is === 'unreadable' ? body.cause : undefined)
      return {waitMs: PAUSE_MS * 2 ** (attempt - 1)}
    }
    return tryAgain(once, {clock, signal: options?.signal})
  }

  /**
   * As `get`, for what may be answered by a task whose `response.resource` is the body.
   * @throws AppError also when that task fails or takes too long
   */
  async follow<T>(
    path: string,
    parse: (body: Json | undefined, answer?: ApiAnswer) => T | undefined,
    options?: RequestOptions,
  ): Promise<Got<T>> {
    const got = await this.get<{task: string} | {value: T}>(
      path,
      (body, answer) => {
        if (isTaskAnswer(body, answer.status)) {
          const ready = taskResource(body)
          const value = ready === undefined ? undefined : parse(ready)
          return value === undefined ? {task: taskView(body)?.id ?? ''} : {value}
        }
        const value = parse(body, answer)
        return value === undefined ? undefined : {value}
      },
      options,
    )
    if (!got.ok) return got
    return 'value' in got.value ? {...got, value: got.value.value} : this.#resource(path, got.value.task, parse, options)
  }

  /** The body, `undefined` when it is empty. Any status but a success is thrown. */
  async json(path: string, options?: RequestOptions): Promise<Json | undefined> {
    const got = await this.follow(path, body => body ?? null, options)
    if (!got.ok) throw got.error
    return got.value ?? undefined
  }

  /** The objects of a list in one answer. One that holds anything else is not what the API promises. */
  list(path: string, options?: RequestOptions): Promise<Got<readonly JsonObject[]>> {
    return this.follow(
      path,
      // An answer that lacks its body, whatever its status, is no list: an owned object must not look gone.
      body => (body === undefined ? undefined : objectsIn(body, path)),
      options,
    )
  }

  /** As `list`. Any status but a success is thrown. */
  async rows(path: string, options?: RequestOptions): Promise<readonly JsonObject[]> {
    const got = await this.list(path, options)
    if (!got.ok) throw got.error
    return got.value
  }

  /**
   * @param statuses - beside any success, what is an answer and no error; it is not tried again
   * @throws AppError for any other status, and when a success cannot be read
   */
  async answer(path: string, statuses: readonly number[], options?: RequestOptions): Promise<PlainAnswer> {
    const {client, voice} = this.#options
    const asked: Asked = {method: 'GET', path}
    const result = await client.call(asked, {...options, answers: statuses})
    if (!result.answered) throw result.error
    const {status, text} = result.answer
    if (statuses.includes(status)) return {status, text}
    if (!isSuccess(status)) throw errorOf(voice, asked, result.answer)
    const body = answerBody(text)
    if (body.is === 'unreadable') throw new UnreadableError(voice, asked, result.answer, body.cause)
    return {status, text, ...(body.is === 'json' ? {body: body.value} : {})}
  }

  async #resource<T>(path: string, id: string, parse: (body: Json) => T | undefined, options?: RequestOptions): Promise<Got<T>> {
    const {voice, clock, pollIntervalMs, taskTimeoutMs} = this.#options
    const asked: Asked = {method: 'GET', path}
    let missing: Error | undefined
    const began = clock.now()
    const ended = await followToEnd<{view: SeenTask; body: Json; sizeBytes: number}>(
      async () => {
        const got = await this.get(`/tasks/${encodeURIComponent(id)}`, body => taskBody(body), options)
        if (got.ok) {
          const {status, state} = got.value.view
          if (state === 'running') this.#sayWaiting(path, status, clock.now() - began)
          return {over: state !== 'running', value: {...got.value, sizeBytes: got.sizeBytes}}
        }
        if (got.status !== 404) throw got.error
        missing = got.error
        return 'unknown'
      },
      {
        clock,
        everyMs: pollIntervalMs,
        shortestMs: pollIntervalMs,
        timeoutMs: taskTimeoutMs,
        ...(options?.signal ? {signal: options.signal} : {}),
      },
    )
    if (ended === undefined) throw new TaskTimeoutError(voice, asked, {id, seconds: taskTimeoutMs / 1000})
    if (ended === 'lost') throw missing
    const {view, body, sizeBytes} = ended.value
    if (view.state === 'failed') {
      const {code, message = view.status} = view.error ?? {}
      const error = new TaskFailedError(voice, asked, {id, message, ...(code === undefined ? {} : {code})})
      // The asynchronous spelling of a 404.
      if (code !== undefined && /(^|_)NOT_FOUND$/.test(code.toUpperCase())) return {ok: false, status: 404, error}
      throw error
    }
    const resource = isTaskAnswer(body, 202) ? taskResource(body) : undefined
    const value = resource === undefined ? undefined : parse(resource)
    if (value === undefined) throw new TaskFailedError(voice, asked, {id, message: 'the task is done and brought no list or object'})
    return {ok: true, value, sizeBytes}
  }

  #sayWaiting(path: string, status: string, ms: number): void {
    const {clock, onWait} = this.#options
    if (Math.min(ms, clock.now() - this.#saidAt) < SAY_AGAIN_MS) return
    this.#saidAt = clock.now()
    onWait?.(`GET ${path.split('?')[0]}: still waiting for its task (${status}), ${formatDuration(ms)}`)
  }
}

/** As often as an apply says what it waits for. */
const SAY_AGAIN_MS = 10_000

function taskBody(body: Json | undefined): {view: SeenTask; body: Json} | undefined {
  const view = body === undefined ? undefined : taskView(body)
  return view && body !== undefined ? {view, body} : undefined
}

/** As the paging reads it: a 400 or 404 is an answer, any other error is thrown. */
export function asPage<T>(got: Got<readonly T[]>): PageAnswer<T> {
  if (got.ok) return {found: true, rows: got.value, sizeBytes: got.sizeBytes}
  if (got.status === 404 || got.status === 400) return {found: false, status: got.status, error: got.error}
  throw got.error
}
