import {nearest} from '../../base/nearest.ts'

/** `: did you mean "x"?`, or the known words when there are few, or nothing. */
export function hint(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  if (near !== undefined) return `: did you mean ${JSON.stringify(near)}?`
  return known.length > 0 && known.length <= 15 ? `; known are ${known.join(', ')}` : ''
}
