/**
 * `for` expressions and splats. Where what is gone through is known, each item is evaluated by itself and may stay open
 * by itself. Where it is not, or where a secret decides which items there are, the whole result is open, and what is left
 * of the expression is the same one with the names of its items made new (`item0`): a stack's own could hide `var`.
 */
import {isJsonObject, type Json} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import {type Meaning, type Names, Namespace, withNames} from './names.ts'
import {ExpressionError, ExpressionValueError} from './values/errors.ts'
import type {ForNode, Node} from './values/expression.ts'
import {sized} from './values/expression-limits.ts'
import {nodeOf, Open, type OpenValue, openFrom, opensIn, revealed} from './values/open-value.ts'
import {typeNameOf} from './values/rule.ts'
import {useSecret} from './values/uses-of-secrets.ts'
import {isSet} from './values/value-types.ts'

export interface Evaluation {
  value(node: Node, names: Names): OpenValue
  meaning(node: Node, names: Names): Meaning
}

interface Item {
  readonly key: OpenValue
  readonly item: Meaning
}

/** A condition or a key that is open: which items there are is not known, or not to be shown. */
const UNDECIDED = Symbol('which items there are is open')

export function evaluateFor(node: ForNode, names: Names, evaluation: Evaluation): OpenValue {
  const source = evaluation.meaning(node.in, names)
  if (!(source instanceof Open)) {
    const result = gathered(node, itemsOf(source, node), names, evaluation, plainOnly)
    if (result !== UNDECIDED) return sized(result, node.at)
  }
  if (source instanceof Namespace) {
    throw new ExpressionError(
      `which of the instances of ${source.what} are taken must be known, and not secret, when the plan is made`,
      node.at,
    )
  }
  return openFor(node, source, names, evaluation)
}

function itemsOf(source: Meaning, {splat, at}: ForNode): readonly Item[] {
  if (source instanceof Namespace) {
    const {members} = source
    if (members === undefined) return splat ? [{key: 0, item: source}] : [{key: null, item: source.whole(at)}]
    if (splat && members.type === 'map') {
      throw new ExpressionError(`${source.what} has keys, and a splat goes through lists`, at, `Write values(${source.what})[*].`)
    }
    return [...members.items].map(([key, item]) => ({key, item}))
  }
  if (Array.isArray(source)) {
    const items = source as readonly OpenValue[]
    return items.map((item, index) => ({key: isSet(source) ? item : index, item}))
  }
  if (splat) return source === null ? [] : [{key: 0, item: source}]
  if (isJsonObject(source)) {
    const fields = source as {readonly [key: string]: OpenValue}
    return Object.keys(fields)
      .sort()
      .map(key => ({key, item: fields[key] ?? null}))
  }
  throw new ExpressionValueError(`a "for" goes through a list or a map, and there is ${typeNameOf(source as Json)}`, at)
}

/** What decides which items there are. */
type Read = (value: OpenValue) => Json | typeof UNDECIDED

const plainOnly: Read = value => (opensIn(value).length > 0 ? UNDECIDED : (value as Json))
/** @param used - is given what was open in it */
const known =
  (used: Open[]): Read =>
  value => {
    const opens = opensIn(value)
    if (opens.some(open => open.value === undefined)) return UNDECIDED
    if (opens.some(open => open.secret)) useSecret()
    addAll(used, opens)
    return revealed(value)
  }

function gathered(node: ForNode, items: readonly Item[], names: Names, {value}: Evaluation, read: Read): OpenValue | typeof UNDECIDED {
  const list: OpenValue[] = []
  const fields = new Map<string, OpenValue[]>()
  // One scope for all items: what is evaluated in it is done before the next one, and to make one costs more than most items.
  const bound = new Map<string, Meaning>(boundNames(node, null, null))
  const scope = withNames(names, bound)
  for (const {key, item} of items) {
    if (node.keyName !== undefined) bound.set(node.keyName, key)
    bound.set(node.itemName, item)
    if (node.condition) {
      const wanted = read(value(node.condition, scope))
      if (wanted === UNDECIDED) return UNDECIDED
      if (!isWanted(wanted, node.at)) continue
    }
    if (node.resultKey === undefined) {
      list.push(value(node.result, scope))
      continue
    }
    const name = read(value(node.resultKey, scope))
    if (name === UNDECIDED) return UNDECIDED
    addField(fields, name, value(node.result, scope), node)
  }
  if (node.resultKey === undefined) return list
  return Object.fromEntries([...fields].map(([name, values]) => [name, node.grouped ? values : (values[0] ?? null)]))
}

