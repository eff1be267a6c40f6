/**
 * Words of which some letters are spelled by their numbers, as addresses (`%2F`), JSON (`\u0026`), programs (`\x26`) and
 * markup (`&#38;`, `&amp;`) do. Which letters are spelled is each library's own choice: Python leaves `/` in an address as it
 * is, Java `*`, Go `&`; so the letters are put in place of their numbers, and the words are looked for in what that gives.
 *
 * Letters that nobody sees (`unseen-letters.ts`), controls and the sequences of terminals are no letters here: a word with a soft
 * hyphen in it is read as that word, and is that word where they are left out to show it.
 */
import {INVISIBLE} from './unseen-letters.ts'
import {type Stretch, withoutOverlap, withReplaced} from './word-matcher.ts'

const BYTE = '%[0-9a-f]{2}'
const OTHERS = String.raw`\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|&#[0-9]{1,7};|&#x[0-9a-f]{1,6};|&(?:amp|lt|gt|quot|apos);`
const NUMBERED = new RegExp(`${BYTE}|${OTHERS}`, 'i')

/** What a terminal acts on: colours and the like, titles. A line that ends as Windows ends it has no letter too many. */
const SEQUENCE = String.raw`(?:\x1b\[|\x9b)[0-?]{0,100}[ -/]{0,10}[@-~]|\x1b\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)`
const UNSEEN = String.raw`${SEQUENCE}|(?!\r\n)[^\P{Cc}\t\n]|\p{DI}|${INVISIBLE}`
/** Where this is all there is, no letter is unseen: of most texts that is seen at once. */
const SEEN = /^[\t\n -~]*$/
const HAS_UNSEEN = new RegExp(UNSEEN, 'u')

/** By themselves first: a word may have in it what looks like a letter's number. */
const EACH_UNSEEN = new RegExp(`(?:${UNSEEN}){1,1000}`, 'gu')
/** Several bytes may be one letter. */
const EACH_NUMBERED = new RegExp(`(?:${BYTE})+|${OTHERS}|(?:${UNSEEN}){1,1000}`, 'giu')
/** JSON in JSON doubles the sign before a number; a word may also have that sign before a letter that is spelled so. */
const QUOTED = String.raw`\\{2,8}(?:u[0-9a-f]{4}|x[0-9a-f]{2})`
const IS_QUOTED = new RegExp(QUOTED, 'i')
const EACH_QUOTED = new RegExp(`${QUOTED}|${EACH_NUMBERED.source}`, 'giu')

/** An address in an address, in JSON. */
const ROUNDS = 3
/** Of a text that is looked at once: beside it stands where each of its letters comes from. */
const PART = 65_536

/** Whether any letter of the text is spelled so, or unseen. */
export const isSpelled = (text: string): boolean => NUMBERED.test(text) || (!SEEN.test(text) && HAS_UNSEEN.test(text))

/** What finds words. */
export interface WordFinder {
  /** Characters of the longest. */
  readonly longest: number
  /** Where they stand, in the order of the text; none overlaps another. */
  stretches(text: string): readonly Stretch[]
}

/**
 * The text with every stretch that words cover replaced, however their letters are spelled; the same string where there is none.
 * What stands at the end of a part is looked at with what follows it.
 */
export function replaceSpelled(text: string, words: WordFinder, replacement: (covered: string) => string): string {
  if (!isSpelled(text)) return text
  const found: Stretch[] = []
  const behind = Math.min(words.longest * LONGEST_LETTER, MOST_BEHIND)
  for (let from = 0; from < text.length; ) {
    const end = from + Math.max(PART, behind)
    const inPart = stretchesIn(text.slice(from, end + behind), words)
    let next = end
    for (const it of inPart) {
      if (from + it.start >= end) break
      found.push({start: from + it.start, end: from + it.end})
      next = Math.max(next, from + it.end)
    }
    from = next
  }
  return withReplaced(text, found, replacement)
}

/** The longest of the words is one that is spelled by numbers itself; of another kind they may be longer. */
const LONGEST_LETTER = 3
/** A longer word is a document, and its lines are words. */
const MOST_BEHIND = 1_048_576

function stretchesIn(text: string, words: WordFinder): readonly Stretch[] {
  const covered: Stretch[] = []
  const cover = ({text: read, places}: Plain) => {
    if (places === undefined) return
    // What nobody sees behind the last letter is not covered: a colour that ends there.
    for (const {start, end} of words.stretches(read)) covered.push({start: places.from[start] ?? start, end: places.to[end - 1] ?? end})
  }
  for (const numbered of IS_QUOTED.test(text) ? [EACH_NUMBERED, EACH_QUOTED] : [EACH_NUMBERED]) {
    let plain: Plain = {text, places: undefined}
    for (const pattern of [EACH_UNSEEN, ...Array<RegExp>(ROUNDS).fill(numbered)]) {
      const next = plainer(plain, pattern)
      if (next === undefined) continue
      plain = next
      cover(plain)
    }
  }
  return withoutOverlap(covered)
}

interface Plain {
  readonly text: string
  /** Of each letter where it begins in the text as it was, and where it ends. */
  readonly places: {readonly from: Uint32Array; readonly to: Uint32Array} | undefined
}

/** One round of numbers gone; `undefined` where there is none any more. */
function plainer({text, places: before}: Plain, pattern: RegExp): Plain | undefined {
  const pieces: string[] = []
  const [from, to] = [new Uint32Array(text.length), new Uint32Array(text.length)]
  let at = 0
  let copied = 0
  const place = (length: number) => {
    from[at] = before?.from[copied] ?? copied
    to[at++] = before?.to[copied + length - 1] ?? copied + length
  }
  const copy = (end: number) => {
    pieces.push(text.slice(copied, end))
    for (; copied < end; copied++) place(1)
  }
  for (const {0: spelled, index} of text.matchAll(pattern)) {
    copy(index)
    for (const {letter, length} of lettersOf(spelled)) {
      pieces.push(letter)
      for (let unit = 0; unit < letter.length; unit++) place(length)
      copied += length
    }
  }
  if (copied === 0 && pieces.length === 0) return undefined
  copy(text.length)
  return {text: pieces.join(''), places: {from, to}}
}

interface Letter {
  readonly letter: string
  /** How many characters spell it. */
  readonly length: number
}

const NAMED: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"}

function lettersOf(spelled: string): readonly Letter[] {
  if (spelled.startsWith('%')) return inBytes(Buffer.from(spelled.replaceAll('%', ''), 'hex'))
  const {length} = spelled
  if (!/^[\\&]/.test(spelled)) return [{letter: '', length}]
  if (spelled.startsWith('\\')) return [{letter: String.fromCharCode(Number.parseInt(spelled.replace(/^\\+./, ''), 16)), length}]
  const name = spelled.slice(1, -1).toLowerCase()
  if (!name.startsWith('#')) return [{letter: NAMED[name] ?? '', length}]
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return [{letter: code > 0x10_ffff ? '' : String.fromCodePoint(code), length}]
}

/** Three characters a byte; what is no UTF-8 is taken byte by byte. */
function inBytes(bytes: Buffer): readonly Letter[] {
  const letters: Letter[] = []
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0
    const width = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
    const one = bytes.toString('utf8', at, at + width)
    const whole = width > 1 && !one.includes('\ufffd')
    letters.push({letter: whole ? one : String.fromCharCode(first), length: 3 * (whole ? width : 1)})
    at += whole ? width : 1
  }
  return letters
}
