/**
 * Words of base64 and hex that are broken into lines, as MIME, PEM and dumps do: the lines of such a block are read as one, and
 * the words are looked for in what that gives. A block is what has a long line in it, and whatever stands right behind a break;
 * most texts have none, and that is seen by a look at one of forty characters.
 */
import type {CutWords} from './cut-words.ts'
import type {Stretch, WordMatcher} from './word-matcher.ts'

/** Of a line that is taken for one of a block. Breaking at 64 and 76 is usual. */
const LONG = 40

/** Of both alphabets, with the padding. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_='
const IS_LETTER = new Uint8Array(128)
for (const letter of LETTERS) IS_LETTER[letter.charCodeAt(0)] = 1
const ONLY_LETTERS = /^[\w+/=-]*$/

/** Whether a word has no other letters: only such ones are found. */
export const mayBeWrapped = (word: string): boolean => ONLY_LETTERS.test(word)

/** The end of a line, and how the next one is indented; also on one line, and as it stands in JSON. */
const BREAK = /(?:[ \t\r\n]|\\{1,64}[nrt]){1,1000}/y
/** With these one begins: most long words have another character behind them. */
const BREAKS = new Set(' \t\r\n\\')
const BEFORE_CUT = /(?:\u2026|\.{3})$/
const BEHIND_CUT = /\u2026|\.{3}/y

interface Line {
  readonly from: number
  readonly to: number
}

interface Block {
  /** Two at least. The last one may be empty, where a cut has left nothing of it. */
  readonly lines: readonly Line[]
  /** Behind all that belongs to it. */
  readonly end: number
}

/**
 * Where words stand in blocks, from the beginning of the text on.
 * @param words - asked for where there is such a block
 * @param cut - finds what a cut beside a block has left of a word
 */
export function wrappedStretches(text: string, words: () => WordMatcher, cut: () => CutWords): readonly Stretch[] {
  if (text.length <= LONG) return []
  const found: Stretch[] = []
  for (let block = blockFrom(text, 0); block !== undefined; block = blockFrom(text, block.end)) {
    const joined = block.lines.map(({from, to}) => text.slice(from, to)).join('')
    const place = placesIn(block.lines)
    const add = ({start, end}: Stretch) => found.push({start: place(start), end: place(end - 1) + 1})
    words().stretches(joined).forEach(add)
    const before = BEFORE_CUT.exec(text.slice(Math.max(0, (block.lines[0]?.from ?? 0) - 3), block.lines[0]?.from))?.[0] ?? ''
    const behind = matchAt(BEHIND_CUT, text, block.end)
    if (before + behind === '') continue
    for (const {start, end} of cut().stretches(before + joined + behind)) add({start: start - before.length, end: end - before.length})
  }
  return found
}

/** Where a letter of the joined lines stands in the text. */
function placesIn(lines: readonly Line[]): (at: number) => number {
  const starts: number[] = []
  let length = 0
  for (const {from, to} of lines) {
    starts.push(length)
    length += to - from
  }
  return at => {
    let [low, high] = [0, lines.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return (lines[low]?.from ?? 0) + at - (starts[low] ?? 0)
  }
}

/** The first one that begins there or later. */
function blockFrom(text: string, begin: number): Block | undefined {
  for (let line = longLineFrom(text, begin); line !== undefined; line = longLineFrom(text, line.to)) {
    const lines = [line]
    let end = line.to
    for (let last = line; last.to - last.from >= LONG; ) {
      const from = last.to + matchAt(BREAK, text, last.to, BREAKS).length
      if (from === last.to) break
      const to = endOfLine(text, from)
      if (to === from && matchAt(BEHIND_CUT, text, from) === '') break
      last = {from, to}
      lines.push(last)
      end = to
    }
    if (lines.length > 1) return {lines, end}
  }
  return undefined
}

function longLineFrom(text: string, begin: number): Line | undefined {
  let from = begin
  /** What stands before it was looked at. */
  let looked = begin
  while (from + LONG <= text.length) {
    const last = from + LONG - 1
    let at = last
    while (at >= looked && isLetter(text, at)) at--
    if (at < looked) return {from, to: endOfLine(text, last + 1)}
    looked = last + 1
    from = at + 1
  }
  return undefined
}

function endOfLine(text: string, from: number): number {
  let at = from
  while (at < text.length && isLetter(text, at)) at++
  return at
}

const isLetter = (text: string, at: number): boolean => IS_LETTER[text.charCodeAt(at)] === 1

/** @param first - the characters it may begin with */
function matchAt(pattern: RegExp, text: string, at: number, first?: ReadonlySet<string>): string {
  if (first?.has(text[at] ?? '') === false) return ''
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}
