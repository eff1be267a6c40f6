/**
 * Text from servers and stacks in Markdown that a code host renders. Escaping alone is not enough there: hosts look for
 * mentions, issues, quick actions and addresses in what is left after rendering, and leave out nothing but code.
 */

import {brief} from '../shown.ts'
import {oneLine} from '../terminal-text.ts'

/** Means nothing inside of back quotes, in a table or out of one. */
const PLAIN_CODE = /^[^\s`|<>\\\p{C}](?:[^`|<>\\\n\r\p{C}]*[^\s`|<>\\\p{C}])?$/u
/** Neither marks up nor links nor calls anybody; an underscore does not inside of a word. */
const PLAIN_WORDS = /^(?:[\p{L}\p{N} .,:;()'"/=+%-]|(?<=[\p{L}\p{N}])_(?=[\p{L}\p{N}]))*$/u
const LINK = /:\/\/|www\.|^[-+]|^\d+[.)]/i

/** Text as code: on one line, cut to 200 characters, and shown letter by letter whatever it holds. */
export const code = (text: string): string => letters(brief(text))

/** A command to be copied: whole, however long it is. */
export const command = (text: string): string => letters(oneLine(text))

function letters(line: string): string {
  if (PLAIN_CODE.test(line)) return `\`${line}\``
  return line === '' ? '`""`' : `<code>${entities(line)}</code>`
}

/** A sentence, which may have names in it: as it stands where nothing in it can mean something else, else as code. */
export function words(text: string): string {
  const line = brief(text)
  return PLAIN_WORDS.test(line) && !LINK.test(line) ? line : code(line)
}

/** Every mark as a number: no reader of Markdown or HTML sees anything but a letter in it. */
const entities = (text: string): string => text.replace(/[^\p{L}\p{N} ]/gu, it => `&#${it.codePointAt(0)};`)

/** Text inside of a fence: it cannot look like the end of it, nor like a block to whoever counts them. */
export const fenced = (text: string): string => brief(text).replace(/[`<>]/g, it => `\\u00${it.charCodeAt(0).toString(16)}`)
