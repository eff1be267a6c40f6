/** One word of a POSIX shell, quoted only where it has to be: for commands that people copy. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
