/**
 * What a JSON text takes as values, told from its marks before it is parsed: `[]` is a tenth of a kilobyte with the comma that
 * follows it, and a key that no other object has brings a layout of its own. A bound on what is parsed is a bound on that: texts
 * of the same length differ by forty times.
 *
 * It is no parser, and what is no JSON weighs something, too. The figures are those of V8, rounded up.
 */
const LIST_BYTES = 48
const OBJECT_BYTES = 72
/** Room for one more item, while a list grows. */
const ITEM_BYTES = 24
const FIELD_BYTES = 16
const TEXT_BYTES = 32
/** A key that was not met before, or is a whole number: the object's layout is one more. */
const OWN_KEY_BYTES = 200

/** Marks by a hash of their letters: two that share one count once, and a million have room. */
const HASHES = 1 << 22

const [QUOTE, COMMA, COLON, ESCAPE, LIST, LIST_END, OBJECT, OBJECT_END] = [0x22, 0x2c, 0x3a, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]
const isDigit = (mark: number): boolean => mark >= 0x30 && mark <= 0x39
const isBlank = (mark: number): boolean => mark === 0x20 || mark === 0x0a || mark === 0x0d || mark === 0x09

export type JsonFault = 'deep' | 'many' | 'heavy'

export interface JsonBounds {
  /** Lists and objects in each other. */
  readonly levels: number
  readonly values: number
  readonly bytes: number
}

/** Of one text, or of its parts one after the other. */
export class JsonWeight {
  readonly #bounds: JsonBounds
  readonly #inList: Uint8Array
  readonly #met = new Uint8Array(HASHES / 8)
  #values = 0
  #bytes = 0

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds
    this.#inList = new Uint8Array(bounds.levels + 1)
  }

  /**
   * @param inList - the text is some items of a list, without its brackets
   * @returns what is too much, if anything is; looks no further than that
   */
  add(text: string, inList = false): JsonFault | undefined {
    const {levels, values, bytes} = this.#bounds
    const lists = this.#inList
    lists[0] = inList ? 1 : 0
    let depth = 0
    let count = this.#values
    let weight = this.#bytes
    for (let at = 0; at < text.length; at++) {
      const mark = text.charCodeAt(at)
      if (mark === QUOTE) {
        const end = endOfText(text, at + 1)
        let next = end + 1
        while (isBlank(text.charCodeAt(next))) next++
        const isKey = text.charCodeAt(next) === COLON
        weight += isKey ? this.#keyBytes(text, at + 1, end) : TEXT_BYTES + end - at
        at = isKey ? next : end
      } else if (mark === COMMA) {
        count++
        if (lists[depth] === 1) weight += ITEM_BYTES
      } else if (mark === LIST || mark === OBJECT) {
        count++
        weight += mark === LIST ? LIST_BYTES : OBJECT_BYTES
        if (++depth > levels) return 'deep'
        lists[depth] = mark === LIST ? 1 : 0
      } else if (mark === LIST_END || mark === OBJECT_END) {
        if (depth > 0) depth--
      } else continue
      if (count > values) return 'many'
      if (weight > bytes) return 'heavy'
    }
    this.#values = count
    this.#bytes = weight
    return undefined
  }

  #keyBytes(text: string, from: number, to: number): number {
    let hash = 0x811c9dc5
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    const place = (hash ^ (hash >>> 15)) & (HASHES - 1)
    const bit = 1 << (place & 7)
    const met = this.#met[place >>> 3] ?? 0
    this.#met[place >>> 3] = met | bit
    return (met & bit) === 0 || isDigit(text.charCodeAt(from)) ? OWN_KEY_BYTES : FIELD_BYTES
  }
}

/** @returns where the quote stands that closes it */
function endOfText(text: string, from: number): number {
  let at = from
  for (let mark = text.charCodeAt(at); at < text.length && mark !== QUOTE; mark = text.charCodeAt(++at)) if (mark === ESCAPE) at++
  return at
}
