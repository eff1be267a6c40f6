/** Terraform's functions as far as svcctl evaluates them, over plain JSON. */
import {canonicalJson, isJsonObject, type Json} from '../base/json.ts'
import {formatNumber} from './expression.ts'

/** Arguments that a function cannot take; the words follow the function's name. */
export class ArgumentError extends TypeError {}

export type PlainFunction = (...args: readonly Json[]) => Json

/** A primitive as text, as in a template or `join`. */
export function asText(value: Json | undefined, where: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return formatNumber(value)
  if (typeof value === 'boolean') return String(value)
  throw new ArgumentError(`${where} must be text, and it is ${nameOf(value)}`)
}

export function nameOf(value: Json | undefined): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return {string: 'text', number: 'a number', boolean: 'true or false'}[typeof value as 'string' | 'number' | 'boolean']
}

const list = (value: Json | undefined, where: string): readonly Json[] => {
  if (Array.isArray(value)) return value as readonly Json[]
  throw new ArgumentError(`${where} must be a list, and it is ${nameOf(value)}`)
}

const map = (value: Json | undefined, where: string) => {
  if (isJsonObject(value)) return value
  throw new ArgumentError(`${where} must be a map, and it is ${nameOf(value)}`)
}

/** Terraform's jsonencode: sorted keys, numbers without exponent, and `<`, `>`, `&` escaped. */
function jsonEncode(value: Json | undefined): string {
  if (typeof value === 'number') return formatNumber(value)
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(jsonEncode).join(',')}]`
  if (isJsonObject(value)) {
    const fields = Object.keys(value).sort()
    return `{${fields.map(key => `${jsonEncode(key)}:${jsonEncode(value[key])}`).join(',')}}`
  }
  return JSON.stringify(value ?? null).replace(/[<>&\u2028\u2029]/g, mark => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Letter by letter, as Terraform does it: `ß` stays. */
const eachLetter = (text: string, change: (letter: string) => string): string =>
  Array.from(text, letter => {
    const changed = change(letter)
    return Array.from(changed).length === 1 ? changed : letter
  }).join('')

/** Each value once. Terraform's sets have no order of their own; text is sorted, as its `for_each` does. */
function toSet(value: Json | undefined): Json {
  const unique = new Map(list(value, 'the argument').map(item => [canonicalJson(item), item]))
  return [...unique.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item)
}

export interface FunctionRule {
  readonly min: number
  readonly max: number
  /** Hands items through without looking into them, so that they may be open. */
  readonly structural?: true
  readonly call: PlainFunction
}

export const FUNCTIONS: Readonly<Record<string, FunctionRule>> = {
  jsonencode: {min: 1, max: 1, call: jsonEncode},
  join: {
    min: 1,
    max: Number.POSITIVE_INFINITY,
    call: (separator, ...lists) =>
      lists
        .flatMap(it => list(it, 'an argument after the first'))
        .map(item => asText(item, 'an item'))
        .join(asText(separator, 'the separator')),
  },
  lookup: {
    min: 2,
    max: 3,
    structural: true,
    call: (from, key, fallback) => {
      const fields = map(from, 'the first argument')
      const name = asText(key, 'the key')
      const found = Object.hasOwn(fields, name) ? fields[name] : fallback
      if (found === undefined) throw new ArgumentError(`the map has no key ${JSON.stringify(name)}, and no default is given`)
      return found
    },
  },
  element: {
    min: 2,
    max: 2,
    structural: true,
    call: (from, index) => {
      const items = list(from, 'the first argument')
      const at = Number(index)
      if (!Number.isInteger(at) || at < 0) throw new ArgumentError('the index must be a whole number from 0 up')
      if (items.length === 0) throw new ArgumentError('the list is empty')
      return items[at % items.length] ?? null
    },
  },
  keys: {min: 1, max: 1, structural: true, call: from => Object.keys(map(from, 'the argument')).sort()},
  values: {
    min: 1,
    max: 1,
    structural: true,
    call: from => {
      const fields = map(from, 'the argument')
      return Object.keys(fields)
        .sort()
        .map(key => fields[key] ?? null)
    },
  },
  toset: {min: 1, max: 1, call: toSet},
  tolist: {min: 1, max: 1, structural: true, call: value => list(value, 'the argument')},
  upper: {min: 1, max: 1, call: text => eachLetter(asText(text, 'the argument'), it => it.toUpperCase())},
  lower: {min: 1, max: 1, call: text => eachLetter(asText(text, 'the argument'), it => it.toLowerCase())},
}
