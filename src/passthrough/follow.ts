/**
 * `--wait`: what a request started, followed to its end. The cloud answers a `taskId`; the cluster an `action_uid`, or
 * nothing but the object itself, or nothing at all: then its status tells, and a delete is done when the object is gone
 * (wire facts, "Task status" and "POST /v1/bdbs").
 */

import {answerBody} from '../backends/api/answer-body.ts'
import type {ErrorVoice} from '../backends/api/api-errors.ts'
import {errorOf} from '../backends/api/api-errors.ts'
import {taskView} from '../backends/api/task-view.ts'
import type {Deployment} from '../base/apis.ts'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {idIn} from '../base/id-in.ts'
import {isJsonObject, type JsonObject} from '../base/json.ts'
import {type ExactJson, parseSpelledJson} from '../base/lossless-json.ts'
import {maskSecrets} from '../base/secret-fields.ts'
import {shellWord} from '../base/shell-word.ts'
import {PRIORITY, type SeenTask} from '../engine/model/backend.ts'
import type {Method} from '../engine/model/kind.ts'
import {followToEnd, type Sight} from '../engine/model/task-follower.ts'
import type {ApiAnswer, ApiClient} from '../transport/api-client.ts'
import type {RawRequest} from './raw-request.ts'

/** What was started, and where to look for it. */
export type Started = StartedTask | ChangedObject

interface StartedTask {
  readonly deployment: Deployment
  /** Of the task or the action. */
  readonly id: string
  /** Should the server not know the action (404). */
  readonly changed?: ChangedObject
}

/** An object of the cluster that changes. */
export interface ChangedObject {
  readonly deployment: 'enterprise'
  /** Where it can be read. */
  readonly object: string
  readonly deletes: boolean
}

export interface FollowOptions {
  readonly client: ApiClient
  readonly voice: ErrorVoice
  readonly clock: Clock
  readonly everyMs: (looks: number) => number
  readonly timeoutMs: number
  /** Is told when what the task says changes. */
  readonly onProgress: (text: string) => void
  readonly signal?: AbortSignal
}

export class TaskFailed extends AppError {
  constructor(started: Started, view: SeenTask) {
    const {code, message = view.status, field} = view.error ?? {}
    const named = code === undefined || code === message ? '' : ` (${code})`
    super(`${nameOf(started)} failed: ${message}${named}`, {
      code: 'E_TASK_FAILED',
      suggestions: [
        ...(field === undefined ? [] : [`Set "${field}" in the request, then send it again.`]),
        view.error?.transient ? 'Something else is changing there: wait until it is done, then send the request again.' : seeIt(started),
      ],
    })
  }
}

export class TaskTimeout extends AppError {
  constructor(started: Started, timeoutMs: number, status: string) {
    super(`${nameOf(started)} is not done after ${timeoutMs / 1000} s (${status}); it goes on without us`, {
      code: 'E_TASK_TIMEOUT',
      exit: EXIT.timeout,
      suggestions: [goOn(started), 'Wait longer with --timeout, for example --timeout 1h.'],
    })
  }
}

export class TaskNotFound extends AppError {
  constructor(started: Started, cause: AppError | undefined) {
    super(`${nameOf(started)} is not there: ${cause?.message ?? 'nobody knows it'}`, {
      code: 'E_TASK_NOT_FOUND',
      exit: EXIT.notFound,
      suggestions: ['id' in started ? 'Check the id; finished tasks are forgotten after a while: svcctl task list' : seeIt(started)],
      cause,
    })
  }
}

/** Ctrl-C while waiting. */
export class TaskDetached extends AppError {
  constructor(started: Started) {
    super(`stopped waiting; ${nameOf(started)} goes on`, {
      code: 'E_TASK_DETACHED',
      exit: EXIT.interrupted,
      suggestions: [goOn(started)],
    })
  }
}

function nameOf(started: Started): string {
  if (!('id' in started)) return `the ${started.deletes ? 'delete' : 'change'} of ${started.object}`
  return `${started.deployment === 'cloud' ? 'task' : 'action'} ${started.id}`
}

const goOn = (started: Started): string =>
  'id' in started && started.deployment === 'cloud' ? `Go on waiting: svcctl task wait ${shellWord(started.id)}` : seeIt(started)

function seeIt(started: Started): string {
  if (!('id' in started)) return `See it: svcctl api enterprise get ${shellWord(started.object)}`
  return started.deployment === 'cloud'
    ? `See the whole task: svcctl task show ${shellWord(started.id)}`
    : `See it: svcctl api enterprise get ${shellWord(`/v1/actions/${started.id}`)}`
}

/**
 * @param request - that was answered
 * @returns `undefined` when nothing goes on that could be followed
 */
export function startedBy(
  {deployment, method, path}: Pick<RawRequest, 'deployment' | 'method' | 'path'>,
  body: ExactJson | undefined,
): Started | undefined {
  const fields = isJsonObject(body) ? (body as JsonObject) : {}
  if (deployment === 'cloud') {
    const id = idIn(fields, 'taskId')
    return id === undefined ? undefined : {deployment, id}
  }
  const object = objectOf(method, path.split('?')[0] ?? path, idIn(fields, 'uid'))
  const changed: ChangedObject | undefined = object === undefined ? undefined : {deployment, object, deletes: method === 'DELETE'}
  const id = idIn(fields, 'action_uid')
  return id === undefined ? changed : {deployment, id, ...(changed && {changed})}
}

