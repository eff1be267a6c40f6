/** Text for people, folded to the width of their terminal. What is piped is never folded: programs count lines. */
import {stripVTControlCharacters} from 'node:util'
import type {Measure} from './terminal-text.ts'

/** The mark a line begins with, under which the lines it is folded into stand: `error: `, `  > `, `  - `. */
const MARK = /^(?: {2}[>-] |(?:error|warning): |)/

/**
 * A command that ends its line stays in one piece, for people copy it; the terminal folds it itself, without a line
 * break in what is copied. So do things in back quotes and commands in quotes.
 */
const COMMAND = /(?<=: )(?:printf [^:]*\| )?svcctl .*$/
const WORD = /(?:`[^`]+`|"svcctl [^"]+"|[^ ])+/g

/** No terminal is narrower than this and still read. */
const NARROWEST = 30

/**
 * @param width - columns of the terminal
 * @param measure - of text without colours
 * @returns the text with line breaks at spaces; lines that begin with spaces and no mark (an excerpt with a caret below) stay
 */
export const wrapText = (text: string, width: number, measure: Measure): string =>
  text
    .split('\n')
    .map(line => wrapLine(line, Math.max(NARROWEST, width), measure))
    .join('\n')

function wrapLine(line: string, width: number, measure: Measure): string {
  const plain = stripVTControlCharacters(line)
  const mark = MARK.exec(plain)?.[0] ?? ''
  if (measure(plain) <= width || (mark === '' && plain.startsWith(' '))) return line
  const indent = ' '.repeat(mark.startsWith(' ') ? mark.length : 2)
  return folded(wordsOf(line), {width, indent, measure, isBody: current => isBody(current, mark)}).join('\n')
}

/** A text without marks or commands, in lines of this width: a column of a help page. */
export const foldedLines = (text: string, width: number): string[] =>
  text === '' ? [] : folded(text.split(' '), {width, indent: '', measure: roughWidth, isBody: () => true})

interface Folding {
  readonly width: number
  /** What all lines but the first begin with. */
  readonly indent: string
  readonly measure: Measure
  /** Whether what stands so far may be a line of its own. */
  readonly isBody: (line: string) => boolean
}

function folded(words: readonly string[], {width, indent, measure, isBody}: Folding): string[] {
  const lines: string[] = []
  let current = ''
  let used = 0
  for (const word of words) {
    const needs = measure(stripVTControlCharacters(word))
    if (current.trim() !== '' && used + 1 + needs > width && isBody(current)) {
      lines.push(current)
      current = indent + word
      used = indent.length + needs
    } else {
      used += (current === '' ? 0 : 1) + needs
      current = current === '' ? word : `${current} ${word}`
    }
  }
  return [...lines, current]
}

/** Whether the line holds more than its mark: a mark alone is no line. */
const isBody = (line: string, mark: string): boolean => stripVTControlCharacters(line).trim() !== mark.trim()

/** The spaces that a line begins with belong to its first word. */
function wordsOf(line: string): string[] {
  const command = COMMAND.exec(line)
  const words: string[] = (command === null ? line : line.slice(0, command.index)).match(WORD) ?? []
  const [first = '', ...others] = command === null ? words : [...words, command[0]]
  return [`${/^ */.exec(line)?.[0] ?? ''}${first}`, ...others]
}

const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u
const NO_WIDTH = /[\p{M}\p{Cf}]/u

/**
 * Nearly the width of a text, at once: the exact one takes a tenth of a second to load, and a line of a log is written
 * by who cannot wait. Never less than the exact one for wide characters; a line is folded early at worst.
 */
export const roughWidth: Measure = text => {
  let width = 0
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}
