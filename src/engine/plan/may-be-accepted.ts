/** What `--accept` may be said of; apart from what it does, since guards and errors ask before anything is planned. */
import type {Cause} from '../model/cause.ts'
import type {Operation} from '../model/plan.ts'

/**
 * Whether `--accept` makes something else of it. What another stack has is not this one's to record, but that it went there is;
 * and who lets go of an object for a successor that is not to come has neither, nor of one that is on its way here: the stack it
 * comes from would have it again. What is seen, and cannot be told from what is declared, is there.
 */
export const mayBeAccepted = ({action, wants, cause, elsewhere}: Pick<Operation, 'action' | 'wants' | 'cause' | 'elsewhere'>): boolean => {
  if (action !== 'blocked' || NEVER.includes(cause)) return false
  return wants === 'create' ? cause === 'list-not-whole' : elsewhere === undefined || wants === 'delete'
}

const NEVER: readonly Cause[] = ['successor-blocked', 'maybe-elsewhere', 'row-without-id', 'list-stale', 'maybe-several']

/** Whether accepting makes one, which a person has to have looked for in vain. */
export const isUnseen = ({cause, wants}: Pick<Operation, 'cause' | 'wants'>): boolean => cause === 'list-not-whole' && wants !== 'delete'
