/**
 * A large JSON text as it is shown, indented and without its secrets, made of the text a part at a time: the document is
 * never there as a whole. The same text comes of parsing, masking, redacting and writing the whole, and that is the way of
 * what is small or unusual.
 */
import {IndentedJson} from './indented-json.ts'
import {type JsonPart, jsonParts} from './json-parts.ts'
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
  const written: Uint8Array[] = []
  try {
    for (const part of parts) {
      const text = writer.write(part)
      if (text === undefined) return undefined
      written.push(Buffer.from(text))
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  return written
}

interface Opened {
  readonly secret: boolean
  /** In an object: those that stand there already. */
  readonly keys: Set<string> | undefined
}

class PartWriter {
  readonly #redactor: Redactor
  readonly #text: IndentedJson
  readonly #opened: Opened[] = []

  constructor(redactor: Redactor) {
    this.#redactor = redactor
    this.#text = new IndentedJson(redactor)
  }

  /** @returns `undefined` when the whole would be written otherwise than its parts */
  write(part: JsonPart): string | undefined {
    const within = this.#opened.at(-1)
    if (part.is === 'close') {
      this.#opened.pop()
      return this.#text.close()
    }
    if (part.is === 'items') {
      if (within?.keys !== undefined && !Object.keys(part.items).every(key => this.#isNext(within.keys, key))) return undefined
      return this.#text.items(maskSecrets(part.items, within?.secret), part.exact)
    }
    const {list, key} = part
    if (key !== undefined && !this.#isNext(within?.keys, key)) return undefined
    const secret = within?.secret === true || (key !== undefined && isSecretName(key))
    this.#opened.push({secret, keys: list ? undefined : new Set()})
    return this.#text.open(list, key)
  }

  /** Where a key stands twice, or is a whole number, the order of all of them is not that of the parts. */
  #isNext(keys: Set<string> | undefined, key: string): boolean {
    if (keys === undefined || keys.has(key) || /^(0|[1-9]\d*)$/.test(key)) return false
    keys.add(key)
    return Object.keys(this.#redactor.value({[key]: 0}))[0] === key
  }
}
