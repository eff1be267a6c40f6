/** What the errors of both APIs have in common: how a request and its answer are named, and which error an answer is. */
import {AppError, type AppErrorOptions} from '../base/errors.ts'
import type {Method} from '../engine/kind.ts'
import type {ApiAnswer} from '../transport/api-client.ts'
import {type Said, saidIn} from './error-body.ts'

export interface Asked {
  readonly method: Method
  /** Below the base address; its query is not shown. */
  readonly path: string
}

export const nameOf = ({method, path}: Asked): string => `${method} ${path.split('?')[0]}`

/** `The words of the API (409 SOME_CODE)` */
export const words = (said: Said, status: number): string =>
  [said.message, `(${[status, said.code === said.message ? undefined : said.code].filter(it => it !== undefined).join(' ')})`]
    .filter(Boolean)
    .join(' ')

/** An answer that is an error. The raw text is kept: it is shown with -vv. */
export class AnswerError extends AppError {
  readonly status: number
  readonly said: Said
  readonly raw: string

  constructor(message: string, answer: ApiAnswer, options: AppErrorOptions) {
    super(message, options)
    this.status = answer.status
    this.said = saidIn(answer.text)
    this.raw = answer.text
  }
}

/** The errors of one API, by what happened. Each API has classes of its own (`cloud/errors.ts`, `cluster/errors.ts`). */
export interface ErrorsOf {
  /** 401: the credentials are not known. 403: they may not do this. */
  unauthorized(asked: Asked, answer: ApiAnswer): AppError
  notFound(asked: Asked, answer: ApiAnswer): AppError
  /** 429, and the tries are spent. */
  exhausted(asked: Asked, answer: ApiAnswer): AppError
  /** Understood and refused: any other 4xx, and a redirect that was not followed. */
  refused(asked: Asked, answer: ApiAnswer): AppError
  /** 5xx */
  server(asked: Asked, answer: ApiAnswer): AppError
  /** A success whose body is not what it should be. */
  unreadable(asked: Asked, answer: ApiAnswer, cause?: unknown): AppError
  /** A write, sent, of which nobody knows what became. */
  unknownOutcome(asked: Asked, cause: AppError): AppError
  taskFailed(asked: Asked, task: {id: string; message: string; code?: string}): AppError
  taskTimeout(asked: Asked, task: {id: string; seconds: number}): AppError
}

export function errorOf(errors: ErrorsOf, asked: Asked, answer: ApiAnswer): AppError {
  const {status} = answer
  if (status === 401 || status === 403) return errors.unauthorized(asked, answer)
  if (status === 404 || status === 410) return errors.notFound(asked, answer)
  if (status === 429) return errors.exhausted(asked, answer)
  return status >= 500 ? errors.server(asked, answer) : errors.refused(asked, answer)
}