const boundNames = ({keyName, itemName}: ForNode, key: OpenValue, item: Meaning): ReadonlyMap<string, Meaning> =>
  new Map([...(keyName === undefined ? [] : [[keyName, key] as const]), [itemName, item] as const])

function isWanted(value: Json, at: number): boolean {
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'false') return value === 'true'
  throw new ExpressionValueError(`the condition of a "for" must be true or false, and it is ${typeNameOf(value)}`, at)
}

function addField(fields: Map<string, OpenValue[]>, name: Json, value: OpenValue, {grouped, at}: ForNode): void {
  if (name === null || typeof name === 'object') throw new ExpressionValueError(`a key must be text, and it is ${typeNameOf(name)}`, at)
  const before = fields.get(String(name))
  if (before === undefined) fields.set(String(name), [value])
  else if (grouped) before.push(value)
  // The key is not quoted: it may be secret.
  else throw new ExpressionValueError('two items of a "for" have one key: write "..." after the value to group them', at)
}

function openFor(node: ForNode, source: OpenValue, names: Names, evaluation: Evaluation): Open {
  const sources = opensIn(source)
  const secret = sources.some(open => open.secret)
  const used: Open[] = []
  const read = known(used)
  const result = read(source) === UNDECIDED ? UNDECIDED : concrete(node, source, names, evaluation, {secret, read})
  const {opens, rest} = symbolic(node, source, names, evaluation)
  const found = result === UNDECIDED ? [] : opensIn(result)
  // What a secret decided for an item has no expression, and with a name in the place of the item it may have one.
  const unspelled = [...used, ...found].filter(open => open.node === undefined)
  const whole = unspelled.length === 0 ? rest : undefined
  const all = [...sources, ...opens, ...unspelled]
  if (result === UNDECIDED || found.some(open => open.value === undefined)) return openFrom(all, whole, undefined, node.at)
  return openFrom([...all, ...found], whole, () => sized(revealed(result), node.at), node.at)
}

/** With the items themselves, each as secret as what they come from. */
function concrete(
  node: ForNode,
  source: OpenValue,
  names: Names,
  evaluation: Evaluation,
  {secret, read}: {readonly secret: boolean; readonly read: Read},
): OpenValue | typeof UNDECIDED {
  const items = itemsOf(source instanceof Open ? (source.value ?? null) : source, node)
  if (!secret || !(source instanceof Open)) return gathered(node, items, names, evaluation, read)
  const hidden = (value: Meaning): Open => new Open({node: {type: 'literal', value: null}, value: value as Json, secret: true})
  return gathered(
    node,
    items.map(({key, item}) => ({key: hidden(key), item: hidden(item)})),
    names,
    evaluation,
    read,
  )
}

/** With names in the place of items: what the expression is, with everything in it that is known already. */
function symbolic(node: ForNode, source: OpenValue, names: Names, {value}: Evaluation): {opens: readonly Open[]; rest: Node | undefined} {
  const {depth = 0} = names
  const secret = opensIn(source).some(open => open.secret)
  const needs = opensIn(source).flatMap(open => open.needs)
  const named = (name: string): Open => new Open({node: {type: 'root', name, at: node.at}, secret, needs})
  const keyName = node.keyName === undefined ? undefined : `key${depth}`
  const itemName = `item${depth}`
  const scope = withNames(names, boundNames(node, named(`key${depth}`), named(itemName)))
  const parts = [node.resultKey, node.result, node.condition].map(part => (part === undefined ? undefined : value(part, scope)))
  const opens = parts.flatMap(part => (part === undefined ? [] : opensIn(part)))
  const [resultKey, result, condition] = parts.map(part => (part === undefined ? undefined : nodeOf(part)))
  const from = nodeOf(source)
  const whole = parts.every(part => part === undefined || nodeOf(part) !== undefined)
  if (from === undefined || result === undefined || !whole) return {opens, rest: undefined}
  return {opens, rest: {...node, keyName, itemName, in: from, resultKey, result, condition}}
}
