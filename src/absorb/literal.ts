/** Literals in code: what they say, and the same place saying something else in the same style. */

import {AppError} from '../base/errors.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {parseSizeBytes, type SizeUnit} from '../base/units.ts'
import {child, children, keyNameOf, type Program, type SyntaxNode, sourceText, unwrapped, writtenText} from './syntax.ts'

/** The value of a literal, or of a list or an object of literals; undefined when any part of it is something else. */
export function writtenValue(written: SyntaxNode | undefined): Json | undefined {
  const node = unwrapped(written)
  switch (node?.type) {
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return node.fields.value as number | boolean
    case 'NullLiteral':
      return null
    case 'UnaryExpression': {
      const value = node.fields.operator === '-' ? writtenValue(child(node, 'argument')) : undefined
      return typeof value === 'number' ? -value : undefined
    }
    case 'StringLiteral':
    case 'TemplateLiteral':
      return writtenText(node)
    case 'ArrayExpression': {
      const items = children(node, 'elements').map(writtenValue)
      return items.every(it => it !== undefined) ? items : undefined
    }
    case 'ObjectExpression': {
      const fields: Record<string, Json> = {}
      for (const property of children(node, 'properties')) {
        const key = property?.type === 'ObjectProperty' && property.fields.shorthand !== true ? keyNameOf(property) : undefined
        const value = property && key !== undefined ? writtenValue(child(property, 'value')) : undefined
        if (key === undefined || value === undefined) return undefined
        fields[key] = value
      }
      return fields
    }
    default:
      return undefined
  }
}

/** Whether a literal stands for a declared value: a size may be written as text. */
export function says(written: Json, declared: Json | undefined): boolean {
  if (typeof written === 'string' && typeof declared === 'number') return sizeOf(written) === declared
  if (Array.isArray(written) && Array.isArray(declared)) {
    return written.length === declared.length && written.every((it, i) => says(it, (declared as readonly Json[])[i]))
  }
  if (isJsonObject(written) && isJsonObject(declared)) {
    const keys = Object.keys(written)
    return (
      keys.length === Object.keys(declared).length &&
      keys.every(it => Object.hasOwn(declared, it) && says(written[it] ?? null, declared[it]))
    )
  }
  return written === declared
}

function sizeOf(text: string): number | undefined {
  try {
    return parseSizeBytes(text)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** The style that a file writes in where nothing stands yet. */
export interface Style {
  readonly quote: "'" | '"'
  /** `{a: 1}` or `{ a: 1 }` */
  readonly padding: '' | ' '
}

/** @param fallback - where the text does not tell */
export function styleOf(text: string, fallback: Style = {quote: "'", padding: ''}): Style {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  const [single, double] = [count(/'/g), count(/"/g)]
  const [narrow, wide] = [count(/\{[^\s}]/g), count(/\{ \S/g)]
  return {
    quote: single === double ? fallback.quote : double > single ? '"' : "'",
    padding: narrow === wide ? fallback.padding : wide > narrow ? ' ' : '',
  }
}

/** The text of a value where another literal stood. @param former - what stood there; absent: nothing did */
export function literalText(program: Program, value: Json, former: SyntaxNode | undefined, style: Style): string {
  const node = unwrapped(former)
  const was = node && sourceText(program, node)
  if (typeof value === 'number' && was !== undefined) return numberText(value, was, node?.type)
  if (typeof value === 'string') return quoted(value, was?.[0] === '"' || was?.[0] === "'" || was?.[0] === '`' ? was[0] : style.quote)
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(it => literalText(program, it, undefined, style)).join(', ')}]`
  return isJsonObject(value) ? objectText(program, value, style) : String(value)
}

function objectText(program: Program, value: JsonObject, style: Style): string {
  const fields = Object.entries(value).map(([key, item]) => {
    const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key, style.quote)
    return `${name}: ${literalText(program, item, undefined, style)}`
  })
  return fields.length === 0 ? '{}' : `{${style.padding}${fields.join(', ')}${style.padding}}`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
}

/** Whatever does not stand for itself everywhere is escaped: quotes, controls, line ends that only look like none. */
function quoted(text: string, quote: string): string {
  const inside = text.replace(/[\\\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]|['"`]|\$\{/gu, it => {
    if (it === '${') return quote === '`' ? '\\${' : it
    if (it === "'" || it === '"' || it === '`') return it === quote ? `\\${it}` : it
    return ESCAPES[it] ?? [...it].map(char => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`).join('')
  })
  return quote + inside + quote
}

function numberText(value: number, was: string, type: string | undefined): string {
  if (type === 'StringLiteral' || type === 'TemplateLiteral') return sizeText(value, was)
  if (/^0x/i.test(was) && Number.isSafeInteger(value) && value >= 0) return `${was.slice(0, 2)}${value.toString(16)}`
  const text = String(value)
  return was.includes('_') && /^-?\d+(\.\d+)?$/.test(text) ? grouped(text) : text
}

/** `104857600` as `104_857_600`. */
function grouped(text: string): string {
  const [whole = '', rest] = text.split('.')
  return whole.replace(/\B(?=(\d{3})+$)/g, '_') + (rest === undefined ? '' : `.${rest}`)
}

/** Units a size is written in when the former one does not hold it, the greatest first. */
const BINARY: readonly SizeUnit[] = ['TiB', 'GiB', 'MiB', 'KiB', 'B']
const DECIMAL: readonly SizeUnit[] = ['TB', 'GB', 'MB', 'kB', 'B']
/** Decimals people write of a size. */
const DECIMALS = 3

/** `'6GiB'` as `'8GiB'`, or in the unit in which the number is a short one. */
function sizeText(bytes: number, was: string): string {
  const [, space = '', unit = ''] = /^.\s*[\d.]+(\s*)([A-Za-z]+)\s*.$/.exec(was) ?? []
  const quote = was[0] ?? "'"
  for (const it of [unit as SizeUnit, ...(unit.includes('i') ? BINARY : DECIMAL)]) {
    const one = sizeOf(`1${it}`)
    const amount = one === undefined ? Number.NaN : bytes / one
    const isShort = Number(amount.toFixed(DECIMALS)) === amount && (it === 'B' || amount >= 1 || it === unit)
    if (isShort && sizeOf(`${amount}${it}`) === bytes) return `${quote}${amount}${space}${it}${quote}`
  }
  return String(bytes)
}
