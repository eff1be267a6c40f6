/**
 * Everything an API may answer instead of what was asked for (contract section 7), as errors with a next step. What
 * differs between the APIs (codes, and where to look) is their `ErrorVoice`.
 */

import {JsonBoundsError} from '../../base/bounded-json.ts'
import {AppError, type AppErrorOptions, EXIT} from '../../base/errors.ts'
import {maskedText} from '../../base/secret-fields.ts'
import type {Method} from '../../engine/model/kind.ts'
import type {ApiAnswer} from '../../transport/api-client.ts'
import {type ErrorWords, saidIn} from './error-body.ts'
import {notNow} from './not-now.ts'

export type ApiErrorName =
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'rateLimited'
  | 'refused'
  | 'server'
  | 'unreadable'
  | 'unknownOutcome'
  | 'taskFailed'
  | 'taskTimeout'

export interface ErrorVoice {
  readonly codes: Readonly<Record<ApiErrorName, `E_${string}`>>
  readonly advice: Readonly<Record<ApiErrorName, readonly string[]>>
  /** Where the credentials came from, in words: `SVC_CLOUD_API_KEY of the environment`. */
  readonly credentialSource?: string | undefined
  /** What to do about a field the API names; absent: the stack is where it is written. */
  readonly fieldAdvice?: (field: string, because: string) => string
  /** Beside a 409 whose code says that something is changing the object, instead of the advice for what is refused. */
  readonly conflictAdvice?: readonly string[]
}

export interface Asked {
  readonly method: Method
  /** Below the base address; its query is not shown. */
  readonly path: string
}

/** An answer that is an error. The raw text is kept: it is shown with -vv. */
export class AnswerError extends AppError {
  readonly status: number
  readonly said: ErrorWords
  readonly raw: string

  constructor(message: string, answer: ApiAnswer, options: AppErrorOptions) {
    super(message, options)
    this.status = answer.status
    this.said = saidIn(answer.text)
    this.raw = answer.text
  }
}

/** 401: the credentials are not known. 403: they may not do this. */
export class UnauthorizedError extends AnswerError {
  constructor(voice: ErrorVoice, asked: Asked, answer: ApiAnswer) {
    const name = answer.status === 403 ? 'forbidden' : 'unauthorized'
    const what = name === 'forbidden' ? 'these credentials may not do this' : 'the API does not accept the credentials'
    const from = voice.credentialSource === undefined ? '' : ` (they come from ${voice.credentialSource})`
    super(`${nameOf(asked)}: ${what}${from}: ${answerWords(answer)}`, answer, {...said(voice, name), exit: EXIT.unauthorized})
  }
}

export class NotFoundError extends AnswerError {
  constructor(voice: ErrorVoice, asked: Asked, answer: ApiAnswer) {
    super(`${nameOf(asked)}: there is no such thing: ${answerWords(answer)}`, answer, {...said(voice, 'notFound'), exit: EXIT.notFound})
  }
}

/** 429 to the last try. */
export class RateLimitedError extends AnswerError {
  constructor(voice: ErrorVoice, asked: Asked, answer: ApiAnswer) {
    const unchanged = asked.method === 'GET' || answer.mayHaveArrived ? ':' : ' was refused, and nothing was changed:'
    const message = `${nameOf(asked)}${unchanged} the request limit is used up: ${answerWords(answer)}`
    super(message, answer, {...said(voice, 'rateLimited'), exit: EXIT.exhausted})
  }
}

const setInStack = (field: string, because: string): string => `Set "${field}" in the stack${because}, then plan again.`

/** The API understood the request and refused it (400, 409, …). Sending it again cannot help. */
export class RefusedError extends AnswerError {
  constructor(voice: ErrorVoice, asked: Asked, answer: ApiAnswer) {
    const words = saidIn(answer.text)
    const {field, constraint} = words
    const because = constraint === undefined ? '' : ` (the API says: ${constraint})`
    // What is read is in no stack.
    const inStack = asked.method === 'GET' ? undefined : setInStack
    const advice = voice.fieldAdvice ?? inStack
    super(`${nameOf(asked)} was refused: ${answerWords(answer)}`, answer, {
      ...said(voice, 'refused'),
      ...(answer.status === 409 && notNow(words) === 'busy' && voice.conflictAdvice ? {suggestions: voice.conflictAdvice} : {}),
      ...(field === undefined || advice === undefined ? {} : {suggestions: [advice(field, because)]}),
    })
  }
}

