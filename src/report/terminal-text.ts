/** Text from servers and files, made harmless for a terminal. */
import {stripVTControlCharacters} from 'node:util'
import {eachLetter} from '../base/letters.ts'
import {withoutCommands} from '../base/runner-commands.ts'
import {INVISIBLE} from '../base/unseen-letters.ts'

// Tab and newline are left for `oneLine`.
const CONTROLS = /[^\P{Cc}\t\n]/gu
const MARKS = new RegExp(INVISIBLE, 'gu')

/** The text without escape sequences, control characters and marks that reorder; newlines and tabs stay. */
export const harmless = (text: string): string => stripVTControlCharacters(text).replace(CONTROLS, '').replace(MARKS, '')

/** The colours and weights this program paints with; whatever else begins with ESC came from outside. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what begins with ESC is what this is about
const PAINT = /\u001b\[(?:[124]|2[24]|3[1-69]|39)m/
const UNSEEN = new RegExp(`${CONTROLS.source}|${INVISIBLE}`, 'gu')
const ACTING = new RegExp(`${PAINT.source}|${UNSEEN.source}`, 'gu')

function asEscape(mark: string): string {
  const digits = (mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits}`
}

/**
 * The text with everything a terminal, or the runner of a CI job, would act on as an escape that can be seen; newlines, tabs
 * and our own colours stay. Where a line begins matters: for what is whole.
 */
export const visible = (text: string): string => withoutCommands(text.replace(ACTING, mark => (mark.length > 2 ? mark : asEscape(mark))))

/** As `visible`, on one line, so that nothing in it can look like a line of ours. For what was painted with whoever's words in it made harmless. */
export const paintedLine = (text: string): string => visible(text).replaceAll('\n', '\\n')

/** As `visible`, of words that nobody here has painted: a colour in them came from outside, like everything else. */
export const visibleText = (text: string): string => withoutCommands(text.replace(UNSEEN, asEscape))

/** As `visibleText`, on one line. */
export const visibleLine = (text: string): string => visibleText(text).replaceAll('\n', '\\n')

/**
 * Words of ASCII with one space between them: most of what stands in a table. In two patterns, for one that repeats a group
 * fails on a text of many megabytes (RangeError).
 */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text) && !/^ | {2}| $/.test(text)

/** As `harmless`, on one line. */
export const oneLine = (text: string): string =>
  isPlain(text)
    ? text
    : harmless(text)
        .replace(/[\s\u0085]+/g, ' ')
        .trim()

/** How many columns a terminal needs for a text: two for a wide character, none for a combining one. */
export type Measure = (text: string) => number

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a whole
const ASCII = /^[\u0000-\u007f]*$/

/**
 * A measure that is right for these texts. Knowing the width of every character takes a tenth of a second to load, so
 * that plain ASCII is measured without.
 */
export async function measureFor(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) if (!ASCII.test(text)) return letterByLetter((await import('string-width')).default)
  return text => text.length
}

const LONG = 1_000

/** It segments what it measures, and segmenting a long text as a whole takes time by the square of its length. */
const letterByLetter =
  (measure: Measure): Measure =>
  text => {
    if (text.length <= LONG) return measure(text)
    let width = 0
    let part = ''
    for (const letter of eachLetter(text)) {
      part += letter
      if (part.length < LONG) continue
      width += measure(part)
      part = ''
    }
    return width + measure(part)
  }

/** Cut to `width` columns, with an ellipsis where something is missing. Never cuts a character in two. */
export function fitTo(text: string, width: number, measure: Measure): string {
  if (text.length <= LONG && measure(text) <= width) return text
  let fitted = ''
  let used = 0
  for (const letter of eachLetter(text)) {
    used += measure(letter)
    if (used > width) return `${fitted}…`
    if (used < width) fitted += letter
  }
  return text
}
