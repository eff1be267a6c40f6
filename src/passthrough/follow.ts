/**
 * `--wait`: what a request started, followed to its end. The cloud answers a `taskId`; the cluster an `action_uid`, or
 * nothing but the object itself, whose status then tells (wire facts, "Task status" and "POST /v1/bdbs").
 */
import {answerBody} from '../backends/answer-body.ts'
import type {Voice} from '../backends/api-errors.ts'
import {errorOf} from '../backends/api-errors.ts'
import {idAmong} from '../backends/list-rows.ts'
import {taskView} from '../backends/task-view.ts'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {isJsonObject, type JsonObject} from '../base/json.ts'
import {type ExactJson, parseExactJson} from '../base/lossless-json.ts'
import {maskSecrets} from '../base/secret-fields.ts'
import {waitFor} from '../base/wait-for.ts'
import {PRIORITY, type TaskView} from '../engine/backend.ts'
import type {ApiAnswer, ApiClient} from '../transport/api-client.ts'
import type {Deployment} from './raw-request.ts'

/** What was started, and where to look for it. */
export interface Started {
  readonly deployment: Deployment
  /** Of the task or the action. */
  readonly id: string
  /** Where the object itself can be read, should the server not know the action (404). */
  readonly object?: string
}

export interface FollowOptions {
  readonly client: ApiClient
  readonly voice: Voice
  readonly clock: Clock
  readonly everyMs: (looks: number) => number
  readonly timeoutMs: number
  /** Is told when what the task says changes. */
  readonly onProgress: (text: string) => void
  readonly signal?: AbortSignal
}

/** A new task id may answer 404 for its first few reads (wire facts). */
const NEW_TASK_READS = 5

export class TaskFailed extends AppError {
  constructor({id, deployment}: Started, view: TaskView) {
    const {code, message = view.status, field} = view.error ?? {}
    const named = code === undefined || code === message ? '' : ` (${code})`
    super(`${thing(deployment)} ${id} failed: ${message}${named}`, {
      code: 'E_TASK_FAILED',
      suggestions: [
        ...(field === undefined ? [] : [`Set "${field}" in the request, then send it again.`]),
        view.error?.transient
          ? 'Something else is changing there: wait until it is done, then send the request again.'
          : seeIt(deployment, id),
      ],
    })
  }
}

export class TaskTimeout extends AppError {
  constructor({id, deployment}: Started, timeoutMs: number, status: string) {
    super(`${thing(deployment)} ${id} is not done after ${timeoutMs / 1000} s (${status}); it goes on without us`, {
      code: 'E_TASK_TIMEOUT',
      exit: EXIT.timeout,
      suggestions: [goOn(deployment, id), 'Wait longer with --timeout, for example --timeout 1h.'],
    })
  }
}

export class TaskNotFound extends AppError {
  constructor({id, deployment}: Started, cause: AppError) {
    super(`there is no ${thing(deployment)} ${id}: ${cause.message}`, {
      code: 'E_TASK_NOT_FOUND',
      exit: EXIT.notFound,
      suggestions: ['Check the id; finished tasks are forgotten after a while: svcctl task list'],
      cause,
    })
  }
}

/** Ctrl-C while waiting. */
export class TaskDetached extends AppError {
  constructor({id, deployment}: Started) {
    super(`stopped waiting; ${thing(deployment)} ${id} goes on`, {
      code: 'E_TASK_DETACHED',
      exit: EXIT.interrupted,
      suggestions: [goOn(deployment, id)],
    })
  }
}

const thing = (deployment: Deployment) => (deployment === 'cloud' ? 'task' : 'action')
const goOn = (deployment: Deployment, id: string) =>
  deployment === 'cloud' ? `Go on waiting: svcctl task wait ${id}` : seeIt(deployment, id)
const seeIt = (deployment: Deployment, id: string) =>
  deployment === 'cloud' ? `See the whole task: svcctl task show ${id}` : `See it: svcctl api enterprise get /v1/actions/${id}`

