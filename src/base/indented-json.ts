/** JSON text with two spaces a level, written a part at a time: what is large is opened, and what is in it is written in groups. */
import type {JsonObject} from './json.ts'
import {type ExactJson, type ExactObject, escapeUnseen, hasExact, stringifyExactJson} from './lossless-json.ts'
import type {Redactor} from './redact.ts'

interface Opened {
  readonly list: boolean
  isEmpty: boolean
}

export class IndentedJson {
  readonly #redactor: Redactor | undefined
  readonly #opened: Opened[] = []

  /** @param redactor - without one the text is what `JSON.stringify` makes of the value, letter by letter */
  constructor(redactor: Redactor | undefined) {
    this.#redactor = redactor
  }

  /** @param key - in an object */
  open(list: boolean, key?: string): string {
    const name = key === undefined ? '' : `${this.#redactor === undefined ? JSON.stringify(key) : stringifyExactJson(key)}: `
    const before = this.#opened.length === 0 ? '' : `${this.#comma()}${this.#line()}`
    this.#opened.push({list, isEmpty: true})
    return `${before}${name}${list ? '[' : '{'}`
  }

  close(): string {
    const {list, isEmpty} = this.#opened.pop() ?? {list: true, isEmpty: true}
    return `${isEmpty ? '' : this.#line()}${list ? ']' : '}'}${this.#opened.length === 0 ? '\n' : ''}`
  }

  /**
   * Some items of what is open, secrets hidden.
   * @param exact - whether there is a number among them that JavaScript would not write as it is
   */
  items(items: readonly ExactJson[] | ExactObject, exact: boolean): string {
    const comma = this.#comma()
    const level = this.#opened.length
    const text = this.#placed(items, exact)
    const within = (placed: string): string => comma + placed.slice(level * level + level - 1, -level * (level + 1))
    if (this.#redactor === undefined) return within(text)
    const shown = exact || this.#redactor.mayHideIn(text) ? this.#redactor.value(items) : items
    return within(escapeUnseen(shown === items ? text : this.#placed(shown, exact)))
  }

  /** As many lists around the items as there are levels above give them their place, and are cut off again. */
  #placed(items: ExactJson, exact: boolean): string {
    let placed = items
    for (let above = 1; above < this.#opened.length; above++) placed = [placed]
    return exact ? stringifyExactJson(placed, 2) : JSON.stringify(placed, null, 2)
  }

  #comma(): string {
    const within = this.#opened.at(-1)
    if (within === undefined || within.isEmpty) {
      if (within !== undefined) within.isEmpty = false
      return ''
    }
    return ','
  }

  #line(): string {
    return `\n${'  '.repeat(this.#opened.length)}`
  }
}

/** More items than that are written in groups of as many. */
const GROUP = 100

/** How far down lists are looked for that are large. */
const LEVELS = 5

/**
 * The text of a document a part at a time, its secrets hidden, with a newline at its end: a large one is never text as a whole.
 * @param isPlain - each number of it is known to be JavaScript's own
 */
export function* indentedJson(document: ExactJson, redactor: Redactor, isPlain = false): Generator<string> {
  if (isOpened(document, LEVELS, redactor)) yield* opened(document, LEVELS, {redactor, isPlain, writer: new IndentedJson(redactor)})
  else yield `${stringifyExactJson(redactor.value(document), 2)}\n`
}

/** As `indentedJson`, of a document that holds no secret and is read by programs: what `JSON.stringify` makes of it, letter by letter. */
export function* plainIndentedJson(document: JsonObject): Generator<string> {
  if (isOpened(document, LEVELS, undefined))
    yield* opened(document, LEVELS, {redactor: undefined, isPlain: true, writer: new IndentedJson(undefined)})
  else yield `${JSON.stringify(document, null, 2)}\n`
}

interface Opening {
  readonly redactor: Redactor | undefined
  readonly isPlain: boolean
  readonly writer: IndentedJson
}

function* opened(value: Container, levels: number, opening: Opening, key?: string): Generator<string> {
  const {redactor, isPlain, writer} = opening
  const items = Array.isArray(value) ? (value as readonly ExactJson[]) : undefined
  const fields = value as ExactObject
  const names = items ? [] : Object.keys(fields).filter(name => fields[name] !== undefined)
  const count = items?.length ?? names.length
  const some = (from: number, to: number): string => {
    const taken = items?.slice(from, to) ?? Object.fromEntries(names.slice(from, to).map(name => [name, fields[name] as ExactJson]))
    return writer.items(taken, !isPlain && hasExact(taken))
  }
  yield writer.open(items !== undefined, key)
  let from = 0
  for (let at = 0; at < count; at++) {
    const name = names[at]
    const item = (name === undefined ? items?.[at] : fields[name]) as ExactJson
    // What has many items is not looked into: a group of them is no large text, as a rule.
    if (count <= GROUP && isOpened(item, levels - 1, redactor)) {
      if (at > from) yield some(from, at)
      yield* opened(item, levels - 1, opening, name)
      from = at + 1
    } else if (at - from === GROUP) {
      yield some(from, at)
      from = at
    }
  }
  if (count > from) yield some(from, count)
  yield writer.close()
}

type Container = readonly ExactJson[] | ExactObject

const isOpened = (value: ExactJson, levels: number, redactor: Redactor | undefined): value is Container =>
  isLarge(value, levels) && (redactor === undefined || Array.isArray(value) || !hidesKeys(value as ExactObject, redactor))

/** Keys that become one are for the whole object to sort out. */
const hidesKeys = (fields: ExactObject, redactor: Redactor): boolean =>
  Object.keys(redactor.value(Object.fromEntries(Object.keys(fields).map(key => [key, 0])))).some(key => !Object.hasOwn(fields, key))

/** Whether it has many items, or something in it has. */
function isLarge(value: ExactJson, levels: number): boolean {
  if (levels === 0 || value === null || typeof value !== 'object' || 'toJSON' in value) return false
  if (Array.isArray(value)) return value.length > GROUP || value.some(item => isLarge(item, levels - 1))
  let count = 0
  for (const key in value) {
    if (++count > GROUP || isLarge((value as ExactObject)[key] as ExactJson, levels - 1)) return true
  }
  return false
}
