/**
 * Finds any of many words in a text, in one pass that looks at a fraction of its characters (Wu and Manber's shifts).
 * Where matches overlap they count as one: covering only the first would leave the end of the second.
 */

/** Slots of the tables; two characters choose one. */
const SLOTS = 1 << 14

/** From its first character to the one behind its last. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

/** In the order of the text, and those that overlap as one. */
export function withoutOverlap(stretches: readonly Stretch[]): readonly Stretch[] {
  const all: Stretch[] = []
  for (const it of [...stretches].sort((a, b) => a.start - b.start)) {
    const last = all.at(-1)
    if (last !== undefined && it.start < last.end) all[all.length - 1] = {start: last.start, end: Math.max(last.end, it.end)}
    else all.push(it)
  }
  return all
}

/** @param stretches - in the order of the text; none overlaps another */
export function withReplaced(text: string, stretches: readonly Stretch[], replacement: (covered: string) => string): string {
  if (stretches.length === 0) return text
  let result = ''
  let copied = 0
  for (const {start, end} of stretches) {
    result += text.slice(copied, start) + replacement(text.slice(start, end))
    copied = end
  }
  return result + text.slice(copied)
}

export class WordMatcher {
  /** Characters of the longest word. */
  readonly longest: number
  readonly #shortest: number
  /** By the last two characters of the window: how far it can move on without passing over a word. */
  readonly #shifts: Uint16Array
  /** Words by the last two characters of their first window, the longest first. */
  readonly #words = new Map<number, string[]>()

  /** @param words - each of two characters at least */
  constructor(words: Iterable<string>) {
    const all = [...new Set(words)]
    this.#shortest = all.reduce((least, {length}) => Math.min(least, length), all.length === 0 ? 2 : 65_535)
    this.longest = all.reduce((most, {length}) => Math.max(most, length), 0)
    if (this.#shortest < 2) throw new RangeError('a word of one character is everywhere')
    this.#shifts = new Uint16Array(SLOTS).fill(this.#shortest - 1)
    for (const word of all) {
      for (let at = 1; at < this.#shortest; at++) {
        const slot = slotOf(word, at)
        this.#shifts[slot] = Math.min(this.#shifts[slot] ?? 0, this.#shortest - 1 - at)
      }
      const slot = slotOf(word, this.#shortest - 1)
      const beside = this.#words.get(slot) ?? []
      beside.push(word)
      this.#words.set(slot, beside)
    }
    for (const beside of this.#words.values()) beside.sort((a, b) => b.length - a.length)
  }

  /** The text with every stretch that words cover replaced; the same string where there is none. */
  replace(text: string, replacement: (covered: string) => string): string {
    return withReplaced(text, this.stretches(text), replacement)
  }

  /** Where words stand in the text, from its beginning on. Those that overlap are one. */
  stretches(text: string): readonly Stretch[] {
    const found: Stretch[] = []
    let start = -1
    let end = -1
    for (let at = this.#shortest - 1; at < text.length; ) {
      const slot = slotOf(text, at)
      const shift = this.#shifts[slot] ?? 0
      if (shift > 0) {
        at += shift
        continue
      }
      const from = at - this.#shortest + 1
      const length = this.#lengthAt(text, from, slot)
      if (length > 0 && from >= end) {
        if (start >= 0) found.push({start, end})
        start = from
      }
      if (length > 0) end = Math.max(end, from + length)
      at++
    }
    if (start >= 0) found.push({start, end})
    return found
  }

  /** Whether any of the words stands in the text. */
  isIn(text: string): boolean {
    for (let at = this.#shortest - 1; at < text.length; ) {
      const slot = slotOf(text, at)
      const shift = this.#shifts[slot] ?? 0
      if (shift === 0 && this.#lengthAt(text, at - this.#shortest + 1, slot) > 0) return true
      at += Math.max(1, shift)
    }
    return false
  }

  /** Of the longest word that begins there; 0 where none does. */
  #lengthAt(text: string, from: number, slot: number): number {
    for (const word of this.#words.get(slot) ?? []) if (text.startsWith(word, from)) return word.length
    return 0
  }
}

const slotOf = (text: string, at: number): number => ((text.charCodeAt(at - 1) << 6) ^ text.charCodeAt(at)) & (SLOTS - 1)
