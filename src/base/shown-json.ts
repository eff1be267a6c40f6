/**
 * A large JSON text as it is shown, indented and without its secrets, made of the text a part at a time: the document is
 * never there as a whole. The same text comes of parsing, masking, redacting and writing the whole, and that is the way of
 * what is small or unusual.
 */
import {type ExactObject, type JsonPart, jsonParts} from './json-parts.ts'
import {type ExactJson, escapeUnseen, stringifyExactJson} from './lossless-json.ts'
import type {Redactor} from './redact.ts'
import {isSecretName, maskSecrets} from './secret-fields.ts'

export interface ShowOptions {
  readonly redactor: Redactor
  /** Of the parts. */
  readonly stretchBytes?: number
}

/**
 * @param bytes - of JSON text
 * @returns two spaces a level and a newline at the end, or `undefined` when it has to be taken as a whole
 */
export function showJson(bytes: Uint8Array, {redactor, stretchBytes}: ShowOptions): readonly Uint8Array[] | undefined {
  const parts = jsonParts(bytes, stretchBytes)
  if (parts === undefined) return undefined
  const writer = new PartWriter(redactor)
  try {
    for (const part of parts) if (!writer.write(part)) return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  return writer.end()
}

interface Opened {
  readonly list: boolean
  readonly secret: boolean
  /** In an object: those that stand there already. */
  readonly keys: Set<string>
  isEmpty: boolean
}

class PartWriter {
  readonly #redactor: Redactor
  readonly #written: Uint8Array[] = []
  readonly #opened: Opened[] = []

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** @returns whether what it writes is what would be written of the whole */
  write(part: JsonPart): boolean {
    if (part.is === 'items') return this.#items(part.items, part.exact)
    if (part.is === 'open') return this.#open(part)
    const ended = this.#opened.pop()
    if (ended === undefined) return false
    this.#put(`${ended.isEmpty ? '' : this.#line()}${ended.list ? ']' : '}'}`)
    return true
  }

  end(): readonly Uint8Array[] {
    this.#put('\n')
    return this.#written
  }

  #open({list, key}: Extract<JsonPart, {is: 'open'}>): boolean {
    const within = this.#opened.at(-1)
    if (key !== undefined && !this.#isNext(within, key)) return false
    const secret = within?.secret === true || (key !== undefined && isSecretName(key))
    const name = key === undefined ? '' : `${stringifyExactJson(key)}: `
    this.#put(`${within === undefined ? '' : this.#comma(within) + this.#line()}${name}${list ? '[' : '{'}`)
    this.#opened.push({list, secret, keys: new Set(), isEmpty: true})
    return true
  }

  #items(items: readonly ExactJson[] | ExactObject, exact: boolean): boolean {
    const within = this.#opened.at(-1)
    if (within === undefined) return false
    if (!within.list) for (const key of Object.keys(items)) if (!this.#isNext(within, key)) return false
    const masked = maskSecrets(items, within.secret)
    this.#put(this.#comma(within), this.#text(masked, exact))
    return true
  }

  /** Where a key stands twice, or is a whole number, the order of all of them is not that of the parts. */
  #isNext(within: Opened | undefined, key: string): boolean {
    if (within === undefined || within.keys.has(key) || /^(0|[1-9]\d*)$/.test(key)) return false
    within.keys.add(key)
    return Object.keys(this.#redactor.value({[key]: 0}))[0] === key
  }

  /** Items, each on lines of its own from the break before the first to the end of the last. */
  #text(items: ExactJson, exact: boolean): string {
    const level = this.#opened.length
    const text = this.#placed(items, exact)
    const shown = exact || this.#redactor.mayHideIn(text) ? this.#redactor.value(items) : items
    return escapeUnseen(shown === items ? text : this.#placed(shown, exact)).slice(level * level + level - 1, -level * (level + 1))
  }

  /** As many lists around the items as there are levels above give them their place, and are cut off again. */
  #placed(items: ExactJson, exact: boolean): string {
    let placed = items
    for (let above = 1; above < this.#opened.length; above++) placed = [placed]
    return exact ? stringifyExactJson(placed, 2) : JSON.stringify(placed, null, 2)
  }

  #comma(within: Opened): string {
    const comma = within.isEmpty ? '' : ','
    within.isEmpty = false
    return comma
  }

  #line(): string {
    return `\n${'  '.repeat(this.#opened.length)}`
  }

  #put(before: string, text = ''): void {
    const bytes = Buffer.allocUnsafe(Buffer.byteLength(before) + Buffer.byteLength(text))
    bytes.write(text, bytes.write(before))
    this.#written.push(bytes)
  }
}
