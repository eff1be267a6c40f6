import {beginningOf, beginningsOf} from './beginning.ts'

/** What the process says to the shell; design section 7 and interface.md, "Exit codes decided". */
export const EXIT = {
  ok: 0,
  failure: 1,
  changes: 2,
  refused: 3,
  interrupted: 4,
  stale: 5,
  partial: 6,
  notConverged: 7,
  exhausted: 8,
  unauthorized: 9,
  locked: 10,
  notFound: 11,
  timeout: 12,
  unreachable: 13,
  usage: 64,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** One thing wrong with the input, said together with all the others. */
export interface Problem {
  readonly message: string
  /** `stack:address` or a plain address. */
  readonly address?: string
  /** JSON pointer inside the spec. */
  readonly path?: string
  /** Where it was written: `stacks/shop.ts:12`, or the construct path. */
  readonly source?: string
}

export interface AppErrorOptions {
  /** Stable, unique, never reused: `E_…`. */
  readonly code: `E_${string}`
  readonly exit?: ExitCode
  /** Next steps: imperative, copyable, safe to follow blindly. */
  readonly suggestions?: readonly string[]
  readonly problems?: readonly Problem[]
  /** The message has lines of its own: an excerpt with a caret, one thing a line. Otherwise it is shown as one, whoever's words are in it. */
  readonly lines?: boolean
  readonly cause?: unknown
}

/** Of a message, of a part of a problem: whoever's words are in it. A suggestion is a command as often as not, and those are longer. */
const LONGEST_MESSAGE = 2_000
const LONGEST_SUGGESTION = 10_000
/** Of a message that has some. */
const MOST_LINES = 200

/** Every error a person is meant to read. Subclasses live beside what throws them. No name in it, however long, makes it one that nobody can. */
export class AppError extends Error {
  readonly code: `E_${string}`
  readonly exit: ExitCode
  readonly suggestions: readonly string[]
  readonly problems: readonly Problem[] | undefined
  readonly lines: boolean

  constructor(message: string, {code, exit = EXIT.failure, suggestions = [], problems, lines = false, cause}: AppErrorOptions) {
    const bounded = lines ? beginningsOf(message, LONGEST_MESSAGE, MOST_LINES) : beginningOf(message, LONGEST_MESSAGE)
    super(bounded, cause === undefined ? undefined : {cause})
    this.name = new.target.name
    this.code = code
    this.exit = exit
    this.suggestions = suggestions.map(it => beginningOf(it, LONGEST_SUGGESTION))
    this.problems = problems?.map(boundedProblem)
    this.lines = lines
  }
}

function boundedProblem(problem: Problem): Problem {
  const {message, address, path, source} = problem
  const parts = [message, address, path, source]
  if (parts.every(it => it === undefined || it.length <= LONGEST_MESSAGE)) return problem
  const bounded = (name: 'address' | 'path' | 'source') => {
    const text = problem[name]
    return text === undefined ? {} : {[name]: beginningOf(text, LONGEST_MESSAGE)}
  }
  return {...problem, message: beginningOf(message, LONGEST_MESSAGE), ...bounded('address'), ...bounded('path'), ...bounded('source')}
}