/** @param path - of the request that was answered */
export function startedBy(deployment: Deployment, path: string, body: ExactJson | undefined): Started | undefined {
  if (body === undefined || !isJsonObject(body)) return undefined
  const id = idAmong(body as JsonObject, deployment === 'cloud' ? ['taskId'] : ['action_uid'])
  if (id === undefined) return undefined
  if (deployment === 'cloud') return {deployment, id}
  const bare = path.split('?')[0] ?? path
  const uid = idAmong(body as JsonObject, ['uid'])
  return {
    deployment,
    id,
    object: uid === undefined || bare.endsWith(`/${uid}`) ? bare : `${bare.replace(/^\/v2\//, '/v1/')}/${encodeURIComponent(uid)}`,
  }
}

/**
 * @returns the last state of the task (or of the object, where the server has no actions), masked
 * @throws TaskFailed (exit 1), TaskTimeout (12), TaskNotFound (11), TaskDetached (4), and whatever a read throws
 */
export async function follow(started: Started, options: FollowOptions): Promise<ExactJson> {
  const {clock, everyMs, timeoutMs, signal} = options
  const look = new Look(started, options)
  try {
    const ended = await waitFor(() => look.once(), {clock, everyMs, timeoutMs, ...(signal ? {signal} : {})})
    if (ended === undefined) throw new TaskTimeout(started, timeoutMs, look.status)
    return ended
  } catch (error) {
    if (signal?.aborted && !(error instanceof TaskFailed)) throw new TaskDetached(started)
    throw error
  }
}

class Look {
  readonly #started: Started
  readonly #options: FollowOptions
  #said = ''
  #missing = 0
  /** The server has no actions, and the object is looked at instead. */
  #object: string | undefined

  constructor(started: Started, options: FollowOptions) {
    this.#started = started
    this.#options = options
  }

  get status(): string {
    return this.#said === '' ? 'not seen yet' : this.#said
  }

  async once(): Promise<ExactJson | undefined> {
    const {deployment, id, object} = this.#started
    if (this.#object !== undefined) return this.#ofObject(this.#object)
    const path = `${deployment === 'cloud' ? '/tasks' : '/v1/actions'}/${encodeURIComponent(id)}`
    const answer = await this.#get(path)
    if (answer.status === 404) {
      if (object !== undefined) {
        this.#object = object
        return this.#ofObject(object)
      }
      this.#missing += 1
      if (this.#missing > NEW_TASK_READS) throw new TaskNotFound(this.#started, errorOf(this.#options.voice, {method: 'GET', path}, answer))
      return undefined
    }
    const body = readable(answer)
    const view = body === undefined ? undefined : taskView(body)
    // An answer that was cut short says nothing: the next look may.
    if (view === undefined) return undefined
    this.#say([view.status, view.description].filter(it => it !== undefined && it !== '').join(', '))
    if (view.state === 'failed') throw new TaskFailed(this.#started, view)
    return view.state === 'running' ? undefined : maskSecrets(parseExactJson(answer.text))
  }

  /** Not there any more counts as done: it was deleted. An error is one; anything but active goes on. */
  async #ofObject(path: string): Promise<ExactJson | undefined> {
    const answer = await this.#get(path)
    if (answer.status === 404) return null
    const body = readable(answer)
    if (!isJsonObject(body)) return undefined
    const status = typeof body.status === 'string' ? body.status : 'active'
    this.#say(status)
    if (/(^|[-_])(error|failed)$/.test(status)) {
      throw new TaskFailed(this.#started, {
        id: this.#started.id,
        state: 'failed',
        status,
        error: {message: `the object is ${status}`, transient: false},
      })
    }
    return status === 'active' ? maskSecrets(parseExactJson(answer.text)) : undefined
  }

  async #get(path: string): Promise<ApiAnswer> {
    const {client, voice, signal} = this.#options
    const asked = {method: 'GET', path} as const
    const result = await client.call(asked, {priority: PRIORITY.interactive, ...(signal ? {signal} : {})})
    if (!result.answered) throw result.error
    if (result.answer.status !== 404 && (result.answer.status < 200 || result.answer.status > 299))
      throw errorOf(voice, asked, result.answer)
    return result.answer
  }

  #say(text: string): void {
    if (text === this.#said) return
    this.#said = text
    this.#options.onProgress(`${thing(this.#started.deployment)} ${this.#started.id}: ${text}`)
  }
}

function readable({text}: ApiAnswer) {
  const body = answerBody(text)
  return body.is === 'json' ? body.value : undefined
}