/** 5xx */
export class ServerError extends AnswerError {
  constructor(voice: ErrorVoice, asked: Asked, answer: ApiAnswer) {
    super(`${nameOf(asked)}: the API has a problem of its own: ${answerWords(answer)}`, answer, said(voice, 'server'))
  }
}

/** A success whose body cannot be read, or is of another shape. */
export class UnreadableError extends AnswerError {
  constructor(voice: ErrorVoice, asked: Asked, answer: ApiAnswer, cause?: unknown) {
    const deep = cause instanceof JsonBoundsError
    const what = deep ? cause.message : `is not what the API promises: ${glimpse(answer.text)}`
    super(`${nameOf(asked)}: the answer (${answer.status}) ${what}`, answer, {
      ...said(voice, 'unreadable'),
      ...(deep && {code: 'E_JSON_DEPTH' as const}),
      cause,
    })
  }
}

/** A write was sent, and nothing tells what became of it. */
export class UnknownOutcomeError extends AppError {
  constructor(voice: ErrorVoice, asked: Asked, cause: AppError) {
    super(`${nameOf(asked)} was sent, and its outcome is not known: ${cause.message}`, {
      ...said(voice, 'unknownOutcome'),
      exit: EXIT.partial,
      cause,
    })
  }
}

/** The task of an asynchronous read failed. */
export class TaskFailedError extends AppError {
  constructor(voice: ErrorVoice, asked: Asked, task: {id: string; message: string; code?: string}) {
    const code = task.code === undefined || task.code === task.message ? '' : ` (${task.code})`
    super(`${nameOf(asked)}: task ${task.id} failed: ${task.message}${code}`, said(voice, 'taskFailed'))
  }
}

export class TaskTimeoutError extends AppError {
  constructor(voice: ErrorVoice, asked: Asked, task: {id: string; seconds: number}) {
    super(`${nameOf(asked)}: task ${task.id} is not done after ${task.seconds} s`, {...said(voice, 'taskTimeout'), exit: EXIT.timeout})
  }
}

/** The error that an answer without success is. */
export function errorOf(voice: ErrorVoice, asked: Asked, answer: ApiAnswer): AnswerError {
  const {status} = answer
  if (status === 401 || status === 403) return new UnauthorizedError(voice, asked, answer)
  if (status === 404 || status === 410) return new NotFoundError(voice, asked, answer)
  if (status === 429) return new RateLimitedError(voice, asked, answer)
  // 501 and 505 are about what the server is: it understood, and will not.
  return status >= 500 && status !== 501 && status !== 505 ? new ServerError(voice, asked, answer) : new RefusedError(voice, asked, answer)
}

/** `The API's own words (409 SOME_CODE)` */
export function answerWords({status, text}: ApiAnswer): string {
  const {message, code} = saidIn(text)
  return `${message === '' ? '' : `${message} `}(${status}${code === undefined || code === message ? '' : ` ${code}`})`
}

const nameOf = ({method, path}: Asked): string => `${method} ${path.split('?')[0]}`

const said = ({codes, advice}: ErrorVoice, name: ApiErrorName) => ({code: codes[name], suggestions: advice[name]})

const LONGEST_GLIMPSE = 10_000
/** What is masked may be longer than what is written for it. */
const LONGEST_READ = 1_000_000

function glimpse(text: string): string {
  // What is shown of it stands at its beginning, between spaces.
  const beginning = text.length > LONGEST_READ ? text.slice(0, LONGEST_READ) : text
  const line = maskedText(beginning).trim().slice(0, LONGEST_GLIMPSE).replaceAll(/\s+/g, ' ')
  return line === '' ? 'it is empty' : JSON.stringify(line.length > 120 ? `${line.slice(0, 120)}…` : line)
}
