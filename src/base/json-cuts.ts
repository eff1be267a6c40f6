/**
 * Where a large JSON text can be taken apart, found in one look at its bytes: lists and objects that are large are opened,
 * and what stands in them becomes stretches of whole items that `JSON.parse` can be given one by one. The look also tells
 * in which stretches there are numbers that JavaScript would not write as they came.
 *
 * It is no parser: whether a stretch is JSON is for the parser to say. Whatever is unusual (a text that ends too early,
 * brackets that do not match, too many levels or values) is cut nowhere, and is said about the text as a whole.
 */
import {MAX_JSON_LEVELS, MAX_JSON_VALUES} from './bounded-json.ts'

/** Of a stretch, about. Smaller ones cost a call each, larger ones more memory at once. */
export const STRETCH_BYTES = 64 * 1024

/** Lists and objects in each other that are opened; what is deeper is one stretch, however long. */
const MAX_OPENED = 16

/** Places are in bytes; `to` is the first byte behind. */
export type JsonCut =
  /** Before the bracket stands its key in an object, and nothing in a list. */
  | {readonly is: 'open'; readonly list: boolean; readonly from: number; readonly to: number}
  /** Whole items of what was opened last, without the commas around them. */
  | {readonly is: 'items'; readonly from: number; readonly to: number; readonly spelled: boolean}
  | {readonly is: 'close'}

const [OTHER, BLANK, QUOTE, COMMA, OPEN, CLOSE, NUMBER] = [0, 1, 2, 3, 4, 5, 6]

const classes = (groups: Readonly<Record<string, number>>): Uint8Array => {
  const table = new Uint8Array(256).fill(OTHER)
  for (const [marks, it] of Object.entries(groups)) for (const mark of marks) table[mark.charCodeAt(0)] = it
  return table
}
const OUTSIDE = classes({' \t\n\r': BLANK, '"': QUOTE, ',': COMMA, '[{': OPEN, ']}': CLOSE, '-0123456789': NUMBER})
/** Marks in texts count as values do where they are counted without a look at what is a text (`parseAnyJson`). */
const INSIDE = classes({'"': QUOTE, '\\': OTHER + 1, ',[{': COMMA})
const DIGIT = classes({'0123456789': 1, '.': 2, 'eE+-': 3})

const [LIST, OBJECT, LIST_END, OBJECT_END, MINUS, ZERO] = [0x5b, 0x7b, 0x5d, 0x7d, 0x2d, 0x30]

/** @returns `undefined` for what has to be taken as a whole */
export const jsonCuts = (bytes: Uint8Array, stretchBytes = STRETCH_BYTES): readonly JsonCut[] | undefined =>
  new Look(bytes, stretchBytes).cuts()

/** What stands there, as `Buffer.toString` has it of the whole: no cut is in the middle of a letter. */
export const textBetween = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString()

class Look {
  readonly #bytes: Uint8Array
  readonly #stretch: number
  readonly #cuts: JsonCut[] = []
  /** Of what is open: whether it is a list. */
  readonly #opened: boolean[] = []
  #at = 0
  /** Brackets that are open. */
  #depth = 0
  #marks = 0
  /** Some number of the stretch is written otherwise by JavaScript. */
  #spelled = false
  /** Where the stretch begins, and in it the item that is looked at, and the bracket of that. */
  #from = 0
  #item = 0
  #bracket = 0
  /** As they were where the item begins: when it is opened, it is looked at again. */
  #marksBefore = 0
  #spelledBefore = false
  /** What was opened has just been closed, and only a comma or another end may follow. */
  #closed = false

  constructor(bytes: Uint8Array, stretchBytes: number) {
    this.#bytes = bytes
    this.#stretch = stretchBytes
  }

