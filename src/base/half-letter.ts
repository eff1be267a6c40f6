/**
 * Half of a letter (a surrogate without the other one): JSON can spell it (`"\ud800"`), and neither UTF-8 nor an address can.
 * `encodeURIComponent` throws on it, so that what comes from outside is asked before.
 */
export const hasHalfLetter = (text: string): boolean => /\p{Cs}/u.test(text)
