/**
 * Which refusals only mean "not now" (wire facts, "Conflicts", "Limits beyond rate"). The code decides, never the
 * status beside it, which may read "403 FORBIDDEN". The lists of codes are not shown by the contract: beyond the two
 * that the wire facts name, the endings are an assumption, and a code that is not in them is permanent.
 */
import type {ErrorWords} from './error-body.ts'

/** Something is changing the object or its parent. */
const BUSY = /(^|_)(NOT_ACTIVE|NOT_READY|BUSY|LOCKED|PENDING|IN_PROGRESS|CHANGE_IN_PROGRESS|UPDATING)$/

/** Too many changes at once in the account: one of them must end first. */
const CROWDED = /(^|_)TOO_MANY_(PENDING|NON_ACTIVE|ACTIVE|CONCURRENT|RUNNING|PARALLEL)(_|$)/

/** A conflict that waiting cannot end: what is asked for exists already. */
const TAKEN = /(ALREADY_EXISTS|ALREADY_IN_USE|DUPLICATE|NOT_UNIQUE|(NAME|PORT|UID|ID|EMAIL)_(EXISTS|TAKEN|IN_USE|CONFLICT))/

export type NotNow = 'busy' | 'crowded'

/** @returns undefined when waiting cannot help, or nothing says that it would */
export function notNow({code}: ErrorWords): NotNow | undefined {
  const word = code?.toUpperCase() ?? ''
  if (CROWDED.test(word)) return 'crowded'
  return BUSY.test(word) ? 'busy' : undefined
}

/** Whether a 409 is one for good: the name, port or id is taken. Any other 409 is worth waiting for, within a deadline. */
export const isTaken = ({code, constraint}: ErrorWords): boolean => TAKEN.test(code?.toUpperCase() ?? '') || constraint === 'unique'
