/** Sends a raw request and hands on what came back; what is shown, and where, is the command's. */

import type {ErrorVoice} from '../backends/api/api-errors.ts'
import type {ExactJson} from '../base/lossless-json.ts'
import {pollInterval} from '../base/poll-interval.ts'
import {showJson} from '../base/shown-json.ts'
import {describeCredentials} from '../config/connection-sources.ts'
import {PRIORITY} from '../engine/model/backend.ts'
import {type FollowOptions, follow, type Started, startedBy} from '../passthrough/follow.ts'
import {paginate} from '../passthrough/paginate.ts'
import {type Answered, answeredOr, isSuccessStatus, rawBody, refusalOfAnswer} from '../passthrough/raw-answer.ts'
import type {RawRequest} from '../passthrough/raw-request.ts'
import {rawVoice} from '../passthrough/raw-voice.ts'
import type {RequestBody} from '../passthrough/request-body.ts'
import type {OpenedApi} from '../run/workspace/open-api.ts'
import type {ApiAnswer, CallOptions, ConnectedClient} from '../transport/api-client.ts'
import {atMost} from '../transport/size-limit.ts'
import {onInterrupt} from './interrupt.ts'
import type {Context} from './shell/context.ts'

type Opened = Pick<OpenedApi<never>, 'client' | 'connection'>

interface StreamOptions {
  readonly timeoutMs?: number | undefined
  /** Absent: no bound. */
  readonly maxBytes?: number | undefined
}

/** An error answer's body is shown to people, not kept: so much of it is enough. */
const ERROR_BYTES = 1024 * 1024

export class ApiRun {
  readonly #context: Context
  readonly #opened: Opened
  readonly #request: RawRequest
  readonly #voice: ErrorVoice

  constructor(context: Context, opened: Opened, request: RawRequest) {
    const {sources, api} = opened.connection
    this.#context = context
    this.#opened = opened
    this.#request = request
    this.#voice = rawVoice(request, describeCredentials(api, sources))
  }

  get #client(): ConnectedClient {
    return this.#opened.client
  }

  /** Whatever the status is. @throws AppError when there is no answer */
  async send(body: RequestBody | undefined, options: CallOptions = {}): Promise<ApiAnswer> {
    const {method, path, headers, deployment} = this.#request
    const result = await this.#client.call(
      {
        method,
        path,
        headers: body === undefined ? headers : {'content-type': 'application/json', ...headers},
        ...(body === undefined ? {} : {rawBody: body.bytes}),
      },
      {priority: PRIORITY.interactive, ...options},
    )
    return answeredOr(result, this.#request, deployment)
  }

  /** What a good answer holds; `undefined` when it is empty. @throws the error that any other answer is */
  document(answer: ApiAnswer): ExactJson | undefined {
    this.refuseFailure(answer)
    const body = rawBody(this.#voice, this.#request, answer)
    return body.is === 'empty' ? undefined : body.document
  }

  /** A good answer as JSON text, where that can be made of its bytes at once; `undefined` where it goes by way of the document. */
  shownJson(answer: ApiAnswer): readonly Uint8Array[] | undefined {
    this.refuseFailure(answer)
    return showJson(answer.bytes, this.#context)
  }

  refuseFailure(answer: ApiAnswer): void {
    if (!isSuccessStatus(answer.status)) throw refusalOfAnswer(this.#voice, this.#request, answer)
  }

  /** The bytes of the answer as they come, however many. @throws the error that the answer is, its bytes written all the same */
  async stream(
    write: (bytes: Uint8Array) => Promise<void>,
    head: (answer: Pick<Answered, 'status' | 'headers'>) => Promise<void>,
    {timeoutMs, maxBytes}: StreamOptions = {},
  ): Promise<void> {
    const {method, path, headers} = this.#request
    const {
      status,
      headers: answered,
      body,
    } = await this.#client.openStream(
      {method, path, headers},
      {priority: PRIORITY.interactive, ...(timeoutMs === undefined ? {} : {firstByteTimeoutMs: timeoutMs})},
    )
    await head({status, headers: answered})
    const kept: Uint8Array[] = []
    let keptBytes = 0
    for await (const part of atMost(body, answered, {maxBytes, what: `the answer to ${method} ${path.split('?')[0]}`})) {
      await write(part)
      if (isSuccessStatus(status) || keptBytes > ERROR_BYTES) continue
      kept.push(part)
      keptBytes += part.length
    }
    const bytes = Buffer.concat(kept)
    this.refuseFailure({status, headers: answered, bytes, text: bytes.toString(), attempts: 1})
  }

  /** All rows of the list, each handed on once. @returns whether they are known to be all */
  async pages(onRow: (row: ExactJson) => Promise<void>): Promise<void> {
    const {settings} = this.#opened.connection
    const {proof} = await paginate(this.#request.path, {
      client: this.#client,
      voice: this.#voice,
      clock: this.#context.clock,
      pollIntervalMs: settings.pollIntervalMs ?? 1_000,
      timeoutMs: settings.timeoutMs,
      maxResponseBytes: settings.maxResponseBytes,
      onRow,
    })
    if (proof === undefined) {
      this.#context.log.warn('the list changed each time it was read, or has one page only, which may be cut: rows may be missing')
    } else this.#context.log.info(`the list is whole: ${proof}`)
  }

  /** What the answer's document started, followed to its end; the document itself when it started nothing. */
  async wait(document: ExactJson | undefined): Promise<ExactJson | undefined> {
    const started = startedBy(this.#request, document)
    if (started === undefined) {
      this.#context.log.note(`nothing to wait for: the answer names no ${this.#request.deployment === 'cloud' ? 'task' : 'action'}`)
      return document
    }
    // What was deleted has no document.
    return (await waitForTask(this.#context, this.#opened, this.#voice, started)) ?? undefined
  }
}

/** One task or action, with progress on standard error; Ctrl-C lets go of it. @throws what `follow` throws */
export async function waitForTask(
  {clock, log}: Context,
  {client, connection}: Opened,
  voice: ErrorVoice,
  started: Started,
): Promise<ExactJson> {
  const {pollIntervalMs, timeoutMs} = connection.settings
  const interrupts = onInterrupt(
    () => log.note('stopping…'),
    () => undefined,
  )
  const options: FollowOptions = {
    client,
    voice,
    clock,
    everyMs: pollInterval(pollIntervalMs),
    timeoutMs,
    onProgress: text => log.note(text),
    signal: interrupts.signal,
  }
  try {
    return await follow(started, options)
  } finally {
    interrupts.off()
  }
}
