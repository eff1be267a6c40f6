/** Text inside single quotes, as POSIX shells read it. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** One word of a POSIX shell, quoted only where it has to be: for commands that people copy. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : shellQuote(text))
