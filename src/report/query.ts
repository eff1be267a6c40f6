/**
 * `-q`: JMESPath behind one door. The library reaches into prototypes, knows no exact integers, and does not say where
 * an expression is wrong; all three are put right here.
 */
import type jmespathModule from 'jmespath'
import {AppError, EXIT} from '../base/errors.ts'
import {type ExactJson, ExactNumber} from '../base/lossless-json.ts'
import {nearest} from '../base/nearest.ts'

interface Jmespath {
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

/** The expression does not parse, or calls a function that JMESPath does not have. */
export class QuerySyntaxError extends AppError {
  /** In characters, from 0. */
  readonly position: number

  constructor(expression: string, position: number, reason: string, suggestion?: string) {
    const where = `, at character ${position + 1}\n  ${expression}\n  ${' '.repeat(position)}^`
    super(expression.trim() === '' ? 'the query (-q) is empty' : `the query (-q) is not valid JMESPath: ${reason}${where}`, {
      code: 'E_QUERY_SYNTAX',
      lines: true,
      exit: EXIT.usage,
      suggestions: [suggestion ?? 'Correct the expression there; put it in single quotes, so that the shell leaves it alone.'],
    })
    this.position = position
  }
}

/** The expression parses, and cannot be applied to this answer. */
export class QueryEvaluationError extends AppError {
  constructor(expression: string, cause: unknown) {
    super(`the query (-q) ${expression} cannot be applied to this answer: ${cause instanceof Error ? cause.message : String(cause)}`, {
      code: 'E_QUERY_EVALUATION',
      exit: EXIT.usage,
      suggestions: ['Run the command without -q to see what there is to query.'],
      cause,
    })
  }
}

export type Query = (document: ExactJson) => ExactJson

/** The functions of the JMESPath specification. */
const FUNCTIONS = new Set(
  'abs avg ceil contains ends_with floor join keys length map max max_by merge min min_by not_null reverse sort sort_by starts_with sum to_array to_number to_string type values'.split(
    ' ',
  ),
)

/**
 * Checked completely before anything is sent.
 * @throws QuerySyntaxError; the query itself throws QueryEvaluationError
 */
export async function compileQuery(expression: string): Promise<Query> {
  const {default: loaded}: {default: unknown} = await import('jmespath')
  // The published types know `search` only.
  const library = loaded as Jmespath
  let ast: AstNode
  try {
    ast = library.compile(expression)
  } catch (error) {
    throw new QuerySyntaxError(expression, positionOfError(library, expression), reasonOf(error))
  }
  const loose = looseDot(library, expression)
  if (loose !== undefined) throw new QuerySyntaxError(expression, loose, 'a name, *, [ or { must follow a dot')
  for (const name of functionsIn(ast)) {
    if (FUNCTIONS.has(name)) continue
    const close = nearest(name, FUNCTIONS)
    const suggestion = close === undefined ? `Use one of: ${[...FUNCTIONS].join(', ')}.` : `Did you mean ${close}()?`
    throw new QuerySyntaxError(expression, expression.indexOf(name), `there is no function ${name}()`, suggestion)
  }
  const lone = loneReference(ast)
  if (lone) throw new QuerySyntaxError(expression, expression.indexOf('&'), 'an expression behind & stands for itself in functions only')
  const meant = sortedByValue(library, expression)
  return document => {
    try {
      return fromLibrary(library.search(forLibrary(document), meant))
    } catch (error) {
      throw new QueryEvaluationError(expression, error)
    }
  }
}

/** A whole number the library may carry around and compare; its digits are kept beside it. */
class ExactInteger extends Number {
  readonly exact: bigint

  constructor(exact: bigint) {
    super(exact)
    this.exact = exact
  }
}

/** The one method the library calls on the objects it is given; a field of any other inherited name must not exist. */
const BARE = Object.create(null, {hasOwnProperty: {value: Object.prototype.hasOwnProperty}})

function forLibrary(value: ExactJson): unknown {
  if (typeof value === 'bigint') return new ExactInteger(value)
  // The library compares numbers by identity where they are objects: only what no number can hold is one.
  if (value instanceof ExactNumber) return value.isBeyond ? value : value.valueOf()
  if (Array.isArray(value)) return value.map(forLibrary)
  if (value === null || typeof value !== 'object') return value
  const bare = Object.create(BARE)
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(bare, key, {value: forLibrary(item), enumerable: true, configurable: true, writable: true})
  }
  return bare
}

