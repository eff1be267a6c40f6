/** Patterns as people type them: `*` stands for any text, `?` for one character. Everything else means itself. */
export const globPattern = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    's',
  )

export const isGlob = (word: string): boolean => /[*?]/.test(word)
