/** Texts that are made of others: how long one would be is known before it is made. */
import {ArgumentError} from './rule.ts'

/** What a function may make; a text with expressions in it may be larger. */
const MAX_LENGTH = 1_000_000

/** The parts with `separator` between them. @throws ArgumentError for more than a value may be */
export function joined(parts: readonly string[], separator = '', most = MAX_LENGTH): string {
  assertShort(
    parts.reduce((sum, {length}) => sum + length, separator.length * Math.max(0, parts.length - 1)),
    most,
  )
  return parts.join(separator)
}

/** @throws ArgumentError */
export function assertShort(length: number, most = MAX_LENGTH): void {
  if (length > most) throw new ArgumentError(`the text would be longer than ${most} characters`)
}
