/**
 * Terraform expressions as a tree, and back as text.
 *
 * The text form is also how a saved plan carries what is left of an expression (a residual): everything known is text
 * in it, and only two things are left open, written so that Terraform's grammar reads them:
 *
 * - `var.x`: a secret variable; `convert(var.x, map(string))` when the stack declares a type for it
 * - `null_resource.a.id`, `null_resource.a["k"].triggers["out/name"]`: an attribute of an object
 *
 * Each may be of another stack: `stack["network"].null_resource.a.id`.
 */
import {largest} from '../../../base/many.ts'
import {escapeTemplate, quote, quoteText} from '../../../base/quoted-text.ts'
import {decimalIn, formatNumber} from './decimal.ts'

export type Node =
  | {readonly type: 'literal'; readonly value: string | number | boolean | null}
  /** Text with expressions in it; a single expression alone is never a template but itself. */
  | {readonly type: 'template'; readonly parts: readonly (string | Node)[]}
  /** The first word of a traversal: `var`, `null_resource`. */
  | {readonly type: 'root'; readonly name: string; readonly at: number}
  | {readonly type: 'attr'; readonly of: Node; readonly name: string; readonly at: number}
  | {readonly type: 'index'; readonly of: Node; readonly key: Node; readonly at: number}
  /** `expand`: the last argument is a list of arguments (`…...`). */
  | {readonly type: 'call'; readonly name: string; readonly args: readonly Node[]; readonly expand?: true; readonly at: number}
  | {readonly type: 'tuple'; readonly items: readonly Node[]}
  | {readonly type: 'object'; readonly entries: readonly (readonly [Node, Node])[]}
  | {readonly type: 'unary'; readonly operator: UnaryOperator; readonly of: Node; readonly at: number}
  | {readonly type: 'binary'; readonly operator: BinaryOperator; readonly left: Node; readonly right: Node; readonly at: number}
  | {readonly type: 'conditional'; readonly condition: Node; readonly then: Node; readonly otherwise: Node; readonly at: number}
  | ForNode
  /** Left open: a variable of some stack. */
  | {readonly type: 'variable'; readonly stack: string; readonly name: string; readonly as?: string}
  /** Left open: `id` or `out/<name>` of some object. */
  | {readonly type: 'attribute'; readonly stack: string; readonly address: string; readonly attribute: string}

/** `[for k, v in list : result if condition]`, `{for … : resultKey => result...}`, and splats, which are the first in short. */
export interface ForNode {
  readonly type: 'for'
  readonly keyName: string | undefined
  readonly itemName: string
  readonly in: Node
  /** Of an object only. */
  readonly resultKey: Node | undefined
  readonly result: Node
  readonly condition: Node | undefined
  /** `...`: what has one key is a list. */
  readonly grouped: boolean
  /** `a[*].b`: null has no items, and what is no list is one item. */
  readonly splat: boolean
  readonly at: number
}

/** The item of a splat; no word that can be written. */
export const SPLAT_ITEM = '*'

export const literal = (value: string | number | boolean | null): Node => ({type: 'literal', value})

/** A number as it is written; `undefined` where it is larger than any that JSON can send. */
export function numeral(text: string): Node | undefined {
  const value = decimalIn(text)
  return value === undefined ? undefined : literal(value)
}

/** The nodes a node is made of. */
export function partsOf(node: Node): readonly Node[] {
  switch (node.type) {
    case 'template':
      return node.parts.filter(part => typeof part !== 'string')
    case 'attr':
    case 'unary':
      return [node.of]
    case 'index':
      return [node.of, node.key]
    case 'call':
      return node.args
    case 'tuple':
      return node.items
    case 'object':
      return node.entries.flat()
    case 'binary':
      return [node.left, node.right]
    case 'conditional':
      return [node.condition, node.then, node.otherwise]
    case 'for':
      return [node.in, node.resultKey, node.result, node.condition].filter(part => part !== undefined)
    case 'literal':
    case 'root':
    case 'variable':
    case 'attribute':
      return []
    default:
      return node satisfies never
  }
}

const levels = new WeakMap<Node, number>()

/** How many nodes stand in each other. */
export function nodeLevels(node: Node): number {
  const known = levels.get(node)
  if (known !== undefined) return known
  const found = 1 + largest([0, ...partsOf(node).map(nodeLevels)])
  levels.set(node, found)
  return found
}

