/** Operations that wait for each other: none of them can begin. */
import {AppError, EXIT} from '../../base/errors.ts'

export class OperationCycleError extends AppError {
  constructor(
    message: string,
    suggestions: readonly string[] = ['Break the cycle: remove one depends_on or reference, apply, and then make the second change.'],
  ) {
    super(message, {code: 'E_OPERATION_CYCLE', exit: EXIT.usage, suggestions})
  }
}
