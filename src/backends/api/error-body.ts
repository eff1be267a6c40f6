/**
 * What an API says when it refuses, in every shape of the wire facts ("Error bodies", cluster "Errors"):
 * the contract's `{error: {code, message, details}}`, `{timestamp, status, error, message, path}`,
 * `{error_code, description}`, a task's `{type, status, description}`, plain text, HTML, nothing.
 */
import {beginningOf} from '../../base/beginning.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {maskedWords, maskSecrets} from '../../base/secret-fields.ts'
import {answerBody} from './answer-body.ts'

export interface ErrorWords {
  /** `INVALID_REQUEST`, `db_not_found`: the word that decides. */
  readonly code?: string
  /** The API's own words, unchanged; empty when it said nothing. */
  readonly message: string
  readonly field?: string
  readonly constraint?: string
}

export function saidIn(text: string): ErrorWords {
  const body = answerBody(text)
  if (body.is === 'json') return saidBy(body.value)
  const trimmed = text.trim()
  if (trimmed.startsWith('<')) return {message: maskedWords(pageText(beginningOf(trimmed, LONGEST_PAGE))) || 'an HTML page'}
  return {message: beginningOf(maskedWords(trimmed), LONGEST_TEXT)}
}

const LONGEST_PAGE = 16_384
const LONGEST_TEXT = 1_000
/** Of the words of a body that is made for programs. */
const LONGEST_SAID = 10_000

/** What a browser would show of it: a proxy's reason stands in the page and not in its title. */
function pageText(page: string): string {
  const words = (html: string) =>
    html
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => ENTITIES[name] ?? ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
  const title = words(/<title[^>]*>([^<]*)/i.exec(page)?.[1] ?? '')
  const shown = page.replaceAll(/<!--.*?-->|<(head|script|style)\b.*?<\/\1\s*>/gis, ' ')
  const body = words(shown.replace(/<title[^>]*>[^<]*/i, ' '))
  const text = title === '' || body.includes(title) ? body : [title, body].filter(it => it !== '').join(': ')
  return beginningOf(text, LONGEST_TEXT)
}

const ENTITIES: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'"}

export function saidBy(body: Json): ErrorWords {
  if (typeof body === 'string') {
    const code = LEADING_CODE.exec(body)?.[1]
    const message = beginningOf(body, LONGEST_SAID)
    return code === undefined ? {message} : {code, message}
  }
  if (!isJsonObject(body)) return {message: body === null ? '' : beginningOf(JSON.stringify(maskSecrets(body)), LONGEST_TEXT)}
  if (isJsonObject(body.error)) return saidBy(body.error)
  const code = textAmong(body, ['code', 'error_code', 'errorCode', 'type']) ?? codeOnly(body.error)
  const message = textAmong(body, ['message', 'description', 'detail', 'error', 'error_description', 'title']) ?? code ?? ''
  const details = isJsonObject(body.details) ? body.details : {}
  const field = textAmong(details, ['field']) ?? textAmong(body, ['field'])
  const constraint = textAmong(details, ['constraint'])
  return {...(code ? {code} : {}), message, ...(field ? {field} : {}), ...(constraint ? {constraint} : {})}
}

// With bounds: a pattern that repeats a group over many megabytes fails (RangeError).
const CODE = /^[A-Z][A-Z0-9]{0,99}(_[A-Z0-9]{1,99}){1,20}$/

/** A code that is the whole text, or stands before a colon: `SUBSCRIPTION_NOT_ACTIVE: another change is running`. */
const LEADING_CODE = /^([A-Z][A-Z0-9]{0,99}(?:_[A-Z0-9]{1,99}){1,20})(?:\s{0,100}:\s|$)/

const codeOnly = (value: Json | undefined): string | undefined => (typeof value === 'string' && CODE.test(value) ? value : undefined)

function textAmong(body: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = body[name]
    if (typeof value === 'string' && value !== '') return beginningOf(value, LONGEST_SAID)
  }
  return undefined
}
