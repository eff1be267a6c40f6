/** The body of an answer as JSON. Whole numbers beyond 2^53 (64-bit ids) become text, so that no digit is lost. */
import type {Json} from '../../base/json.ts'
import {type ExactJson, hasExact, parseExactJson} from '../../base/lossless-json.ts'

export type AnswerBody =
  | {readonly is: 'json'; readonly value: Json}
  /** No bytes, or white space: any 2xx may be so (wire facts, "Bodies"). */
  | {readonly is: 'empty'}
  /** Not JSON: an HTML page, a text, or JSON that ends too early. */
  | {readonly is: 'unreadable'; readonly cause: unknown}

export function answerBody(text: string): AnswerBody {
  if (text.trim() === '') return {is: 'empty'}
  try {
    return {is: 'json', value: withoutBigInt(parseExactJson(text))}
  } catch (cause) {
    return {is: 'unreadable', cause}
  }
}

function withoutBigInt(value: ExactJson): Json {
  if (typeof value === 'bigint') return value.toString()
  if (value === null || typeof value !== 'object') return value
  if (!hasExact(value)) return value as Json
  if (Array.isArray(value)) return (value as readonly ExactJson[]).map(withoutBigInt)
  return Object.fromEntries(Object.entries(value as {readonly [key: string]: ExactJson}).map(([key, item]) => [key, withoutBigInt(item)]))
}
