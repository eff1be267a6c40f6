/**
 * Words of which a cut has left the beginning or the end: table cells, excerpts of answers and long messages end with an
 * ellipsis, wherever that fell, and servers write it as three dots. What stands right beside the mark and is a part of a
 * word is found here.
 */
import {type Stretch, withReplaced} from './word-matcher.ts'

export const ELLIPSIS = '…'

/** Of a word that is found again. Fewer characters tell nobody anything, and stand beside many an ellipsis by chance. */
const LEAST = 3
/** Three dots end many a sentence of people. */
const LEAST_BESIDE_DOTS = 5

const MARK = /\u2026|\.{3,64}/

/** Whether there is a mark at all. */
export const isCut = (text: string): boolean => MARK.test(text)

export class CutWords {
  readonly #beginnings = new Map<string, string[]>()
  readonly #ends = new Map<string, string[]>()
  readonly #longest: number

  constructor(words: Iterable<string>) {
    let longest = 0
    for (const word of words) {
      longest = Math.max(longest, word.length)
      add(this.#beginnings, word.slice(0, LEAST), word)
      add(this.#ends, word.slice(-LEAST), word)
    }
    this.#longest = longest
  }

  /** The text with each such part replaced; the same string where there is none. */
  replace(text: string, replacement: string): string {
    return withReplaced(text, this.stretches(text), () => replacement)
  }

  /** Where such parts stand, from the beginning of the text on. */
  stretches(text: string): readonly Stretch[] {
    const found: Stretch[] = []
    let looked = 0
    const marks = new RegExp(MARK, 'g')
    for (let mark = marks.exec(text); mark !== null; ) {
      const next = marks.exec(text)
      const [sign] = mark
      const [at, end] = [mark.index, mark.index + sign.length]
      const least = sign === ELLIPSIS ? LEAST : LEAST_BESIDE_DOTS
      // What stands between two marks is looked at twice, and not once for each mark there is.
      const before = this.#begun(text, looked, at, least)
      if (before > 0) found.push({start: at - before, end: at})
      const behind = this.#ended(text, end, next?.index ?? text.length, least)
      if (behind > 0) found.push({start: end, end: end + behind})
      looked = end + behind
      mark = next
    }
    return found
  }

  /** How much of a word that begins before `end` stands there: as much as can be. */
  #begun(text: string, from: number, end: number, least: number): number {
    for (let at = Math.max(from, end - this.#longest); at <= end - least; at++) {
      const part = text.slice(at, end)
      if (this.#beginnings.get(part.slice(0, LEAST))?.some(word => word.startsWith(part))) return part.length
    }
    return 0
  }

  #ended(text: string, from: number, end: number, least: number): number {
    for (let to = Math.min(end, from + this.#longest); to >= from + least; to--) {
      const part = text.slice(from, to)
      if (this.#ends.get(part.slice(-LEAST))?.some(word => word.endsWith(part))) return part.length
    }
    return 0
  }
}

function add(words: Map<string, string[]>, part: string, word: string): void {
  const beside = words.get(part)
  if (beside === undefined) words.set(part, [word])
  else beside.push(word)
}
