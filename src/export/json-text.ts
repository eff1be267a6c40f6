/** Prints JSON as prettier would (`bracketSpacing: false, printWidth: 100`), one field of the outermost object a line. */
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {columnsOf, PLAIN, WIDTH} from './code.ts'

/** Everything after the brace that opens the object and the end of its line. */
export function jsonFields(document: JsonObject): string {
  const entries = Object.entries(document)
  const lines = entries.map(([key, value], at) => `  ${field(key, value, 2, at === entries.length - 1)}`)
  return `${lines.join(',\n')}\n}\n`
}

const text = (value: string): string => {
  const quoted = JSON.stringify(value)
  return [...quoted]
    .map(sign => (PLAIN.test(sign) ? sign : sign.replace(/./gs, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)))
    .join('')
}

const leaf = (value: Json): string => (typeof value === 'string' ? text(value) : JSON.stringify(value).replace('e+', 'e'))

/** In one line; `undefined` where it never stands in one. */
function flat(value: Json): string | undefined {
  if (Array.isArray(value)) return isTable(value as readonly Json[]) ? undefined : joined((value as readonly Json[]).map(flat), '[', ']')
  if (!isJsonObject(value)) return leaf(value)
  return joined(
    Object.entries(value).map(([key, item]) => {
      const inner = flat(item)
      return inner === undefined ? undefined : `${text(key)}: ${inner}`
    }),
    '{',
    '}',
  )
}

const joined = (parts: readonly (string | undefined)[], open: string, close: string): string | undefined =>
  parts.every(it => it !== undefined) ? `${open}${parts.join(', ')}${close}` : undefined

function isTable(items: readonly Json[]): boolean {
  const sizes = items.map(it => (Array.isArray(it) ? -it.length : isJsonObject(it) ? Object.keys(it).length : 0))
  return items.length > 1 && (sizes.every(it => it > 1) || sizes.every(it => it < -1))
}

const field = (key: string, value: Json, indent: number, isLast: boolean): string => {
  const head = `${text(key)}: `
  return head + printed(value, indent, indent + columnsOf(head), isLast)
}

const comma = (isLast: boolean): number => (isLast ? 0 : 1)

function printed(value: Json, indent: number, before: number, isLast: boolean): string {
  const line = flat(value)
  if (line !== undefined && before + columnsOf(line) + comma(isLast) <= WIDTH) return line
  if (Array.isArray(value)) {
    const items = value as readonly Json[]
    if (items.length > 1 && items.every(it => typeof it === 'number')) return filled(items, indent)
    return block(
      items.map((it, at) => printed(it, indent + 2, indent + 2, at === items.length - 1)),
      indent,
      '[',
      ']',
    )
  }
  if (!isJsonObject(value)) return leaf(value)
  const entries = Object.entries(value)
  return block(
    entries.map(([key, item], at) => field(key, item, indent + 2, at === entries.length - 1)),
    indent,
    '{',
    '}',
  )
}

const block = (parts: readonly string[], indent: number, open: string, close: string): string =>
  parts.length === 0 ? open + close : `${open}\n${parts.map(it => ' '.repeat(indent + 2) + it).join(',\n')}\n${' '.repeat(indent)}${close}`

/** Numbers fill their lines. */
function filled(items: readonly Json[], indent: number): string {
  const lines: string[] = []
  for (const [at, item] of items.entries()) {
    const word = `${leaf(item)}${at === items.length - 1 ? '' : ','}`
    const last = lines.at(-1)
    if (last !== undefined && indent + 2 + columnsOf(`${last} ${word}`) <= WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return `[\n${lines.map(it => ' '.repeat(indent + 2) + it).join('\n')}\n${' '.repeat(indent)}]`
}