/** Functions, and whatever else is no JSON, are null. */
function fromLibrary(value: unknown): ExactJson {
  if (value instanceof ExactInteger) return value.exact
  if (value instanceof ExactNumber) return value
  if (Array.isArray(value)) return value.map(fromLibrary)
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (value === null || typeof value !== 'object') return null
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromLibrary(item)]))
}

function* functionsIn(node: unknown): Generator<string> {
  if (node === null || typeof node !== 'object') return
  const {type, name, value, children} = node as AstNode
  if (type === 'Function' && typeof name === 'string') yield name
  // The value of a literal is data, however much it looks like a node.
  if (type !== 'Literal') yield* functionsIn(value)
  for (const child of Array.isArray(children) ? children : []) yield* functionsIn(child)
}

/** An expression that is handed to no function: the library would answer with its own inner workings. */
function loneReference(node: unknown, inFunction = false): boolean {
  if (node === null || typeof node !== 'object') return false
  const {type, children, value} = node as AstNode
  if (type === 'ExpressionReference' && !inFunction) return true
  if (type !== 'Literal' && loneReference(value)) return true
  return Array.isArray(children) && children.some(child => loneReference(child, type === 'Function'))
}

/** The library's `sort` compares numbers as text (1, 10, 9); its `sort_by` does not: `sort(x)` becomes `sort_by(x, &@)`. */
function sortedByValue({tokenize}: Jmespath, expression: string): string {
  const tokens = tokenize(expression)
  const edits: {at: number; length: number; text: string}[] = []
  const open: boolean[] = []
  for (const [index, {type, start}] of tokens.entries()) {
    if (type === 'Lparen') {
      const before = tokens[index - 1]
      const sorts = before?.type === 'UnquotedIdentifier' && before.value === 'sort' && tokens[index + 1]?.type !== 'Rparen'
      if (sorts) edits.push({at: before.start, length: 'sort'.length, text: 'sort_by'})
      open.push(sorts)
    } else if (type === 'Rparen' && open.pop()) edits.push({at: start, length: 0, text: ', &@'})
  }
  return edits
    .toSorted((a, b) => b.at - a.at)
    .reduce((text, {at, length, text: put}) => `${text.slice(0, at)}${put}${text.slice(at + length)}`, expression)
}

/** The library lets anything follow a dot, and then fails when it evaluates. @returns where the name is missing */
function looseDot({tokenize}: Jmespath, expression: string): number | undefined {
  const tokens = tokenize(expression)
  const at = tokens.findIndex(({type}, index) => type === 'Dot' && !AFTER_DOT.has(tokens[index + 1]?.type ?? ''))
  return at < 0 ? undefined : (tokens[at + 1]?.start ?? expression.length)
}

const AFTER_DOT = new Set(['UnquotedIdentifier', 'QuotedIdentifier', 'Star', 'Lbracket', 'Lbrace'])

/**
 * Where the parser stopped. It does not say, but it always stops at the first token it cannot use: text up to a token
 * before that place can be continued (what is wrong with it changes when something is added), text beyond it cannot.
 */
function positionOfError({compile, tokenize}: Jmespath, expression: string): number {
  const complaint = (text: string): string | undefined => {
    try {
      compile(text)
      return undefined
    } catch (error) {
      return String(error)
    }
  }
  let starts: number[]
  try {
    starts = tokenize(expression).map(token => token.start)
  } catch {
    // Not even made of tokens: the longest beginning that is.
    for (let end = expression.length - 1; end > 0; end--) {
      try {
        tokenize(expression.slice(0, end))
        return end
      } catch {}
    }
    return 0
  }
  for (const [at, start] of starts.entries()) {
    const text = expression.slice(0, starts[at + 1] ?? expression.length)
    const wrong = complaint(text)
    if (wrong !== undefined && wrong === complaint(`${text} ]`) && wrong === complaint(`${text} @`)) return start
  }
  return expression.length
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replaceAll('Sytanx', 'Syntax')
