import {isDotSegment} from './dot-segment.ts'
import type {JsonObject} from './json.ts'

/** The first of these fields that holds an id, as text: a whole number, or text that is not empty and no `..`. */
export function idIn(it: JsonObject, ...fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const id = it[field]
    if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id)
    const text = typeof id === 'string' ? id.trim() : ''
    if (text !== '' && !isDotSegment(text)) return text
  }
  return undefined
}
