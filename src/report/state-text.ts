/** What a ledger remembers of one object, as lines of `key: value`. */
import {isJsonObject, type JsonObject} from '../base/json.ts'
import {type ExactJson, stringifyExactJson} from '../base/lossless-json.ts'
import {wordOf} from '../base/word-of.ts'

const INDENT = '    '

/** @param document - `{resource: {stack, address, …}}` */
export function stateText(document: ExactJson): string {
  const {stack, address, ...rest} = partsOf(partsOf(document).resource)
  return [`# ${wordOf(stack)}:${wordOf(address)}`, ...linesOf(rest, '')].join('\n')
}

function linesOf(parts: JsonObject, indent: string): string[] {
  return Object.entries(parts).flatMap(([key, value]) => {
    const text = leafText(value, indent === '')
    return text === undefined ? [`${indent}${key}:`, ...linesOf(partsOf(value), indent + INDENT)] : [`${indent}${key}: ${text}`]
  })
}

/** `undefined` for what has lines of its own. A text of ours stands bare, one of the object as JSON: `"2"` is no number. */
function leafText(value: ExactJson | undefined, isOurs: boolean): string | undefined {
  if (typeof value === 'string' && isOurs) return value
  if (!isJsonObject(value)) return stringifyExactJson(value ?? null)
  const parts = partsOf(value)
  if (parts.secret === true && Object.keys(parts).length === 1) return '(secret)'
  return Object.keys(parts).length === 0 ? '{}' : undefined
}

const partsOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
