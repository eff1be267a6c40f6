/**
 * Patterns as people type them: `*` stands for any text, `?` for one character. Everything else means itself.
 *
 * They also stand in files that somebody else wrote (what a saved plan lifts), and a search that tries every way to share a
 * text among thirty `*` never ends. Here the first place that fits is taken for each piece, which is as good as any other.
 */

/** What a pattern says of a text. */
export interface GlobPattern {
  test(text: string): boolean
}

export function globPattern(glob: string): GlobPattern {
  const [first = '', ...others] = glob.split(/\*+/)
  const last = others.pop()
  if (last === undefined) return {test: text => text.length === first.length && stands(first, text, 0)}
  return {test: text => fits(text, first, others, last)}
}

export const isGlob = (word: string): boolean => /[*?]/.test(word)

function fits(text: string, first: string, between: readonly string[], last: string): boolean {
  const end = text.length - last.length
  if (first.length > end || !stands(first, text, 0) || !stands(last, text, end)) return false
  let at = first.length
  for (const piece of between) {
    while (at + piece.length <= end && !stands(piece, text, at)) at++
    at += piece.length
    if (at > end) return false
  }
  return true
}

/** Whether a piece without `*` is what stands at this place, where the text has room for it. */
function stands(piece: string, text: string, at: number): boolean {
  for (let i = 0; i < piece.length; i++) if (piece[i] !== '?' && piece[i] !== text[at + i]) return false
  return true
}
