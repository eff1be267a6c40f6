/**
 * The `jmespath` library behind one door. It passes the public compliance suite; what is put right here is what that suite
 * leaves open, or counts as right when it is refused at any time. `test/report/jmespath-compliance.test.ts` runs the suite
 * through this door and holds each line:
 *
 * | deviation                                                   | mended by   | case of the suite                            |
 * | ----------------------------------------------------------- | ----------- | -------------------------------------------- |
 * | anything may follow a dot, found when it is evaluated       | `faultIn`   | syntax.json `foo.`, `foo..bar`, `foo.|| bar` |
 * | an unknown function is found when it is evaluated           | `faultIn`   | functions.json ``unknown_function(`1`, `2`)`` |
 * | `&a` outside a function answers with the library's own tree | `faultIn`   | none                                         |
 * | `sort` orders numbers as text (1, 10, 9)                    | `searchIn`  | functions.json `sort(numbers)`               |
 * | inherited fields are seen (`toString`, `__proto__`)         | `forLibrary` | none                                         |
 * | whole numbers beyond 2^53 are rounded                       | `forLibrary` | none                                         |
 *
 * What is left as it is stands in docs/queries.md.
 */
import type jmespathModule from 'jmespath'
import {type ExactJson, ExactNumber, hasExact} from '../base/lossless-json.ts'

export interface Jmespath {
  readonly search: typeof jmespathModule.search
  readonly compile: (expression: string) => AstNode
  readonly tokenize: (expression: string) => readonly {readonly start: number; readonly type: string; readonly value?: unknown}[]
}

interface AstNode {
  readonly type: string
  readonly name?: unknown
  readonly value?: unknown
  readonly children?: readonly unknown[]
}

/** The published types know `search` only. */
export const loadJmespath = async (): Promise<Jmespath> => ((await import('jmespath')) as {default: unknown}).default as Jmespath

/** The functions of the JMESPath specification. */
export const JMESPATH_FUNCTIONS: ReadonlySet<string> = new Set(
  'abs avg ceil contains ends_with floor join keys length map max max_by merge min min_by not_null reverse sort sort_by starts_with sum to_array to_number to_string type values'.split(
    ' ',
  ),
)

export interface QueryFault {
  /** In characters, from 0. */
  readonly at: number
  readonly reason: string
  /** The name of a function there is none of. */
  readonly unknown?: string
}

/** What the parser lets pass, and evaluating would not. */
export function faultIn({compile, tokenize}: Jmespath, expression: string): QueryFault | undefined {
  const tokens = tokenize(expression)
  const dot = tokens.findIndex(({type}, index) => type === 'Dot' && !AFTER_DOT.has(tokens[index + 1]?.type ?? ''))
  if (dot >= 0) return {at: tokens[dot + 1]?.start ?? expression.length, reason: 'a name, *, [ or { must follow a dot'}
  for (const {node, above} of nodesOf(compile(expression))) {
    const {type, name} = node
    if (type === 'Function' && typeof name === 'string' && !JMESPATH_FUNCTIONS.has(name))
      return {at: expression.indexOf(name), reason: `there is no function ${name}()`, unknown: name}
    if (type === 'ExpressionReference' && above !== 'Function')
      return {at: expression.indexOf('&'), reason: 'an expression behind & stands for itself in functions only'}
  }
  return undefined
}

/** For an expression that parses. */
export function callsFunctions({compile}: Jmespath, expression: string): boolean {
  for (const {node} of nodesOf(compile(expression))) if (node.type === 'Function') return true
  return false
}

const AFTER_DOT = new Set(['UnquotedIdentifier', 'QuotedIdentifier', 'Star', 'Lbracket', 'Lbrace'])

function* nodesOf(node: unknown, above?: string): Generator<{node: AstNode; above: string | undefined}> {
  if (node === null || typeof node !== 'object') return
  const {type, value, children} = node as AstNode
  yield {node: node as AstNode, above}
  // The value of a literal is data, however much it looks like a node.
  for (const child of [...(type === 'Literal' ? [] : [value]), ...(Array.isArray(children) ? children : [])]) yield* nodesOf(child, type)
}

/** @returns what the library makes of a document, which may hold what is the library's own: `fromLibrary` */
export function searchIn(library: Jmespath, expression: string, document: ExactJson, isPlain: boolean): unknown {
  const inherited = library.tokenize(expression).some(({value}) => typeof value === 'string' && value in Object.prototype)
  const given = inherited ? bareCopy(document) : !isPlain && hasExact(document) ? forLibrary(document) : document
  return library.search(given, sortedByValue(library, expression))
}

/** `sort(x)` becomes `sort_by(x, &@)`, which compares by value. */
function sortedByValue({tokenize}: Jmespath, expression: string): string {
  const tokens = tokenize(expression)
  const sorts = ({type, value}: {type: string; value?: unknown}, at: number): boolean =>
    type === 'UnquotedIdentifier' && value === 'sort' && tokens[at + 1]?.type === 'Lparen' && tokens[at + 2]?.type !== 'Rparen'
  const open: boolean[] = []
  const pieces = tokens.map((token, at) => {
    const text = expression.slice(token.start, tokens[at + 1]?.start)
    if (token.type === 'Lparen') open.push(at > 0 && sorts(tokens[at - 1] ?? token, at - 1))
    if (token.type === 'Rparen' && open.pop() === true) return `, &@${text}`
    return sorts(token, at) ? text.replace('sort', 'sort_by') : text
  })
  return pieces.join('')
}

/** The one method the library calls on the objects it is given; a field of any other inherited name must not exist. */
const BARE = Object.create(null, {hasOwnProperty: {value: Object.prototype.hasOwnProperty}})

/** For an expression with such a name in it. */
function bareCopy(value: ExactJson): unknown {
  if (value === null || typeof value !== 'object' || value instanceof ExactNumber) return forLibrary(value)
  if (Array.isArray(value)) return value.map(bareCopy)
  const bare = Object.create(BARE)
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(bare, key, {value: bareCopy(item), enumerable: true, configurable: true, writable: true})
  }
  return bare
}

function forLibrary(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return typeof value === 'bigint' ? new ExactNumber(String(value)) : value
  // The library compares numbers by identity where they are objects: only what no number can hold is one.
  if (value instanceof ExactNumber) return value.isBeyond ? value : value.valueOf()
  return changed(value, forLibrary)
}

/** Functions, and whatever else is no JSON, are null. */
export function fromLibrary(value: unknown): ExactJson {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (value === null || typeof value !== 'object') return null
  if (value instanceof ExactNumber) return /^-?\d+$/.test(value.toString()) ? BigInt(value.toString()) : value
  if (Object.getPrototypeOf(value) !== BARE) return changed(value, fromLibrary) as ExactJson
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromLibrary(item)]))
}

/** The same list or object where nothing in it changes: answers of many megabytes are not copied for the sake of a query. */
function changed(value: object, change: (item: unknown) => unknown): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    let copy: unknown[] | undefined
    for (let at = 0; at < items.length; at++) {
      const item = change(items[at])
      if (item === items[at]) continue
      copy ??= [...items]
      copy[at] = item
    }
    return copy ?? items
  }
  const fields = value as Readonly<Record<string, unknown>>
  let copy: Record<string, unknown> | undefined
  for (const key in fields) {
    const item = change(fields[key])
    if (item === fields[key]) continue
    copy ??= {...fields}
    copy[key] = item
  }
  return copy ?? fields
}
