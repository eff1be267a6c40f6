/** The body of a raw request: inline JSON, `@file`, or `@-` for standard input (contract section 1, `--data`). */
import {resolve} from 'node:path'
import {JsonBoundsError} from '../base/bounded-json.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {type ExactJson, parseSpelledJson} from '../base/lossless-json.ts'
import {isAbsent} from '../base/system-code.ts'
import {readWholeFile, readWholeStream} from '../base/whole-file.ts'
import type {Method} from '../engine/model/kind.ts'

export class RequestBodyError extends AppError {
  constructor(message: string, suggestion: string, cause?: unknown) {
    super(message, {code: 'E_REQUEST_BODY', exit: EXIT.usage, suggestions: [suggestion], cause})
  }
}

export interface RequestBody {
  /** As it was given: numbers keep every digit, and what the server gets is what the file holds. */
  readonly bytes: Uint8Array
  /** What it says; `undefined` where the headers say that it is no JSON. */
  readonly json?: ExactJson
  /** For people: `--data`, `@body.json`, `standard input`. */
  readonly from: string
}

export interface BodySources {
  readonly cwd: string
  readonly stdin: AsyncIterable<string | Uint8Array>
}

/**
 * @param contentType - of the request's own headers; absent is JSON
 * @throws RequestBodyError: never with a word of the body, which may hold secrets
 */
export async function readRequestBody(data: string, {cwd, stdin}: BodySources, contentType = 'application/json'): Promise<RequestBody> {
  const {bytes, from} = await bytesOf(data, cwd, stdin)
  if (!/\bjson\b/i.test(contentType)) return {bytes, from}
  let text: string
  try {
    text = new TextDecoder('utf-8', {fatal: true}).decode(bytes)
  } catch (cause) {
    throw new RequestBodyError(
      `the body (${from}) is not UTF-8 text`,
      'Save the file as UTF-8, or give another Content-Type with --headers.',
      cause,
    )
  }
  let json: ExactJson
  try {
    json = parseSpelledJson(text)
  } catch (cause) {
    if (cause instanceof JsonBoundsError) {
      throw new RequestBodyError(
        `the body (${from}) ${cause.message}`,
        'Send it as other text, which is not looked at: --headers "Content-Type: text/plain".',
      )
    }
    throw new RequestBodyError(
      `the body (${from}) is not JSON: ${whereWrong(text, cause)}`,
      'Put inline JSON in single quotes, or give a file: --data @body.json; @- reads standard input.',
    )
  }
  // The decoder has taken a byte order mark away, which JSON does not know.
  return {bytes: Buffer.from(text), from, json}
}

async function bytesOf(data: string, cwd: string, stdin: BodySources['stdin']): Promise<{bytes: Uint8Array; from: string}> {
  if (!data.startsWith('@')) return {bytes: Buffer.from(data), from: '--data'}
  const name = data.slice(1)
  if (name === '') throw new RequestBodyError('--data @ names no file', 'Write --data @body.json, or --data @- for standard input.')
  if (name === '-') {
    try {
      return {bytes: await readWholeStream(stdin, 'standard input'), from: 'standard input'}
    } catch (cause) {
      throw new RequestBodyError(
        '--data @-: standard input has more than a body may have, or cannot be read',
        'Give the right file.',
        cause,
      )
    }
  }
  try {
    return {bytes: await readWholeFile(resolve(cwd, name)), from: `@${name}`}
  } catch (cause) {
    const why = isAbsent(cause) ? 'there is no such file' : 'it cannot be read'
    throw new RequestBodyError(`--data @${name}: ${why}`, 'Check the path; it is taken from the working folder.', cause)
  }
}

/** Line and column, as far as the parser tells; none of the text. */
function whereWrong(text: string, cause: unknown): string {
  if (text.trim() === '') return 'it is empty'
  if (cause instanceof RangeError) return 'it goes too deep'
  const position = /position (\d+)/.exec(cause instanceof Error ? cause.message : '')?.[1]
  if (position === undefined) return 'it ends too early or holds something that is not JSON'
  const before = text.slice(0, Number(position)).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

/** A get with a body is a write that was meant otherwise; pages are something only a get has. @throws RequestBodyError */
export function checkMethod(method: Method, {paginate, data}: {readonly paginate: boolean; readonly data?: string | undefined}): void {
  if (method === 'GET' && data !== undefined) {
    throw new RequestBodyError('a get takes no body (--data)', 'Use post, put or patch to send it; the query of a get is --query-params.')
  }
  if (method !== 'GET' && paginate) {
    throw new RequestBodyError(`--paginate reads a list, and a ${method.toLowerCase()} is no reading`, 'Use get, or leave --paginate away.')
  }
}
