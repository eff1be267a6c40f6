/**
 * Letters as a person counts them: `é` of two code points is one, and a family of emoji. The segmenter takes time by the
 * square of what it is given, so that it gets a window at a time.
 */
let segmenter: Intl.Segmenter | undefined
/** Each a letter by itself. The segmenter's tables cost every start 8 ms. */
const SINGLES = /^[ -~\n\t]*$/
/** What one letter is not longer than, usually. */
const WINDOW = 512

export function* eachLetter(text: string): Generator<string, void> {
  if (SINGLES.test(text)) return yield* text
  segmenter ??= new Intl.Segmenter('en')
  let start = 0
  let length = WINDOW
  while (start < text.length) {
    const end = endOf(text, start + length)
    const segments = Array.from(segmenter.segment(text.slice(start, end)), it => it.segment)
    // The last one may go on behind the window; where it begins is certain, and there the next window begins.
    const whole = end === text.length ? segments : segments.slice(0, -1)
    for (const letter of whole) {
      yield letter
      start += letter.length
    }
    length = whole.length === 0 ? length * 2 : WINDOW
  }
}

export const letters = (text: string): readonly string[] => [...eachLetter(text)]

/** Never between the halves of one code point. */
const endOf = (text: string, end: number): number => {
  if (end >= text.length) return text.length
  return /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? end + 1 : end
}
