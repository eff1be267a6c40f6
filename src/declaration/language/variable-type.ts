/** Terraform's type constraints (`map(string)`, `object({a = optional(number)})`), and values brought to them. */
import {isJsonObject, type Json} from '../../base/json.ts'
import {parseExpression} from './expression-parser.ts'
import {decimalIn, formatNumber} from './values/decimal.ts'
import {ExpressionError} from './values/errors.ts'
import {type Node, printExpression} from './values/expression.ts'
import {typeNameOf} from './values/rule.ts'
import {setOf} from './values/value-types.ts'

export type VariableType =
  | {readonly type: 'string'}
  | {readonly type: 'number'}
  | {readonly type: 'bool'}
  | {readonly type: 'any'}
  | {readonly type: 'list' | 'set' | 'map'; readonly of: VariableType}
  | {readonly type: 'tuple'; readonly items: readonly VariableType[]}
  | {readonly type: 'object'; readonly fields: Readonly<Record<string, {readonly of: VariableType; readonly optional: boolean}>>}

/** A value that cannot be brought to a type. Never quotes the value, which may be secret. */
export class TypeMismatch extends TypeError {}

/** @throws ExpressionError for what is no type */
export const parseType = (text: string): VariableType => typeFrom(parseExpression(text.replace(/^\$\{([\s\S]*)\}$/, '$1')))

const PRIMITIVES = ['string', 'number', 'bool', 'any'] as const
const COLLECTIONS = ['list', 'set', 'map'] as const

/** @throws ExpressionError */
export function typeFrom(node: Node): VariableType {
  if (node.type === 'root') {
    const primitive = PRIMITIVES.find(it => it === node.name)
    if (primitive) return {type: primitive}
    const collection = COLLECTIONS.find(it => it === node.name)
    if (collection) return {type: collection, of: {type: 'any'}}
  }
  if (node.type === 'call') {
    const [arg] = node.args
    const collection = COLLECTIONS.find(it => it === node.name)
    if (collection && arg) return {type: collection, of: typeFrom(arg)}
    if (node.name === 'tuple' && arg?.type === 'tuple') return {type: 'tuple', items: arg.items.map(typeFrom)}
    if (node.name === 'object' && arg?.type === 'object') return {type: 'object', fields: Object.fromEntries(arg.entries.map(fieldFrom))}
  }
  throw new ExpressionError(
    `${printExpression(node, '')} is not a type`,
    'at' in node ? node.at : 0,
    'Types are string, number, bool, any, list(…), set(…), map(…), tuple([…]) and object({…}).',
  )
}

function fieldFrom([key, value]: readonly [Node, Node]) {
  const name = key.type === 'literal' ? String(key.value) : ''
  if (value.type !== 'call' || value.name !== 'optional') return [name, {of: typeFrom(value), optional: false}] as const
  const [of, fallback] = value.args
  if (fallback !== undefined) {
    throw new ExpressionError(
      'svcctl does not evaluate a default inside optional()',
      value.at,
      'Give the whole variable a default instead.',
    )
  }
  return [name, {of: typeFrom(of ?? {type: 'root', name: 'any', at: value.at}), optional: true}] as const
}

export const isText = (type: VariableType): boolean => type.type === 'string' || type.type === 'number' || type.type === 'bool'

/** Terraform's spelling of the type. */
export function formatType(type: VariableType): string {
  switch (type.type) {
    case 'list':
    case 'set':
    case 'map':
      return `${type.type}(${formatType(type.of)})`
    case 'tuple':
      return `tuple([${type.items.map(formatType).join(', ')}])`
    case 'object': {
      const fields = Object.entries(type.fields).map(
        ([name, {of, optional}]) => `${name} = ${optional ? `optional(${formatType(of)})` : formatType(of)}`,
      )
      return `object({${fields.join(', ')}})`
    }
    default:
      return type.type
  }
}

/**
 * The value as the type wants it: `"2"` is the number 2 and 2 the text `"2"`, as in Terraform.
 * @throws TypeMismatch
 */
export function convert(value: Json, type: VariableType, where = 'the value'): Json {
  if (value === null) return value
  switch (type.type) {
    case 'any':
      return value
    case 'string':
      if (typeof value === 'string') return value
      if (typeof value === 'number') return formatNumber(value)
      if (typeof value === 'boolean') return String(value)
      break
    case 'number': {
      const number = typeof value === 'string' ? decimalIn(value) : value
      if (typeof number === 'number') return number
      break
    }
    case 'bool':
      if (typeof value === 'boolean') return value
      if (value === 'true' || value === 'false') return value === 'true'
      break
    case 'list':
    case 'set':
      if (Array.isArray(value)) {
        const items = (value as readonly Json[]).map((item, at) => convert(item, type.of, `${where}[${at}]`))
        return type.type === 'set' ? setOf(items) : items
      }
      break
    case 'tuple':
      if (Array.isArray(value) && value.length === type.items.length) {
        return type.items.map((of, at) => convert((value as readonly Json[])[at] ?? null, of, `${where}[${at}]`))
      }
      break
    case 'map':
      if (isJsonObject(value)) {
        return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, convert(item, type.of, `${where}.${key}`)]))
      }
      break
    case 'object':
      if (isJsonObject(value)) return convertFields(value, type.fields, where)
      break
    default:
      return type satisfies never
  }
  throw new TypeMismatch(`${where} must be ${formatType(type)}, and it is ${typeNameOf(value)}`)
}

function convertFields(value: {readonly [key: string]: Json}, fields: (VariableType & {type: 'object'})['fields'], where: string): Json {
  const converted: Record<string, Json> = {}
  for (const [name, {of, optional}] of Object.entries(fields)) {
    const item = Object.hasOwn(value, name) ? value[name] : undefined
    if (item === undefined && !optional) throw new TypeMismatch(`${where} needs the attribute ${name}`)
    converted[name] = item === undefined ? null : convert(item, of, `${where}.${name}`)
  }
  return converted
}
