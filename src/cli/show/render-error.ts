/** A failure as people read it, and as the one document programs read (interface.md, "Documents"). */
import type {Ansis} from 'ansis'
import {AnswerError} from '../../backends/api/api-errors.ts'
import {AppError, EXIT, type Problem} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import {maskedText} from '../../base/secret-fields.ts'
import {UnreadableFileError} from '../../base/whole-file.ts'
import {harmless, visibleLine} from '../../report/terminal-text.ts'

/** The file system, a device or the network stack said no to something that no part of the program expected. */
export class SystemError extends AppError {
  constructor(cause: Error & {readonly code: unknown}) {
    super(`the system refused: ${cause.message}`, {
      code: 'E_SYSTEM',
      suggestions: [systemRemedy(cause)],
      cause,
    })
  }
}

function systemRemedy({code, message}: Error & {readonly code: unknown}): string {
  if (code === 'ENOSPC') return 'Free some space on that disk, then run the command again.'
  if (code === 'EMFILE' || code === 'ENFILE')
    return 'Let this process open more files, for example with ulimit -n 1024, then run the command again.'
  // Node names no path there.
  if (message.endsWith('uv_cwd'))
    return 'The folder in which this was started is not there any more: change to one that is, then run the command again.'
  return 'Check the path and its permissions, then run the command again.'
}

/** Ours: nothing the person did. */
export class InternalError extends AppError {
  constructor(cause: unknown) {
    super(`svcctl itself failed: ${cause instanceof Error ? cause.message : String(cause)}`, {
      code: 'E_INTERNAL',
      suggestions: ['Run the command again with -vv, and report what it prints: this is a defect of svcctl.'],
      cause,
    })
  }
}

/** Any thrown thing as an error a person is meant to read. */
export function asAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  if (thrown instanceof UnreadableFileError) return new SystemError(thrown)
  if (thrown instanceof Error && 'syscall' in thrown && 'code' in thrown) return new SystemError(thrown)
  return new InternalError(thrown)
}

/** An answer of an API brings its status, and what the API itself said: its own code, the field it names. */
export function errorDocument(error: AppError, here: (text: string) => string): JsonObject {
  const {code, message, suggestions, problems} = error
  return {
    error: {
      code,
      message,
      suggestions: suggestions.map(here),
      ...(problems === undefined || problems.length === 0 ? {} : {problems: problems.map(problem => ({...problem}))}),
      ...(error instanceof AnswerError ? {status: error.status, answer: {...error.said}} : {}),
    },
  }
}

/** Nobody reads more of them at once, and a file that somebody made can have a million. */
const MOST_PROBLEMS = 200

/** A message that ends in all its problems, which stand below it, says what comes before them. */
function headlineOf({message, problems = []}: AppError): string {
  const list = problems.map(({address, message: what}) => (address === undefined ? what : `${address}: ${what}`)).join('; ')
  return problems.length > 1 && message.endsWith(`: ${list}`) ? message.slice(0, -list.length - 2) : message
}

/**
 * @param verbose - adds the causes and the stack of a defect
 * @param here - commands as they work here
 */
export function errorText(error: AppError, paint: Ansis, verbose: boolean, here = (text: string): string => text): string {
  // An excerpt with a caret below it goes on after the first line: the code would stand beside the caret.
  const message = harmless(headlineOf(error))
  const [first, ...excerpt] = error.lines ? message.split('\n') : [message.replaceAll('\n', '\\n')]
  const lines = [`${paint.red.bold('error:')} ${first} ${paint.dim(`(${error.code})`)}`, ...excerpt]
  // One that is the whole message is said.
  const problems = (error.problems ?? []).filter(it => it.source !== undefined || !message.endsWith(`: ${harmless(problemText(it))}`))
  for (const problem of problems.slice(0, MOST_PROBLEMS)) lines.push(`  - ${problemText(problem)}`)
  if (problems.length > MOST_PROBLEMS) lines.push(`  - … and ${problems.length - MOST_PROBLEMS} more: -o json has them all`)
  for (const suggestion of error.suggestions) lines.push(`  ${paint.cyan('>')} ${visibleLine(here(suggestion))}`)
  if (verbose) {
    if (error instanceof AnswerError && error.raw.trim() !== '') lines.push(`  ${paint.dim(`answer: ${harmless(maskedText(error.raw))}`)}`)
    for (let cause = error.cause; cause instanceof Error; cause = cause.cause)
      lines.push(`  ${paint.dim(`caused by: ${harmless(cause.message)}`)}`)
    if (error.exit === EXIT.failure && error.cause instanceof Error && error.cause.stack) lines.push(paint.dim(harmless(error.cause.stack)))
  }
  return `${lines.join('\n')}\n`
}

function problemText({address, path, message, source}: Problem): string {
  const where = [address, path].filter(part => part !== undefined && part !== '').join(' ')
  return visibleLine(`${where === '' ? '' : `${where}: `}${message}${source === undefined ? '' : ` (${source})`}`)
}
