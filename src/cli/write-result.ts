/** What became of a write that a person asked for: its body, or an error with the next step. */
import {AppError, EXIT} from '../base/errors.ts'
import type {Json} from '../base/json.ts'
import type {WriteOutcome} from '../engine/model/backend.ts'

/** Something else is changing there, or too much at once. */
export class BusyError extends AppError {
  constructor(what: string, reason: string) {
    super(`${what} was not done: ${reason}`, {
      code: 'E_BUSY',
      suggestions: ['Something else is changing there: run the command again when it is done.'],
    })
  }
}

/** It may have happened: only looking can tell. */
export class WriteUnknownError extends AppError {
  constructor(cause: AppError, look: string) {
    super(cause.message, {code: 'E_WRITE_UNKNOWN', exit: EXIT.partial, suggestions: [`See what is there now: ${look}`], cause})
  }
}

/** @param what - of a sentence: `the check of node 1`; @param look - the command that shows what became of it */
export function acceptedBody(outcome: WriteOutcome, what: string, look: string): Json | undefined {
  switch (outcome.outcome) {
    case 'accepted':
      return outcome.body
    case 'busy':
    case 'crowded':
      throw new BusyError(what, outcome.reason)
    case 'unknown':
      throw new WriteUnknownError(outcome.error, look)
    case 'gone':
    case 'refused':
    case 'unsent':
      throw outcome.error
  }
}
