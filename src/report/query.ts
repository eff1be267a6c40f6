/** `-q`: an expression is checked completely before anything is sent, and its errors say where. */
import {AppError, EXIT} from '../base/errors.ts'
import type {ExactJson} from '../base/lossless-json.ts'
import {nearest} from '../base/nearest.ts'
import type {Redactor} from '../base/redact.ts'
import {callsFunctions, faultIn, fromLibrary, JMESPATH_FUNCTIONS, type Jmespath, loadJmespath, searchIn} from './jmespath.ts'
import {seen} from './query-bounds.ts'

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

/** There is more than a query can be applied to, or it would make more of it than anybody can take. */
export class QuerySizeError extends AppError {
  constructor(expression: string, what: 'this answer' | 'what it makes of this answer', fault: string) {
    super(`the query (-q) ${expression} is not applied: ${what} has ${fault}`, {
      code: 'E_QUERY_SIZE',
      exit: EXIT.usage,
      suggestions: [
        what === 'this answer'
          ? 'Run the command with -o json and without -q, and let another program (jq --stream) take the answer apart.'
          : 'Ask for less: the same part again and again makes twice as much each time.',
      ],
    })
  }
}

/** The library parses and evaluates each level in a call of its own, and has one for each name of `a.b.c`. */
const MAX_LENGTH = 10_000
const MAX_WORDS = 1000

/** @throws QuerySyntaxError for more than the library can take */
function assertShort({tokenize}: Jmespath, expression: string): void {
  const shorter = 'Ask for less at once, and let another program do the rest.'
  const shown = `${expression.slice(0, 40)}…`
  if (expression.length > MAX_LENGTH) throw new QuerySyntaxError(shown, 0, `it has more than ${MAX_LENGTH} characters`, shorter)
  let words: number
  try {
    words = tokenize(expression).length
  } catch {
    return
  }
  if (words > MAX_WORDS) throw new QuerySyntaxError(shown, 0, `it has more than ${MAX_WORDS} words and signs`, shorter)
}

export interface QueryAnswer {
  readonly document: ExactJson
  /** Each number of it is JavaScript's own. */
  readonly isPlain: boolean
}

export type Query = (document: ExactJson) => QueryAnswer

/**
 * Without functions an expression only chooses: what it answers with are values of the document as they stand there, and their
 * secrets are found when they are written. A function makes other texts of them (`reverse`), in which no secret is found any
 * more: it is given a document without any.
 *
 * @throws QuerySyntaxError; the query itself throws QueryEvaluationError
 */
export async function compileQuery(expression: string, redactor: Redactor): Promise<Query> {
  const library = await loadJmespath()
  assertShort(library, expression)
  try {
    library.compile(expression)
  } catch (error) {
    throw new QuerySyntaxError(expression, positionOfError(library, expression), reasonOf(error))
  }
  const fault = faultIn(library, expression)
  if (fault !== undefined) {
    const {at, reason, unknown = ''} = fault
    const close = nearest(unknown, JMESPATH_FUNCTIONS)
    const words = close === undefined ? `Use one of: ${[...JMESPATH_FUNCTIONS].join(', ')}.` : `Did you mean ${close}()?`
    throw new QuerySyntaxError(expression, at, reason, unknown === '' ? undefined : words)
  }
  const changesTexts = callsFunctions(library, expression)
  return answer => {
    const given = seen(answer)
    if (given.fault !== undefined) throw new QuerySizeError(expression, 'this answer', given.fault)
    const document = changesTexts ? redactor.value(answer) : answer
    try {
      const found = searchIn(library, expression, document, given.isPlain)
      // The whole was looked at already.
      if (found === document && given.isPlain) return {document, isPlain: true}
      // Before anything else looks at it: one value may stand there a million times.
      const made = seen(found)
      if (made.fault !== undefined) throw new QuerySizeError(expression, 'what it makes of this answer', made.fault)
      return {document: made.isPlain ? (found as ExactJson) : fromLibrary(found), isPlain: made.isPlain}
    } catch (error) {
      throw error instanceof QuerySizeError ? error : new QueryEvaluationError(expression, error)
    }
  }
}

/**
 * Where the parser stopped. It does not say, but it always stops at the first token it cannot use: text up to a token
 * before that place can be continued (what is wrong with it changes when something is added), text beyond it cannot.
 */
function positionOfError({compile, tokenize}: Jmespath, expression: string): number {
  const complaint = (what: (text: string) => unknown, text: string): string | undefined => {
    try {
      what(text)
      return undefined
    } catch (error) {
      return String(error)
    }
  }
  // Not even made of tokens: the longest beginning that is.
  for (let end = expression.length; complaint(tokenize, expression) !== undefined; end--) {
    if (end <= 0 || complaint(tokenize, expression.slice(0, end)) === undefined) return Math.max(0, end)
  }
  const starts = tokenize(expression).map(token => token.start)
  const at = starts.findIndex((_, index) => {
    const text = expression.slice(0, starts[index + 1] ?? expression.length)
    const wrong = complaint(compile, text)
    return wrong !== undefined && [' ]', ' @'].every(more => wrong === complaint(compile, text + more))
  })
  return starts[at] ?? expression.length
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replaceAll('Sytanx', 'Syntax')
