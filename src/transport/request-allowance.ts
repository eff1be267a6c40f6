/** `--max-requests N`: how many requests a run may send in all, over all its connections. */
import {AppError, EXIT} from '../base/errors.ts'

export class MaxRequestsError extends AppError {
  /** @param sent - those that have left; others may still wait for their turn */
  constructor(max: number, sent: number) {
    super(`--max-requests ${max} allows no more requests (sent so far: ${sent})`, {
      code: 'E_MAX_REQUESTS',
      exit: EXIT.refused,
      suggestions: ['Allow more with --max-requests, or select less with --target or --stack, where the command has them.'],
    })
  }
}

export class RequestAllowance {
  readonly max: number
  /** Requests that have left. */
  sent = 0
  #used = 0

  /** @throws RangeError when `max` is not a whole number from 0 up */
  constructor(max: number) {
    if (!Number.isInteger(max) || max < 0) throw new RangeError(`a number of requests is a whole number from 0 up, not ${max}`)
    this.max = max
  }

  get left(): number {
    return this.max - this.#used
  }

  /** Counts one request; `false` when none is left. */
  take(): boolean {
    if (this.left === 0) return false
    this.#used += 1
    return true
  }
}
