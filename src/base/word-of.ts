/**
 * What comes from outside as a word or a number. `String` and `Number` ask an object for its own `toString`, and a document
 * may have a field of that name: then they throw.
 */

/** Text as it is, and anything else as JSON writes it. */
export const wordOf = (value: unknown): string => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value))

/** A list or an object is no number. */
export const numberIn = (value: unknown): number => (typeof value === 'object' ? Number.NaN : Number(value))
