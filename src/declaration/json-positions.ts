/** Where things stand in a JSON text: lines of keys, keys that are there twice, and the place of a syntax error. */

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

const BLANKS = new Set([9, 10, 13, 32])
/** Of a text, so many pieces at a time: a group that repeats without a bound runs out of stack on a text of some megabytes. */
const PIECES = /(?:[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,1000}/y
const ATOM = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** A key as it stands in the text; other letters may be written as escapes. */
const isProto = (key: string): boolean => key === '"__proto__"' || (key.includes('\\u') && JSON.parse(key) === '__proto__')

/** Lists and objects in each other. */
const MAX_LEVELS = 200

/** One pass. @throws JsonPlaceError */
export function positionsIn(text: string, depth: number): JsonPositions {
  const offsets = new Map<string, number>()
  const twice: {path: readonly string[]; offset: number}[] = []
  let at = 0
  let levels = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const found = pattern.test(text)
    if (found) at = pattern.lastIndex
    return found
  }
  const mark = (wanted: string): boolean => {
    if (text[at] !== wanted) return false
    at++
    return true
  }
  const takeText = (): boolean => {
    if (text[at] !== '"') return false
    const from = at
    at++
    while (take(PIECES));
    if (mark('"')) return true
    at = from
    return false
  }
  const fail = (expected: string): never => {
    // What stands there is not quoted: it may be part of a secret.
    throw new JsonPlaceError(at < text.length ? `${expected} is expected` : `${expected} is expected, and the file ends`, at)
  }
  const space = (): void => {
    while (BLANKS.has(text.charCodeAt(at))) at++
  }
  const value = (path: readonly string[] | undefined): void => {
    space()
    if (text[at] === '{' || text[at] === '[') {
      if (levels === MAX_LEVELS) throw new JsonPlaceError(`it goes more than ${MAX_LEVELS} levels deep`, at)
      levels++
      if (mark('{')) fields(path)
      else if (mark('[')) items(path)
      levels--
    } else if (!takeText() && !take(ATOM)) fail('a value')
  }
  const items = (path: readonly string[] | undefined): void => {
    space()
    if (mark(']')) return
    do value(path)
    while (separated())
    if (!mark(']')) fail('"," or "]"')
  }
  const separated = (): boolean => {
    space()
    return mark(',')
  }
  const fields = (path: readonly string[] | undefined): void => {
    const here = path && path.length < depth ? new Set<string>() : undefined
    space()
    if (mark('}')) return
    do {
      space()
      const offset = at
      if (!takeText()) fail('a key in quotes')
      const end = at
      if (isProto(text.slice(offset, end))) throw new JsonPlaceError('it has a field called "__proto__", which no object can keep', offset)
      space()
      if (!mark(':')) fail('":"')
      const key = here ? text.slice(offset, end) : ''
      const inner = path && here ? [...path, JSON.parse(key) as string] : undefined
      if (inner && here) {
        if (here.has(key)) twice.push({path: inner, offset})
        here.add(key)
        offsets.set(positionKey(inner), offset)
      }
      value(inner)
    } while (separated())
    if (!mark('}')) fail('"," or "}"')
  }
  value([])
  space()
  if (at < text.length) fail('the end')
  return {offsets, twice}
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

/** Lines of offsets, from 1; offsets are asked in any order. */
export function lineFinder(text: string): (offset: number) => number {
  let starts: number[] | undefined
  return offset => {
    if (starts === undefined) {
      starts = [0]
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
    }
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
