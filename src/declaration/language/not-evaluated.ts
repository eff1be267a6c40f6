import {TERRAFORM_FUNCTIONS} from './functions/table.ts'
import {ExpressionError} from './values/errors.ts'

/** What the language has and svcctl does not evaluate. */
export const notEvaluated = (what: string, at: number): ExpressionError =>
  new ExpressionError(
    `svcctl does not evaluate ${what}`,
    at,
    "Compute the value in the stack's own code, or pass it in through a variable; docs/stacks.md lists what is evaluated.",
  )

/** The functions that expressions may call. */
export const FUNCTION_NAMES: readonly string[] = [...Object.keys(TERRAFORM_FUNCTIONS), 'can', 'coalesce', 'sensitive', 'try'].sort()