/** Joins parts into one template, merging neighbouring text and templates inside templates. */
export function templateOf(parts: readonly (string | Node)[]): Node {
  const merged: (string | Node)[] = []
  const add = (part: string | Node): void => {
    const plain = typeof part === 'object' && part.type === 'literal' && typeof part.value === 'string' ? part.value : part
    if (typeof plain === 'object' && plain.type === 'template') {
      plain.parts.forEach(add)
      return
    }
    const last = merged.at(-1)
    if (typeof plain === 'string' && typeof last === 'string') merged[merged.length - 1] = last + plain
    else merged.push(plain)
  }
  parts.forEach(add)
  const [only, ...more] = merged.filter(part => part !== '')
  if (only === undefined) return literal('')
  if (more.length === 0 && typeof only === 'string') return literal(only)
  return {type: 'template', parts: [only, ...more]}
}

export const unescapeTemplate = (text: string): string => text.replace(/([$%])\1\{/g, '$1{')

/** `null_resource.cache`, `null_resource.cache["a"]`, `null_resource.cache[0]` */
export const printAddress = (name: string, key?: string | number): string =>
  key === undefined ? `null_resource.${name}` : `null_resource.${name}[${typeof key === 'number' ? key : quote(key)}]`

/** As Terraform takes it for the name of anything. */
export const isIdentifier = (name: string): boolean => /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u.test(name)

/** The node as an expression, without the `${}` around it; `stack` is the one it will be read in. */
export function printExpression(node: Node, stack: string): string {
  const print = (it: Node): string => printExpression(it, stack)
  const foreign = (of: string): string => (of === stack ? '' : `stack[${quote(of)}].`)
  switch (node.type) {
    case 'literal':
      if (typeof node.value === 'string') return quote(node.value)
      return typeof node.value === 'number' ? formatNumber(node.value) : String(node.value)
    case 'template':
      return `"${node.parts.map(part => (typeof part === 'string' ? quoteText(part) : `\${${print(part)}}`)).join('')}"`
    case 'root':
      return node.name
    case 'attr':
      return isIdentifier(node.name) ? `${print(node.of)}.${node.name}` : `${print(node.of)}[${quote(node.name)}]`
    case 'index':
      return `${print(node.of)}[${print(node.key)}]`
    case 'call':
      return `${node.name}(${node.args.map(print).join(', ')}${node.expand ? '...' : ''})`
    case 'tuple':
      return `[${node.items.map(print).join(', ')}]`
    case 'object':
      return `{${node.entries.map(([key, value]) => `${print(key)} = ${print(value)}`).join(', ')}}`
    case 'unary':
      return `(${node.operator}${print(node.of)})`
    case 'binary':
      return `(${print(node.left)} ${node.operator} ${print(node.right)})`
    case 'conditional':
      return `(${print(node.condition)} ? ${print(node.then)} : ${print(node.otherwise)})`
    case 'for':
      return printFor(node, print)
    case 'variable': {
      const name = `${foreign(node.stack)}var${isIdentifier(node.name) ? `.${node.name}` : `[${quote(node.name)}]`}`
      return node.as === undefined ? name : `convert(${name}, ${node.as})`
    }
    case 'attribute': {
      const owner = `${foreign(node.stack)}${node.address}`
      return node.attribute === 'id' ? `${owner}.id` : `${owner}.triggers[${quote(node.attribute)}]`
    }
    default:
      return node satisfies never
  }
}

function printFor(
  {keyName, itemName, in: source, resultKey, result, condition, grouped, splat}: ForNode,
  print: (node: Node) => string,
): string {
  // Residuals have a function for what a splat makes of its value; see residual.ts.
  const head = `for ${keyName === undefined ? '' : `${keyName}, `}${itemName} in ${splat ? `splat(${print(source)})` : print(source)} : `
  const tail = condition === undefined ? '' : ` if ${print(condition)}`
  if (resultKey === undefined) return `[${head}${print(result)}${tail}]`
  return `{${head}${print(resultKey)} => ${print(result)}${grouped ? '...' : ''}${tail}}`
}

/** The node as text with `${…}` in it, as it stands in a JSON string of a stack file. */
export function printTemplate(node: Node, stack: string): string {
  if (node.type === 'literal' && typeof node.value === 'string') return escapeTemplate(node.value)
  if (node.type !== 'template') return `\${${printExpression(node, stack)}}`
  return node.parts.map(part => (typeof part === 'string' ? escapeTemplate(part) : `\${${printExpression(part, stack)}}`)).join('')
}

export type BinaryOperator = '||' | '&&' | '==' | '!=' | '<=' | '>=' | '<' | '>' | '+' | '-' | '*' | '/' | '%'

export type UnaryOperator = '!' | '-'
