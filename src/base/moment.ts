/** Times that were, as people write them: a moment, a day, or how long ago it was. */
import {parseDuration} from './duration.ts'
import {AppError, EXIT} from './errors.ts'

/** Text that is neither a moment nor a length of time. */
export class MomentError extends AppError {
  constructor(option: string, text: string) {
    super(`${option}: ${JSON.stringify(text)} is no time`, {
      code: 'E_MOMENT',
      exit: EXIT.usage,
      suggestions: [`Write a UTC time (${option} 2026-01-31T08:00:00Z), a day, or how long ago it was (${option} 15m, 2h, 3d).`],
    })
  }
}

/** From the epoch, either way: no `Date` is further away. */
export const FURTHEST_MS = 8.64e15

const ISO = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i

/** @returns milliseconds since the epoch; a time without a zone is UTC, as the API's own. @throws MomentError */
export function parseMoment(option: string, text: string, now: number): number {
  if (ISO.test(text)) {
    const zoned = /T.*(Z|[+-]\d{2}:?\d{2})$/i.test(text) || !text.toUpperCase().includes('T') ? text : `${text}Z`
    const at = Date.parse(zoned)
    if (!Number.isNaN(at)) return at
  } else if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) {
    const at = now - parseDuration(text)
    // A length of time may be longer than all that a calendar has.
    if (Math.abs(at) <= FURTHEST_MS) return at
  }
  throw new MomentError(option, text)
}
