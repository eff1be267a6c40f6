/** An object that was asked for by its id. */
import {AppError, EXIT} from '../base/errors.ts'

export class NoSuchObjectError extends AppError {
  constructor(noun: string, id: string, list: string) {
    super(`there is no ${noun} ${id}`, {code: 'E_NO_SUCH_OBJECT', exit: EXIT.notFound, suggestions: [`See which there are: ${list}`]})
  }
}

/** @param list - the command that shows all of them. @throws NoSuchObjectError */
export function found<T>(object: T | undefined, noun: string, id: string, list: string): T {
  if (object === undefined) throw new NoSuchObjectError(noun, id, list)
  return object
}
