/** What is done for several stacks is done for one after the other, and each counts at once: whoever fails says what does already. */
import {AppError} from '../../base/errors.ts'

class PartlyDoneError extends AppError {
  constructor(error: AppError, done: string) {
    super(`${error.message}; ${done}`, {
      code: error.code,
      exit: error.exit,
      suggestions: error.suggestions,
      ...(error.problems === undefined ? {} : {problems: error.problems}),
      cause: error,
    })
  }
}

/**
 * @param say - what counts already, from the places where it does: `frozen already: shop`
 * @param run - for one; whether it changed anything there
 */
export async function inTurn<Item extends {readonly stack?: string | undefined; readonly account?: string | undefined}>(
  items: Iterable<Item>,
  say: string,
  run: (item: Item) => Promise<boolean>,
): Promise<void> {
  const done: string[] = []
  for (const item of items) {
    try {
      if (await run(item)) done.push(item.stack === undefined ? (item.account ?? '') : item.stack)
    } catch (error) {
      if (done.length === 0 || !(error instanceof AppError)) throw error
      throw new PartlyDoneError(error, `${say} already: ${done.join(', ')}`)
    }
  }
}
