/** What an answer calls something, in the path of the next request. */
import {isDotSegment} from '../base/dot-segment.ts'
import {hasHalfLetter} from '../base/half-letter.ts'

/** `undefined` where no address can have it, or where it would lead to another one: `..`. */
export const pathSegment = (name: string): string | undefined =>
  name === '' || isDotSegment(name) || hasHalfLetter(name) ? undefined : encodeURIComponent(name)
