import {isDotSegment} from './dot-segment.ts'
import {hasHalfLetter} from './half-letter.ts'
import type {JsonObject} from './json.ts'

/** Whether a text can stand in an address as an id: it is not empty, no `..`, and no half of a letter, which no address can spell. */
export const isIdText = (text: string): boolean => text !== '' && !isDotSegment(text) && !hasHalfLetter(text)

/** The id that a segment of a path spells; `undefined` for none. Whoever typed a path may have put any `%` in it. */
export function idSpelled(segment: string): string | undefined {
  try {
    const id = decodeURIComponent(segment)
    return isIdText(id) ? id : undefined
  } catch {
    return undefined
  }
}

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
