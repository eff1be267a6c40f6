/**
 * Of a text from outside as much as a sentence has room for: its beginning, and how long it is. The ellipsis stands right
 * beside what is left, so that the part of a secret that a cut went through is found (`cut-words.ts`).
 */
import {ELLIPSIS} from './cut-words.ts'

/** @param most - characters, beside those that say how many there are */
export function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text
  // No half of a character.
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS} (${text.length} characters)`
}

/** Of a name within a sentence that goes on behind it. */
const LONGEST_NAME = 200

export const beginningOfName = (name: string): string => beginningOf(name, LONGEST_NAME)

/** As `beginningOf`, for each line, and for how many there are. */
export function beginningsOf(text: string, most: number, mostLines: number): string {
  const lines = text.split('\n')
  const shown = lines.slice(0, mostLines).map(it => beginningOf(it, most))
  return [...shown, ...(lines.length > mostLines ? [`${ELLIPSIS} (${lines.length} lines)`] : [])].join('\n')
}
