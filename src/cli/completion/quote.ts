/** Text inside single quotes, as POSIX shells read it. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