  cuts(): readonly JsonCut[] | undefined {
    const {length} = this.#bytes
    this.#at = this.#solid(0)
    const first = this.#bytes[this.#at]
    if (first !== LIST && first !== OBJECT) return undefined
    this.#open(this.#at, this.#at)
    while (this.#at < length) {
      const met = this.#next()
      if (met === OTHER || this.#marks > MAX_JSON_VALUES || this.#depth > MAX_JSON_LEVELS) return undefined
      if (met === CLOSE && !this.#close()) return undefined
      if (this.#opened.length === 0) return this.#solid(this.#at) === length ? this.#cuts : undefined
      if (met === COMMA && !this.#comma()) return undefined
    }
    return undefined
  }

  /** Goes on behind the next mark that matters: the comma or the end of what is open, or where an item has become too large. */
  #next(): number {
    const bytes = this.#bytes
    const {length} = bytes
    const level = this.#opened.length
    const large = level < MAX_OPENED ? this.#item + this.#stretch : length
    let at = this.#at
    let depth = this.#depth
    let met = OTHER
    while (at < length) {
      const mark = OUTSIDE[bytes[at] ?? 0]
      if (mark === QUOTE) at = this.#text(at + 1)
      else if (mark === NUMBER) at = this.#number(at)
      else {
        at++
        if (mark === COMMA) this.#marks++
        else if (mark === OPEN) {
          this.#marks++
          depth++
          if (depth === level + 1) this.#bracket = at - 1
          if (depth > MAX_JSON_LEVELS) break
        } else if (mark === CLOSE) depth--
        else continue
        if (depth <= level && mark !== OPEN) {
          if (depth === level && mark === CLOSE) continue
          met = mark
          break
        }
        if (at > large) {
          return this.#openItem() ? BLANK : OTHER
        }
      }
    }
    this.#at = at
    this.#depth = depth
    return met
  }

  /** @returns behind the closing quote */
  #text(from: number): number {
    const bytes = this.#bytes
    const {length} = bytes
    let at = from
    while (at < length) {
      const mark = INSIDE[bytes[at] ?? 0]
      at++
      if (mark === OTHER) continue
      if (mark === QUOTE) return at
      if (mark === COMMA) this.#marks++
      else at++
    }
    return at
  }

  /** @returns behind its last digit */
  #number(from: number): number {
    const bytes = this.#bytes
    let at = from + 1
    let most = 1
    for (;;) {
      const digit = DIGIT[bytes[at] ?? 0] ?? 0
      if (digit === 0) break
      if (digit > most) most = digit
      at++
    }
    if (!this.#spelled && !isWrittenAlike(bytes, from, at, most)) this.#spelled = true
    return at
  }

  #open(from: number, bracket: number): void {
    const list = this.#bytes[bracket] === LIST
    this.#cuts.push({is: 'open', list, from, to: bracket})
    this.#opened.push(list)
    this.#depth = this.#opened.length
    this.#at = bracket + 1
    this.#marks++
    this.#begin()
  }

  /** The item has become large: what stands before it is a stretch, and it is looked at again, as what is open. @returns whether it is well so far */
  #openItem(): boolean {
    this.#marks = this.#marksBefore
    this.#spelled = this.#spelledBefore
    if (this.#closed || (this.#item > this.#from && !this.#take(this.#item - 1))) return false
    this.#open(this.#item, this.#bracket)
    return true
  }

  /** @returns whether it is well so far */
  #comma(): boolean {
    const end = this.#at - 1
    if (this.#closed) {
      if (this.#solid(this.#from) !== end) return false
      this.#closed = false
      this.#begin()
      return true
    }
    if (end - this.#from < this.#stretch) {
      this.#item = this.#at
      this.#marksBefore = this.#marks
      this.#spelledBefore = this.#spelled
      return true
    }
    if (!this.#take(end)) return false
    this.#begin()
    return true
  }

  #close(): boolean {
    const end = this.#at - 1
    if (this.#bytes[end] !== (this.#opened.pop() ? LIST_END : OBJECT_END)) return false
    // Nothing but blanks is no item; only where there is none at all it is right.
    const isEmpty = this.#cuts.at(-1)?.is === 'open'
    if (this.#solid(this.#from) >= end) {
      if (!this.#closed && !(isEmpty && this.#item === this.#from)) return false
    } else if (this.#closed || !this.#take(end)) return false
    this.#cuts.push({is: 'close'})
    this.#depth = this.#opened.length
    this.#begin()
    this.#closed = true
    return true
  }

  /** A stretch from here on. */
  #begin(): void {
    this.#from = this.#at
    this.#item = this.#at
    this.#marksBefore = this.#marks
    this.#spelled = false
    this.#spelledBefore = false
  }

  /** @returns whether there is anything to take */
  #take(to: number): boolean {
    if (this.#solid(this.#from) >= to) return false
    this.#cuts.push({is: 'items', from: this.#from, to, spelled: this.#spelled})
    return true
  }

  /** The first place from here on that is not blank. */
  #solid(from: number): number {
    let at = from
    while (at < this.#bytes.length && OUTSIDE[this.#bytes[at] ?? 0] === BLANK) at++
    return at
  }
}

/** Whether JavaScript writes the number as it stands there; most are plain enough to tell without asking it. */
function isWrittenAlike(bytes: Uint8Array, from: number, to: number, most: number): boolean {
  const whole = bytes[from] === MINUS ? from + 1 : from
  if (to - from <= 15 && most < 3) {
    if (most === 1) return bytes[whole] !== ZERO || whole === from
    // Up to fifteen digits come back as they are, but for zeros at the end, and fractions below a millionth.
    if (bytes[to - 1] !== ZERO && (bytes[whole] !== ZERO || bytes[whole + 2] !== ZERO)) return true
  }
  const text = textBetween(bytes, from, to)
  return String(Number(text)) === text
}
