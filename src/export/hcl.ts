/** Prints HCL as `terraform fmt` has it: attributes of a block aligned, blocks after them, an empty line between. */
import type {Json} from '../base/json.ts'
import {isJsonObject} from '../base/json.ts'
import {addAll, largest} from '../base/many.ts'

/** A reference or another expression, as it is. */
export class Expression {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type HclValue = string | number | boolean | Expression | readonly HclValue[] | {readonly [name: string]: HclValue}

export interface Body {
  readonly attributes: readonly (readonly [name: string, value: HclValue])[]
  readonly blocks?: readonly HclBlock[]
}

export interface HclBlock extends Body {
  readonly type: string
  readonly labels?: readonly string[]
}

export const hclFile = (blocks: readonly HclBlock[]): string => blocks.map(it => `${blockText(it, 0)}\n`).join('\n')

function blockText(block: HclBlock, indent: number): string {
  const head = [block.type, ...(block.labels ?? []).map(hclText)].join(' ')
  const lines = bodyLines(block, indent + 2)
  return lines.length === 0 ? `${head} {}` : `${head} {\n${lines.join('\n')}\n${' '.repeat(indent)}}`
}

function bodyLines({attributes, blocks = []}: Body, indent: number): readonly string[] {
  const space = ' '.repeat(indent)
  const longest = largest([0, ...attributes.map(([name]) => name.length)])
  const lines = attributes.map(([name, value]) => `${space}${name.padEnd(longest)} = ${valueText(value)}`)
  for (const block of blocks) addAll(lines, [...(lines.length > 0 ? [''] : []), `${space}${blockText(block, indent)}`])
  return lines
}

function valueText(value: HclValue): string {
  if (value instanceof Expression) return value.text
  if (typeof value === 'string') return hclText(value)
  if (Array.isArray(value)) return `[${(value as readonly HclValue[]).map(valueText).join(', ')}]`
  if (isJsonObject(value)) {
    const fields = Object.entries(value as {readonly [name: string]: HclValue})
    return fields.length === 0 ? '{}' : `{ ${fields.map(([name, item]) => `${name} = ${valueText(item)}`).join(', ')} }`
  }
  return String(value)
}

const PLAIN = /[\p{L}\p{N}\x20-\x7e]/u
const ESCAPES: Readonly<Record<string, string>> = {'\n': '\\n', '\r': '\\r', '\t': '\\t', '"': '\\"', '\\': '\\\\'}

/** A quoted text in which nothing is a template, and nothing hides, mirrors or combines. */
export function hclText(text: string): string {
  const signs = [...text].map(sign => ESCAPES[sign] ?? (PLAIN.test(sign) ? sign : escaped(sign)))
  return `"${signs.join('').replace(/[$%]\{/g, mark => `${mark[0] ?? ''}${mark}`)}"`
}

function escaped(sign: string): string {
  const hex = (sign.codePointAt(0) ?? 0).toString(16)
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`
}

export const isHclValue = (value: Json | undefined): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
