/**
 * What Terraform knows of values beyond JSON: the one type that the items of a list or the two results of a condition
 * are brought to, and which lists are sets.
 */
import {canonicalJson, isJsonObject, type Json, type JsonObject} from '../../../base/json.ts'
import type {Node} from './expression.ts'
import {derive, Open, type OpenValue, opensIn} from './open-value.ts'
import {ArgumentError, asText} from './rule.ts'

type Type =
  | 'any'
  | 'string'
  | 'number'
  | 'bool'
  | {readonly items: readonly Type[]}
  | {readonly list: Type}
  | {readonly fields: Readonly<Record<string, Type>>}
  | {readonly map: Type}

/** Lists that are sets: `for` gives their items as keys, and nothing has a place in them. */
const sets = new WeakSet<object>()
export const isSet = (value: unknown): boolean => typeof value === 'object' && value !== null && sets.has(value)

/** Each value once, in the order Terraform shows them in: numbers by size, everything else by its text. */
export function setOf(items: readonly Json[]): Json {
  const unique = new Map(items.map(item => [canonicalJson(item), item]))
  const set = [...unique]
    .sort(([a, x], [b, y]) => (typeof x === 'number' && typeof y === 'number' ? x - y : a < b ? -1 : 1))
    .map(([, item]) => item)
  sets.add(set)
  return set
}

/** The values brought to the one type they have in common. @throws ArgumentError when there is none */
export function uniform(values: readonly Json[], what: string): readonly Json[] {
  const type = common(values.map(typeOf))
  if (type === undefined) throw new ArgumentError(`${what} have different types`)
  return values.map(value => as(type, value))
}

function typeOf(value: unknown): Type {
  if (value === null) return 'any'
  if (value instanceof Open) return value.value === undefined ? typeOfNode(value.node) : typeOf(value.value)
  if (typeof value === 'string') return 'string'
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'bool'
  if (Array.isArray(value)) return {items: (value as readonly Json[]).map(typeOf)}
  return {fields: Object.fromEntries(Object.entries(value as JsonObject).map(([key, item]) => [key, typeOf(item)]))}
}

/** What is known of the type of a value that is not known yet. */
function typeOfNode(node: Node | undefined): Type {
  if (node?.type === 'template' || (node?.type === 'attribute' && node.attribute === 'id')) return 'string'
  if (node?.type !== 'variable') return 'any'
  const as = node.as ?? 'string'
  return as === 'string' || as === 'number' || as === 'bool' ? as : 'any'
}

/** Functions of which only text comes. */
const OF_TEXT = new Set(
  'base64decode base64encode base64sha256 base64sha512 format join jsonencode lower md5 replace sha1 sha256 sha512 tostring trim trimprefix trimspace trimsuffix upper urlencode'.split(
    ' ',
  ),
)

const isSurelyText = ({node}: Open): boolean => typeOfNode(node) === 'string' || (node?.type === 'call' && OF_TEXT.has(node.name))

/** Whether there is a secret in them of which only its value says what type it has. */
export const holdsHiddenType = (values: readonly OpenValue[]): boolean =>
  opensIn(values).some(open => open.secret && open.value !== undefined && typeOfNode(open.node) === 'any' && !isSurelyText(open))

/** Whether the value is the same whatever type it is brought to: there are only texts in it. */
export function isOfText(value: OpenValue): boolean {
  if (value === null || typeof value === 'string') return true
  if (value instanceof Open) return isSurelyText(value)
  return typeof value === 'object' && Object.values(value).every(isOfText)
}

/** `undefined` when the types have nothing in common. */
function common(types: readonly Type[]): Type | undefined {
  const known = types.filter(type => type !== 'any')
  const [first] = known
  if (first === undefined) return 'any'
  if (known.every(type => typeof type === 'string')) {
    if (known.every(type => type === first)) return first
    return known.includes('string') ? 'string' : undefined
  }
  const lists = known.flatMap(type => (typeof type === 'object' && ('items' in type || 'list' in type) ? [type] : []))
  if (lists.length === known.length) return commonList(lists)
  const maps = known.flatMap(type => (typeof type === 'object' && ('fields' in type || 'map' in type) ? [type] : []))
  return maps.length === known.length ? commonMap(maps) : undefined
}

function commonList(types: readonly ({readonly items: readonly Type[]} | {readonly list: Type})[]): Type | undefined {
  const tuples = types.flatMap(type => ('items' in type ? [type.items] : []))
  const [first] = tuples
  if (first && tuples.length === types.length && tuples.every(items => items.length === first.length)) {
    const items = first.map((_, at) => common(tuples.map(tuple => tuple[at] ?? 'any')))
    return items.every(item => item !== undefined) ? {items} : undefined
  }
  const item = common(types.flatMap(type => ('items' in type ? type.items : [type.list])))
  return item === undefined ? undefined : {list: item}
}

function commonMap(types: readonly ({readonly fields: Readonly<Record<string, Type>>} | {readonly map: Type})[]): Type | undefined {
  const objects = types.flatMap(type => ('fields' in type ? [type.fields] : []))
  const [first = {}] = objects
  const names = Object.keys(first)
  const alike = objects.every(fields => Object.keys(fields).length === names.length && names.every(name => Object.hasOwn(fields, name)))
  if (objects.length === types.length && alike) {
    const fields = names.map(name => [name, common(objects.map(object => object[name] ?? 'any'))] as const)
    return fields.every((field): field is [string, Type] => field[1] !== undefined) ? {fields: Object.fromEntries(fields)} : undefined
  }
  const item = common(types.flatMap(type => ('fields' in type ? Object.values(type.fields) : [type.map])))
  return item === undefined ? undefined : {map: item}
}

function as(type: Type, value: Json): Json {
  if (value === null || type === 'any') return value
  if ((value as unknown) instanceof Open) return openAs(type, value as unknown as Open) as Json
  if (type === 'string') return asText(value, 'the value')
  if (typeof type === 'string') return value
  if (Array.isArray(value)) {
    const items = value as readonly Json[]
    const of = (at: number): Type => ('items' in type ? (type.items[at] ?? 'any') : 'list' in type ? type.list : 'any')
    const converted = items.map((item, at) => as(of(at), item))
    return isSet(value) ? setOf(converted) : converted
  }
  if (!isJsonObject(value)) return value
  const of = (name: string): Type => ('fields' in type ? (type.fields[name] ?? 'any') : 'map' in type ? type.map : 'any')
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, as(of(name), item)]))
}

/** Of open values text alone is brought to a type: there it is always clear what comes of it. */
function openAs(type: Type, value: Open): OpenValue {
  if (type !== 'string' || typeOf(value) === 'string') return value
  const text = ([plain = null]: readonly Json[]): Json => (plain === null ? null : asText(plain, 'the value'))
  return derive([value], text, args => ({type: 'call', name: 'tostring', args, at: 0}), 0)
}
