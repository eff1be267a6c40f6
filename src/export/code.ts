/**
 * Prints TypeScript as prettier would (`semi: false, singleQuote, bracketSpacing: false, printWidth: 100`), for the few
 * shapes that exported code has. Formatting it by prettier itself would bring ten megabytes into the program.
 */
import {isJsonObject, type Json} from '../base/json.ts'

export type Code =
  /** As it is. */
  | {readonly raw: string}
  | {readonly fields: readonly Field[]}
  | {readonly items: readonly Code[]}
  | {readonly call: string; readonly arguments: readonly Code[]}

export type Field =
  | {readonly key: string; readonly value: Code}
  /** `subscription`, `...own` */
  | {readonly short: string}
  /** A call with `...` before it. */
  | {readonly spread: Code}

export const WIDTH = 100

export const raw = (text: string): Code => ({raw: text})

/** A value as code. */
export function literalCode(value: Json): Code {
  if (typeof value === 'string') return raw(quoted(value))
  if (Array.isArray(value)) return {items: (value as readonly Json[]).map(literalCode)}
  if (isJsonObject(value)) return {fields: Object.entries(value).map(([key, item]) => ({key, value: literalCode(item)}))}
  return raw(typeof value === 'number' ? numeral(value) : String(value))
}

/** Letters, digits and the signs of the keyboard stand as they are: nothing that hides, mirrors or combines. */
export const PLAIN = /[\x20-\x7e]|(?=[\u{a0}-\u{ffff}\u{20000}-\u{3fffd}])[\p{L}\p{N}]/u

/** Text in the quotes that need fewer escapes, single ones where both need as many. */
export function quoted(text: string, plain = PLAIN): string {
  const count = (quote: string) => text.split(quote).length
  const quote = count("'") > count('"') ? '"' : "'"
  let out = ''
  for (const sign of text) out += sign === quote || sign === '\\' ? `\\${sign}` : plain.test(sign) ? sign : escaped(sign)
  return `${quote}${out}${quote}`
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {'\n': '\\n', '\r': '\\r', '\t': '\\t'}

function escaped(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  return SHORT_ESCAPES[sign] ?? (code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`)
}

/** `1e+21` is written `1e21`. */
const numeral = (value: number): string => String(value).replace('e+', 'e')

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** No letter of another script: prettier would take some quotes away, and leave others. */
const PLAIN_KEY = /[\x20-\x7e]/

const keyText = (key: string): string => (IDENTIFIER.test(key) ? key : quoted(key, PLAIN_KEY))

/** How many columns a text takes: letters of East Asian scripts take two. */
export function columnsOf(text: string): number {
  let width = 0
  for (const sign of text) width += WIDE.test(sign) ? 2 : 1
  return width
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1aff0}-\u{1b2fb}\u{20000}-\u{3fffd}]/u

/** In one line; `undefined` where prettier never puts it into one. */
function flat(code: Code): string | undefined {
  if ('raw' in code) return code.raw
  if ('fields' in code) return joined(code.fields.map(flatField), '{', '}')
  if ('items' in code) return isTable(code.items) ? undefined : joined(code.items.map(flat), '[', ']')
  return joined(code.arguments.map(flat), `${code.call}(`, ')')
}

const flatField = (field: Field): string | undefined => {
  if ('short' in field) return field.short
  if ('spread' in field) return flat(field.spread)
  const value = flat(field.value)
  return value === undefined ? undefined : `${keyText(field.key)}: ${value}`
}

function joined(parts: readonly (string | undefined)[], open: string, close: string): string | undefined {
  return parts.every(it => it !== undefined) ? `${open}${parts.join(', ')}${close}` : undefined
}

/** Lists of objects (or of lists) of more than one part each stand one a line. */
function isTable(items: readonly Code[]): boolean {
  const sizes = items.map(it => ('fields' in it ? it.fields.length : 'items' in it ? -it.items.length : 0))
  return items.length > 1 && (sizes.every(it => it > 1) || sizes.every(it => it < -1))
}

const isNumeral = (code: Code): boolean => 'raw' in code && /^[-+]?\d/.test(code.raw)

/**
 * @param indent - columns in front of the lines after the first
 * @param before - columns that are taken in the first line, its indent included
 * @param after - what follows in the last line
 */
export function printed(code: Code, indent: number, before = indent, after = ''): string {
  const line = flat(code)
  if (line !== undefined && before + columnsOf(line + after) <= WIDTH) return line
  if ('raw' in code) return code.raw
  if ('fields' in code)
    return block(
      code.fields.map(it => printedField(it, indent + 2)),
      indent,
      '{',
      '}',
    )
  if ('items' in code) return code.items.length > 1 && code.items.every(isNumeral) ? filled(code.items, indent) : list(code.items, indent)
  return printedCall(code, indent, before)
}

function printedField(field: Field, indent: number): string {
  if ('short' in field) return field.short
  if ('spread' in field) return printed(field.spread, indent, indent, ',')
  const key = `${keyText(field.key)}: `
  const value = printed(field.value, indent, indent + columnsOf(key), ',')
  // What cannot be broken and does not fit stands in a line of its own, unless that gains next to nothing.
  const tooLong = 'raw' in field.value && movesOn(value) && indent + columnsOf(`${key}${value},`) > WIDTH && columnsOf(key) > SHORT_KEY
  return tooLong ? `${key.trimEnd()}\n${' '.repeat(indent + 2)}${value}` : key + value
}

/** Numbers, switches and templates stay beside their key, whatever comes of it. */
const movesOn = (value: string): boolean => !/^(\d|true$|false$|`)/.test(value)

/** With its colon and its space. */
const SHORT_KEY = 6

const list = (items: readonly Code[], indent: number): string =>
  block(
    items.map(it => printed(it, indent + 2, indent + 2, ',')),
    indent,
    '[',
    ']',
  )

function block(parts: readonly string[], indent: number, open: string, close: string): string {
  if (parts.length === 0) return open + close
  const [inner, outer] = [' '.repeat(indent + 2), ' '.repeat(indent)]
  return `${open}\n${parts.map(it => `${inner}${it},\n`).join('')}${outer}${close}`
}

/** Numbers fill their lines. */
function filled(items: readonly Code[], indent: number): string {
  const lines: string[] = []
  for (const item of items) {
    const text = `${flat(item) ?? ''},`
    const last = lines.at(-1)
    if (last !== undefined && indent + 2 + columnsOf(`${last} ${text}`) <= WIDTH) lines[lines.length - 1] = `${last} ${text}`
    else lines.push(text)
  }
  return `[\n${lines.map(it => `${' '.repeat(indent + 2)}${it}\n`).join('')}${' '.repeat(indent)}]`
}

/** The last argument is opened where what stands before it fits into the line; else each stands in its own. */
function printedCall({call, arguments: all}: Extract<Code, {call: string}>, indent: number, before: number): string {
  const last = all.at(-1)
  const first = all.slice(0, -1).map(it => flat(it) ?? '')
  if (last !== undefined && 'fields' in last && last.fields.length > 0) {
    const head = `${call}(${first.map(it => `${it}, `).join('')}`
    if (before + columnsOf(`${head}{`) <= WIDTH) return `${head}${opened(last, indent)})`
  }
  return `${call}(${block(
    all.map(it => printed(it, indent + 2, indent + 2, ',')),
    indent,
    '',
    '',
  ).replace(/^\n/, '\n')})`
}

const opened = (code: Extract<Code, {fields: readonly Field[]}>, indent: number): string =>
  block(
    code.fields.map(it => printedField(it, indent + 2)),
    indent,
    '{',
    '}',
  )
