import {isDotSegment} from './dot-segment.ts'
import {hasHalfLetter} from './half-letter.ts'
import type {JsonObject} from './json.ts'

/** Whether a text can stand in an address as an id: it is not empty, no `..`, and no half of a letter, which no address can spell. */
export const isIdText = (text: string): boolean => text !== '' && !isDotSegment(text) && !hasHalfLetter(text)

/** The first of these fields that holds an id, as text: a whole number, or text that can stand in an address. */
export function idIn(it: JsonObject, ...fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const id = it[field]
    if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id)
    const text = typeof id === 'string' ? id.trim() : ''
    if (isIdText(text)) return text
  }
  return undefined
}
