/** The command line itself is wrong: exit 64, before anything else is looked at. */
import {AppError, EXIT} from './errors.ts'

export class UsageError extends AppError {
  constructor(message: string, suggestions: readonly string[], cause?: unknown) {
    super(message, {code: 'E_USAGE', exit: EXIT.usage, suggestions, cause})
  }
}

/**
 * The text, unless there is nothing in it: usually a variable of a script that is not set.
 * @throws UsageError
 */
export function notEmpty(text: string, what: string): string {
  if (text.trim() === '') throw new UsageError(`${what} is empty`, ['Give a value; in a script, check the variable it comes from.'])
  return text
}
