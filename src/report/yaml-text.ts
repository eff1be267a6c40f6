/**
 * YAML is loaded when a result is written in it, and not before: import this file dynamically.
 *
 * The library makes a node of each value, chooses among twenty tags for it and writes it in a context of its own, which takes
 * most of the time of a large result. So lists and objects are laid out here, and a plain text is told by its letters; how any
 * other text or key is written is for the library to say. It would write the whole in the same way,
 * but for what is ambiguous.
 */
import {Document, type ScalarTag} from 'yaml'
import {type ExactJson, ExactNumber, type ExactObject, escapeUnseen} from '../base/lossless-json.ts'
import {withoutCommands} from '../base/runner-commands.ts'

/**
 * Text that is plain here and something else to other readers: the key `<<` puts fields into the object it stands in, `=` is a
 * value of its own, and `0o14` is twelve since YAML 1.2.
 */
const AMBIGUOUS = /^(?:<<|=|[-+]?0o[0-7]+)$/

/** JSON's escapes are YAML's. */
const inQuotes = (text: string): string => escapeUnseen(JSON.stringify(text))

/** A text that would act on a terminal or a runner, on one line in double quotes. */
const unseenText: ScalarTag = {
  identify: value => typeof value === 'string' && (escapeUnseen(value) !== value || withoutCommands(value) !== value),
  default: true,
  tag: 'tag:yaml.org,2002:str',
  resolve: text => text,
  stringify: ({value}) => inQuotes(String(value)),
}

/** Text that other YAML readers might take for a number, a date or a truth value is quoted. */
export const yamlText = (document: ExactJson): string => new YamlText().write(document)

/** On one line, nothing in it that has to be escaped, and nothing that begins a value or a comment: as it is, or in double quotes. */
const EASY = /^[\p{L}\p{N}_/](?:[^\p{C}\u2028\u2029"'\\#: ]|[: ](?![ ]|$))*$/u

/** A pattern that repeats a group over a longer one fails (RangeError): it stands in quotes, as JSON has it. */
const LONGEST_TEXT = 1_000_000
/** A longer key has a line of its own. */
const LONGEST_KEY = 1_000

/** Joined at a time: each text that another one is added to lives on inside of the sum. */
const PARTS = 4_096

/** Texts and keys that are remembered; a list has the same ones in each of its rows. */
const REMEMBERED = 1_000

/** Texts that the library is asked for; each takes twenty microseconds, and any further one is in double quotes. */
const ASKED = 100_000

class YamlText {
  readonly #library = new Document(null, {version: '1.1', customTags: tags => [unseenText, ...tags]})
  /** What YAML takes for something else than a text. */
  readonly #otherwise = new RegExp(
    this.#library.schema.tags.flatMap(it => ('test' in it && it.test !== undefined ? [it.test.source] : [])).join('|'),
  )
  readonly #chunks: string[] = []
  #parts: string[] = []
  readonly #keys = new Map<string, string>()
  readonly #texts = new Map<string, string>()
  #asked = 0

  write(document: ExactJson): string {
    if (typeof document === 'string' && document.length > LONGEST_TEXT) return `${inQuotes(document)}\n`
    if (typeof document === 'string') return AMBIGUOUS.test(document) ? `"${document}"\n` : this.#asLibrary(document)
    this.#item(document, '')
    this.#put('\n')
    return this.#chunks.join('') + this.#parts.join('')
  }

  #put(...parts: readonly string[]): void {
    for (const part of parts) this.#parts.push(part)
    if (this.#parts.length < PARTS) return
    this.#chunks.push(this.#parts.join(''))
    this.#parts = []
  }

  #item(value: ExactJson | undefined, indent: string): void {
    if (!isLaidOut(value)) this.#put(this.#flat(value, indent))
    else if (isList(value)) this.#list(value, indent)
    else this.#fields(value, indent)
  }

  /** The first line goes on where its mark or its key stands. */
  #list(items: readonly ExactJson[], indent: string): void {
    const within = `${indent}  `
    const next = `\n${indent}- `
    for (let at = 0; at < items.length; at++) {
      this.#put(at === 0 ? '- ' : next)
      this.#item(items[at], within)
    }
  }

  #fields(fields: ExactObject, indent: string): void {
    const within = `${indent}  `
    const next = `\n${indent}`
    let isFirst = true
    for (const name of Object.keys(fields)) {
      const item = fields[name]
      if (item === undefined) continue
      const key = this.#key(name, indent)
      this.#put(isFirst ? '' : next, key, isLaidOut(item) && !key.startsWith('? ') ? `:\n${within}` : ': ')
      this.#item(item, within)
      isFirst = false
    }
  }

  #flat(value: ExactJson | undefined, indent: string): string {
    if (typeof value === 'string') return this.#text(value, indent)
    if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
    if (value === null || typeof value !== 'object') return String(value ?? null)
    return value instanceof ExactNumber ? value.toString() : Array.isArray(value) ? '[]' : '{}'
  }

  #easy(text: string): string | undefined {
    if (AMBIGUOUS.test(text)) return `"${text}"`
    if (!EASY.test(text)) return undefined
    return this.#otherwise.test(text) ? `"${text}"` : text
  }

  #text(text: string, indent: string): string {
    if (text.length > LONGEST_TEXT) return inQuotes(text)
    const known = this.#easy(text) ?? this.#texts.get(text)
    if (known !== undefined) return known
    if (++this.#asked > ASKED) return inQuotes(text)
    // `k: …`, a newline at the end.
    const written = this.#asLibrary({k: text}).slice(3, -1)
    if (written.includes('\n')) return written.replaceAll(/\n(?!\n|$)/g, `\n${indent.slice(2)}`)
    if (this.#texts.size < REMEMBERED) this.#texts.set(text, written)
    return written
  }

  /** What stands before the colon: `key`, or `? key` and the beginning of a line. */
  #key(name: string, indent: string): string {
    if (indent === '') return this.#easyKey(name) ?? this.#askedKey(name, () => this.#asLibrary({[name]: 0}).slice(0, -4))
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    // `k:\n  key: 0\n`, or `k:\n  ? key\n  : 0\n`.
    const key = this.#easyKey(name) ?? this.#askedKey(name, () => this.#asLibrary({k: {[name]: 0}}).slice(5, -4))
    if (key.startsWith('? ')) return `${key.trimEnd()}\n${indent}`
    if (this.#keys.size < REMEMBERED) this.#keys.set(name, key)
    return key
  }

  #askedKey(name: string, ask: () => string): string {
    return ++this.#asked > ASKED && name.length <= LONGEST_KEY ? inQuotes(name) : ask()
  }

  #easyKey(name: string): string | undefined {
    return name.length > LONGEST_KEY ? undefined : this.#easy(name)
  }

  #asLibrary(value: string | Readonly<Record<string, string | number | object>>): string {
    this.#library.contents = this.#library.createNode(value)
    return this.#library.toString({lineWidth: 0})
  }
}

type Container = readonly ExactJson[] | ExactObject

const isList = (value: Container): value is readonly ExactJson[] => Array.isArray(value)

function isLaidOut(value: ExactJson | undefined): value is Container {
  if (value === null || typeof value !== 'object' || value instanceof ExactNumber) return false
  if (Array.isArray(value)) return value.length > 0
  for (const name in value) if ((value as ExactObject)[name] !== undefined) return true
  return false
}
