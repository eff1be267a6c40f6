/**
 * JSON in which numbers stay what they are. Whole numbers beyond 2^53 are `bigint`: ids of 64 bits would otherwise change
 * their last digits on the way through. Everything else is what `JSON.parse` gives, unless every number is to be shown as
 * it came (`parseSpelledJson`).
 */
import {isDeeper, JsonBoundsError, MAX_JSON_LEVELS, parseAnyJson} from './bounded-json.ts'
import type {Json} from './json.ts'
import {COMMAND_MARK} from './runner-commands.ts'

export type ExactJson = Json | bigint | ExactNumber | readonly ExactJson[] | {readonly [key: string]: ExactJson}

export type ExactObject = {readonly [key: string]: ExactJson}

/** A number with the digits it came with: `1.10`, `1e400`, `-0`. It counts as the number nearest to it. */
export class ExactNumber extends Number {
  readonly #text: string

  constructor(text: string) {
    super(text)
    this.#text = text
  }

  override toString(): string {
    return this.#text
  }

  /** More than its spelling would be lost: the nearest number is another one. */
  get isBeyond(): boolean {
    return canonical(this.#text) !== canonical(String(this.valueOf()))
  }
}

/** Digits without a point and zeros around them, and the power of ten of the last one: the same for every spelling. */
function canonical(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const bare = digits.replace(/0+$/, '')
  return bare === ''
    ? digits === '' && whole !== ''
      ? '0'
      : text
    : `${sign}${bare}e${BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - bare.length)}`
}

/** Exact numbers take time by the square of their digits; no id, size or amount has as many. */
const MAX_DIGITS = 1000

function bounded(token: string): string {
  if (token.length > MAX_DIGITS) throw new JsonBoundsError(`has a number of more than ${MAX_DIGITS} digits`)
  return token
}

/** What begins a string (skipped), or a number with enough digits to be in doubt. */
const STRING_OR_LONG_NUMBER = /"|-?\d[\d.eE+-]{14,}/g
/** Within a string: what is escaped, and its end. */
const ESCAPED_OR_END = /\\.|"/g

/**
 * The numbers of a text that is JSON replaced; strings are walked over. A pattern that takes a whole string repeats a group, and
 * fails (RangeError) on one with some million escapes.
 */
function withNumbers(text: string, pattern: RegExp, replacement: (token: string) => string): string {
  let out = ''
  let done = 0
  pattern.lastIndex = 0
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [token] = found
    if (token === '"') {
      pattern.lastIndex = endOfString(text, pattern.lastIndex)
      continue
    }
    out += text.slice(done, found.index) + replacement(token)
    done = pattern.lastIndex
  }
  return done === 0 ? text : out + text.slice(done)
}

/** @param from - behind the quote that opens it */
function endOfString(text: string, from: number): number {
  ESCAPED_OR_END.lastIndex = from
  for (let mark = ESCAPED_OR_END.exec(text); mark !== null; mark = ESCAPED_OR_END.exec(text)) if (mark[0] === '"') return mark.index + 1
  return text.length
}

/** @throws SyntaxError as JSON.parse does, JsonBoundsError */
export function parseExactJson(text: string): ExactJson {
  const plain = parsePlain(text)
  if (!/\d{16}/.test(text)) return plain
  const mark = markAbsentFrom(text)
  const marked = withNumbers(text, STRING_OR_LONG_NUMBER, token => (isLongInteger(bounded(token)) ? `"${mark}${token}"` : token))
  if (marked === text) return plain
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}

/** What begins a string (skipped), or a number. */
const STRING_OR_NUMBER = /"|-?\d[\d.eE+-]*/g

/**
 * As `parseExactJson`, with every number as it was spelled. For what is shown as it came, and not for what is computed with.
 * @throws SyntaxError as JSON.parse does, JsonBoundsError
 */
export function parseSpelledJson(text: string): ExactJson {
  const plain = parsePlain(text)
  const mark = markAbsentFrom(text)
  const marked = withNumbers(text, STRING_OR_NUMBER, token => (String(Number(bounded(token))) === token ? token : `"${mark}${token}"`))
  if (marked === text) return plain
  return JSON.parse(marked, (_, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value
    const token = value.slice(mark.length)
    return isLongInteger(token) ? BigInt(token) : new ExactNumber(token)
  })
}

/** As `parseSpelledJson`, of a part of a text that was looked at: whether some number is spelled otherwise, and that it is not too deep. */
export const parseExactPart = (text: string, spelled: boolean): ExactJson =>
  spelled ? parseSpelledJson(text) : (parseAnyJson(text) as Json)

/** A field called `__proto__` is a server's own affair; what is too deep to be walked is everybody's. */
function parsePlain(text: string): Json {
  const plain = parseAnyJson(text) as Json
  if (isDeeper(plain, MAX_JSON_LEVELS)) throw new JsonBoundsError(`goes more than ${MAX_JSON_LEVELS} levels deep`)
  return plain
}

const isLongInteger = (token: string): boolean => /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))

function markAbsentFrom(text: string): string {
  let mark = 'exact:'
  while (text.includes(mark)) mark = `x${mark}`
  return mark
}

/**
 * JSON text, safe to be shown on a terminal and in the log of a CI job, with `bigint` and `ExactNumber` as plain digits. Fields that are `undefined` are left out, `toJSON` is honoured.
 * @param indent - spaces per level; 0 is one line
 */
export function stringifyExactJson(value: ExactJson | undefined, indent = 0): string {
  return escapeUnseen(hasExact(value) ? stringifyMarked(value, indent) : (JSON.stringify(value, null, indent) ?? 'null'))
}

/**
 * What JSON may hold as it is and a terminal acts on: controls beyond ASCII, and marks that turn the direction of what
 * follows; and what the runner of a CI job acts on. They stand in texts and keys only, so that an escape is the same JSON.
 */
const UNSEEN = new RegExp(`[\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]|${COMMAND_MARK}`, 'g')

export const escapeUnseen = (json: string): string => json.replace(UNSEEN, mark => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Whether there is a number in it that is not JavaScript's. */
export function hasExact(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return typeof value === 'bigint'
  if (value instanceof ExactNumber) return true
  if (Array.isArray(value)) {
    for (const item of value) if (hasExact(item)) return true
    return false
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return hasExact(value.toJSON())
  const fields = value as Readonly<Record<string, unknown>>
  for (const key in fields) if (hasExact(fields[key])) return true
  return false
}

/** Numbers take the way through JSON.stringify as marked text. */
function stringifyMarked(value: unknown, indent: number): string {
  let mark = 'exact:'
  let text = JSON.stringify(value, marking(mark), indent)
  // A text that looks like a mark: take one that does not occur.
  if (text?.includes(`"${mark}`)) {
    const plain = JSON.stringify(value, marking(''), indent)
    mark = markAbsentFrom(plain)
    text = JSON.stringify(value, marking(mark), indent)
    return text.replaceAll(new RegExp(`"${mark}(-?\\d[\\d.eE+-]*)"`, 'g'), '$1')
  }
  return text ?? 'null'
}

const marking =
  (mark: string) =>
  (_: string, value: unknown): unknown =>
    typeof value === 'bigint' || value instanceof ExactNumber ? `${mark}${value}` : value
