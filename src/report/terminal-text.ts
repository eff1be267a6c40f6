/** Text from servers and files, made harmless for a terminal. */
import {stripVTControlCharacters} from 'node:util'
import stringWidth from 'string-width'

// Tab and newline are left for `oneLine`.
const CONTROLS = /[^\P{Cc}\t\n]/gu
// Marks that turn the direction of what follows, and invisible ones: a name must not be able to hide or reorder its neighbours.
const INVISIBLE = /[\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u061c]/g

/** The text without escape sequences, control characters and marks that reorder; newlines and tabs stay. */
export const harmless = (text: string): string => stripVTControlCharacters(text).replace(CONTROLS, '').replace(INVISIBLE, '')

/** As `harmless`, on one line. */
export const oneLine = (text: string): string =>
  harmless(text)
    .replace(/[\s\u0085]+/g, ' ')
    .trim()

/** Columns a terminal needs for it: two for a wide character, none for a combining one. */
export const widthOf = (text: string): number => stringWidth(text)

export const padTo = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Cut to `width` columns, with an ellipsis where something is missing. Never cuts a character in two. */
export function fitTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let fitted = ''
  let used = 0
  for (const {segment} of new Intl.Segmenter().segment(text)) {
    const needs = widthOf(segment)
    if (used + needs > width - 1) break
    fitted += segment
    used += needs
  }
  return `${fitted}…`
}
