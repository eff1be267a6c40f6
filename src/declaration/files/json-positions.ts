/** Where things stand in a JSON text: lines of keys, keys that are there twice, and the place of a syntax error. */
import {visit} from 'jsonc-parser'

export interface JsonPositions {
  /** Offset of each key down to the wanted depth; the key's path joined by a NUL. */
  readonly offsets: ReadonlyMap<string, number>
  /** Keys that stand twice in one object. JSON keeps the last without a word. */
  readonly twice: readonly {readonly path: readonly string[]; readonly offset: number}[]
}

/** The text is not JSON. */
export class JsonPlaceError extends SyntaxError {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

export const positionKey = (path: readonly string[]): string => path.join('\0')

/** Lists and objects in each other. */
const MAX_LEVELS = 200

/** Blanks in a row, and escapes in one text: the parser puts both together letter by letter, which takes 35 times their size. */
const MOST_BLANKS = 1_000_000
const MOST_ESCAPES = 1_000_000

/** @throws JsonPlaceError for what `JSON.parse` refuses, for what is too deep or costs too much, and for a field that no object can keep */
export function positionsIn(text: string, depth: number): JsonPositions {
  assertCheap(text)
  const offsets = new Map<string, number>()
  const twice: {path: readonly string[]; offset: number}[] = []
  const open: Container[] = []
  let expected = 'a value'
  const begin = (container: Container, offset: number): void => {
    if (open.length === MAX_LEVELS) throw new JsonPlaceError(`it goes more than ${MAX_LEVELS} levels deep`, offset)
    open.push(container)
    expected = container.list ? 'a value' : 'a key in quotes'
  }
  const valueEnds = (): void => {
    const around = open.at(-1)
    expected = around === undefined ? 'the end' : around.list ? '"," or "]"' : '"," or "}"'
  }
  const end = (): void => {
    open.pop()
    valueEnds()
  }
  visit(
    text,
    {
      onObjectBegin: (offset, _length, _line, _character, pathTo) => {
        const path = open.filter(it => !it.list).length < depth ? pathTo().filter(step => typeof step === 'string') : undefined
        begin({list: false, path, keys: new Set()}, offset)
      },
      onArrayBegin: offset => begin({list: true, path: undefined, keys: new Set()}, offset),
      onObjectEnd: end,
      onArrayEnd: end,
      onLiteralValue: valueEnds,
      onObjectProperty: (key, offset) => {
        if (key === '__proto__') throw new JsonPlaceError('it has a field called "__proto__", which no object can keep', offset)
        expected = '":"'
        const {path, keys} = open.at(-1) ?? {}
        if (path === undefined || keys === undefined) return
        const inner = [...path, key]
        if (keys.has(key)) twice.push({path: inner, offset})
        keys.add(key)
        offsets.set(positionKey(inner), offset)
      },
      onSeparator: character => {
        expected = character === ':' || open.at(-1)?.list === true ? 'a value' : 'a key in quotes'
      },
      // What stands there is not quoted: it may be part of a secret.
      onError: (_error, offset) => {
        throw new JsonPlaceError(offset < text.length ? `${expected} is expected` : `${expected} is expected, and the file ends`, offset)
      },
    },
    {disallowComments: true},
  )
  return {offsets, twice}
}

const [QUOTE, ESCAPE, LINE_BREAK] = [0x22, 0x5c, 0x0a]
const isBlank = (mark: number): boolean => mark === 0x20 || mark === LINE_BREAK || mark === 0x0d || mark === 0x09

/** @throws JsonPlaceError */
function assertCheap(text: string): void {
  if (text.length <= Math.min(MOST_BLANKS, MOST_ESCAPES)) return
  let inText = false
  let blanks = 0
  let escapes = 0
  for (let at = 0; at < text.length; at++) {
    const mark = text.charCodeAt(at)
    blanks = !inText && isBlank(mark) ? blanks + 1 : 0
    if (blanks > MOST_BLANKS) throw new JsonPlaceError('more than a million blanks follow each other', at)
    if (inText && mark === ESCAPE) {
      at += 1
      escapes += 1
      if (escapes > MOST_ESCAPES) throw new JsonPlaceError('a text has more than a million escapes', at)
    } else if (mark === QUOTE) {
      inText = !inText
      escapes = 0
    }
  }
}

interface Container {
  readonly list: boolean
  /** Of an object whose keys are wanted. */
  readonly path: readonly string[] | undefined
  readonly keys: Set<string>
}

/** What is wrong with a text that is not JSON, without quoting it: the parser's own message would. */
export function jsonFault(text: string): string {
  try {
    positionsIn(text, 0)
  } catch (error) {
    if (error instanceof JsonPlaceError) return `${error.message} at character ${error.offset + 1}`
    throw error
  }
  return 'it cannot be parsed'
}

/** So many letters are looked through for one line; the line breaks before are counted once. */
const STEP = 4096

/** Lines of offsets, from 1; offsets are asked in any order. */
export function lineFinder(text: string): (offset: number) => number {
  let counted: number[] | undefined
  return offset => {
    counted ??= breaksBefore(text)
    const step = Math.min(Math.floor(offset / STEP), counted.length - 1)
    let line = 1 + (counted[step] ?? 0)
    for (let at = text.indexOf('\n', step * STEP); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
    return line
  }
}

/** Before each step: a number for each line would take more than the text. */
function breaksBefore(text: string): number[] {
  const counted: number[] = []
  let breaks = 0
  for (let at = 0; at <= text.length; at++) {
    if (at % STEP === 0) counted.push(breaks)
    if (text.charCodeAt(at) === LINE_BREAK) breaks += 1
  }
  return counted
}
