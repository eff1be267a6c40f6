/** The answer to a raw request: a document to show, or the error that it is. */

import {type Asked, type ErrorVoice, errorOf, UnreadableError} from '../backends/api/api-errors.ts'
import {AppError} from '../base/errors.ts'
import type {ExactJson} from '../base/lossless-json.ts'
import {parseMaskedJson} from '../base/masked-json.ts'
import {REDACTED} from '../base/redact.ts'
import {isSecretName, maskedWords} from '../base/secret-fields.ts'
import {shellWord} from '../base/shell-word.ts'
import type {ApiAnswer, CallResult} from '../transport/api-client.ts'
import {ConnectionError} from '../transport/connection-error.ts'

export type Answered = Pick<ApiAnswer, 'status' | 'headers' | 'text' | 'bytes' | 'attempts'>

/** What a body holds, secrets masked. An empty one is as good an answer as any (wire facts, "Bodies"). */
export type RawBody = {readonly is: 'empty'} | {readonly is: 'document'; readonly document: ExactJson}

/** A body that is neither JSON nor text: an archive, an image. */
export class BinaryAnswerError extends AppError {
  constructor({method, path}: Asked, type: string, sizeBytes: number) {
    super(`${method} ${path.split('?')[0]}: the answer is no text (${type}, ${sizeBytes} bytes)`, {
      code: 'E_BINARY_ANSWER',
      suggestions: ['Write its bytes to a file: svcctl api … --raw > FILE'],
    })
  }
}

/** The command that shows what a write changed: of a create its collection, otherwise the object itself. */
export const lookCommand = ({path}: Asked, deployment: string): string =>
  `svcctl api ${deployment} get ${shellWord(path.split('?')[0] ?? path)}`

/** A write was sent, and nothing came back that tells what became of it. */
export class UnansweredWriteError extends AppError {
  /** @param look - the command that shows what is there */
  constructor({method, path}: Asked, look: string, cause: AppError) {
    super(`${method} ${path.split('?')[0]} was sent, and how it ended is not known: ${cause.message}`, {
      code: 'E_WRITE_UNANSWERED',
      exit: cause.exit,
      suggestions: [`Look whether it took effect before you send it again: ${look}`],
      cause,
    })
  }
}

/** @throws AppError when nothing was answered */
export function answeredOr(result: CallResult, asked: Asked, deployment: string): ApiAnswer {
  if (result.answered) return result.answer
  const {error, arrived} = result
  if (asked.method !== 'GET' && arrived && error instanceof ConnectionError) {
    throw new UnansweredWriteError(asked, lookCommand(asked, deployment), error)
  }
  throw error
}

export const isSuccessStatus = (status: number): boolean => status >= 200 && status <= 299

/** The error that an answer without success is; the same as everywhere else, with what a person with a raw request can do. */
export function refusalOfAnswer(voice: ErrorVoice, asked: Asked, answer: ApiAnswer): AppError {
  const error = errorOf(voice, asked, answer)
  if (asked.method !== 'DELETE' || answer.status !== 404 || answer.attempts === 1) return error
  return errorOf(
    {...voice, advice: {...voice.advice, notFound: ['An earlier try of this request may have deleted it: it was sent more than once.']}},
    asked,
    answer,
  )
}

/** @throws UnreadableError, BinaryAnswerError */
export function rawBody(voice: ErrorVoice, asked: Asked, answer: Answered): RawBody {
  const {headers, bytes} = answer
  try {
    return {is: 'document', document: parseMaskedJson(bytes)}
  } catch (cause) {
    if (answer.text.trim() === '') return {is: 'empty'}
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
    if (type === 'text/plain' && !isBinary(bytes)) return {is: 'document', document: maskedWords(answer.text)}
    if (isBinary(bytes)) throw new BinaryAnswerError(asked, type || 'unknown type', bytes.length)
    throw new UnreadableError(voice, asked, answer, cause)
  }
}

const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, 1024).includes(0)

/** Headers as they may be shown. */
export const shownHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecretName(name) ? REDACTED : value]))

/** `HTTP 200` and one header a line, as `--include` shows them. */
export const headText = ({status, headers}: Pick<ApiAnswer, 'status' | 'headers'>): string =>
  [`HTTP ${status}`, ...Object.entries(shownHeaders(headers)).map(([name, value]) => `${name}: ${value}`)].join('\n')
