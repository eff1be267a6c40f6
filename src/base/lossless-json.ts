/**
 * JSON in which whole numbers beyond 2^53 stay exact: they are `bigint`, everything else is what `JSON.parse` gives.
 * Ids of 64 bits would otherwise change their last digits on the way through.
 */
import type {Json} from './json.ts'

export type ExactJson = Json | bigint | readonly ExactJson[] | {readonly [key: string]: ExactJson}

/** A string (skipped), or a number with enough digits to be in doubt. */
const STRING_OR_LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]{14,}/g

/** @throws SyntaxError as JSON.parse does */
export function parseExactJson(text: string): ExactJson {
  const plain: ExactJson = JSON.parse(text)
  if (!/\d{16}/.test(text)) return plain
  const mark = markAbsentFrom(text)
  const marked = text.replace(STRING_OR_LONG_NUMBER, token => (isLongInteger(token) ? `"${mark}${token}"` : token))
  if (marked === text) return plain
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}

const isLongInteger = (token: string): boolean => /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))

function markAbsentFrom(text: string): string {
  let mark = 'exact:'
  while (text.includes(mark)) mark = `x${mark}`
  return mark
}

/**
 * JSON text with `bigint` as plain digits. Fields that are `undefined` are left out, `toJSON` is honoured.
 * @param indent - spaces per level; 0 is one line
 */
export function stringifyExactJson(value: unknown, indent = 0): string {
  return hasBigInt(value) ? stringifyMarked(value, indent) : (JSON.stringify(value, null, indent) ?? 'null')
}

function hasBigInt(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  if (value === null || typeof value !== 'object') return false
  if ('toJSON' in value && typeof value.toJSON === 'function') return hasBigInt(value.toJSON())
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return parts.some(hasBigInt)
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
    return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1')
  }
  return text ?? 'null'
}

const marking =
  (mark: string) =>
  (_: string, value: unknown): unknown =>
    typeof value === 'bigint' ? `${mark}${value}` : value
