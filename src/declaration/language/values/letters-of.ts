/** The letters of a text as functions take them: the segmenter takes more time for each than a step of an expression. */
import {letters} from '../../../base/letters.ts'
import {takeSteps} from './expression-limits.ts'

const ASCII = /^[\0-\x7f]*$/

/** @throws ExpressionError when it is too much work */
export function lettersOf(text: string): readonly string[] {
  takeSteps(ASCII.test(text) ? text.length / 4 : 2 * text.length)
  return letters(text)
}