/** Of a create, the new object below its collection; otherwise what the request was about. */
function objectOf(method: Method, path: string, uid: string | undefined): string | undefined {
  if (method === 'GET') return undefined
  if (method !== 'POST') return path
  if (uid === undefined) return undefined
  return path.endsWith(`/${uid}`) ? path : `${path.replace(/^\/v2\//, '/v1/')}/${encodeURIComponent(uid)}`
}

/**
 * @returns the last state of the task (or of the object, where the server has no actions), masked
 * @throws TaskFailed (exit 1), TaskTimeout (12), TaskNotFound (11), TaskDetached (4), and whatever a read throws
 */
export async function follow(started: Started, options: FollowOptions): Promise<ExactJson> {
  const {clock, everyMs, timeoutMs, signal} = options
  const look = new Look(started, options)
  try {
    const wait = {clock, everyMs, shortestMs: everyMs(1), timeoutMs, ...(signal ? {signal} : {})}
    const ended = await followToEnd(() => look.once(), wait)
    if (ended === undefined) throw new TaskTimeout(started, timeoutMs, look.status)
    if (ended === 'lost') throw new TaskNotFound(started, look.missing)
    return ended.value
  } catch (error) {
    if (signal?.aborted && !(error instanceof TaskFailed)) throw new TaskDetached(started)
    throw error
  }
}

/** Whether its status is that of its change: a node that is down is not changing. Preview versions show the same objects. */
async function goesByStatus(object: string): Promise<boolean> {
  const {kindAt} = await import('../backends/kind-at.ts')
  return kindAt(object.replace(/^\/v\d+\//, '/v1/'))?.ready !== undefined
}

class Look {
  readonly #started: Started
  readonly #options: FollowOptions
  #said = ''
  #missing: AppError | undefined
  /** What is looked at: the object itself from when the server turns out to have no actions. */
  #at: Started

  constructor(started: Started, options: FollowOptions) {
    this.#started = started
    this.#at = started
    this.#options = options
  }

  get status(): string {
    return this.#said === '' ? 'not seen yet' : this.#said
  }

  /** Why it was not there. */
  get missing(): AppError | undefined {
    return this.#missing
  }

  async once(): Promise<Sight<ExactJson>> {
    if (!('id' in this.#at)) return this.#ofObject(this.#at)
    const {deployment, id, changed} = this.#at
    const path = `${deployment === 'cloud' ? '/tasks' : '/v1/actions'}/${encodeURIComponent(id)}`
    const answer = await this.#get(path)
    if (answer.status === 404) {
      if (changed === undefined) return this.#unknown(path, answer)
      this.#at = changed
      return this.#ofObject(changed)
    }
    const body = readable(answer)
    const view = body === undefined ? undefined : taskView(body)
    // An answer that was cut short says nothing.
    if (view === undefined) return 'unclear'
    this.#say([view.status, view.description].filter(it => it !== undefined && it !== '').join(', '))
    if (view.state === 'failed') throw new TaskFailed(this.#started, view)
    return view.state === 'running' ? 'unclear' : shown(answer)
  }

  #unknown(path: string, answer: ApiAnswer): 'unknown' {
    this.#missing = errorOf(this.#options.voice, {method: 'GET', path}, answer)
    return 'unknown'
  }

  /** Gone is what a delete waits for. An error is one; anything but active goes on; without a status there is nothing to wait for. */
  async #ofObject({object, deletes}: ChangedObject): Promise<Sight<ExactJson>> {
    const answer = await this.#get(object, [405, 501])
    if (answer.status === 405 || answer.status === 501) {
      this.#options.onProgress(`${object} cannot be read (${answer.status}): there is nothing to wait for`)
      return {over: true, value: null}
    }
    if (answer.status === 404) {
      if (!deletes) return this.#unknown(object, answer)
      this.#options.onProgress(`${object} is gone`)
      return {over: true, value: null}
    }
    const body = readable(answer)
    if (!isJsonObject(body)) return 'unclear'
    const status = typeof body.status === 'string' ? body.status : 'active'
    this.#say(status)
    if (/(^|[-_])(error|failed)$/.test(status)) {
      throw new TaskFailed(this.#started, {
        id: object,
        state: 'failed',
        status,
        error: {message: `the object is ${status}`, transient: false},
      })
    }
    const settled = status === 'active' || !(/pending/.test(status) || (await goesByStatus(object)))
    return settled && !deletes ? shown(answer) : 'unclear'
  }

  /** @param more - statuses that say something here, beside 404 */
  async #get(path: string, more: readonly number[] = []): Promise<ApiAnswer> {
    const {client, voice, signal} = this.#options
    const asked = {method: 'GET', path} as const
    const result = await client.call(asked, {priority: PRIORITY.interactive, ...(signal ? {signal} : {})})
    if (!result.answered) throw result.error
    const {status} = result.answer
    if (![404, ...more].includes(status) && (status < 200 || status > 299)) throw errorOf(voice, asked, result.answer)
    return result.answer
  }

  #say(text: string): void {
    if (text === this.#said) return
    this.#said = text
    this.#options.onProgress(`${nameOf(this.#at)}: ${text}`)
  }
}

const shown = ({text}: ApiAnswer): Sight<ExactJson> => ({over: true, value: maskSecrets(parseSpelledJson(text))})

function readable({text}: ApiAnswer) {
  const body = answerBody(text)
  return body.is === 'json' ? body.value : undefined
}
