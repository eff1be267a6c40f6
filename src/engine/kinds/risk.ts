/** When a changed field is worth a warning: builders for the `risk` of a field rule. They are asked about changed fields only. */

import {numberIn, wordOf} from '../../base/word-of.ts'
import type {FieldRule} from '../model/kind.ts'

type Risk = NonNullable<FieldRule['risk']>

export const whenChanged =
  (words: string): Risk =>
  () =>
    words

/** A smaller number than before. A value that was not there before cannot be less. */
export const whenLess =
  (words: string): Risk =>
  (before, after) =>
    before !== undefined && before !== null && after !== null && numberIn(after) < numberIn(before) ? words : undefined

/** Switched off, or off where it was not known to be. */
export const whenOff =
  (words: string): Risk =>
  (before, after) =>
    after === false && before !== false ? words : undefined

/** @param strength - the known values, weakest first; a value that is not among them may be anything */
export const unlessStronger =
  (strength: readonly string[], words: string): Risk =>
  (before, after) => {
    const [from, to] = [strength.indexOf(wordOf(before)), strength.indexOf(wordOf(after))]
    return from >= 0 && to > from ? undefined : words
  }
