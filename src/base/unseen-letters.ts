/**
 * Letters that nobody sees: marks that turn the direction of what follows, ends of lines that are none to a terminal, and what
 * Unicode calls "default ignorable" (spaces of no width, fillers, the tags from U+E0000). A name must not hide its neighbours with
 * them, reorder them, say something that its reader does not see, or look like another name.
 *
 * Joiners and variation selectors are ignorable, too, and emoji and several scripts are written with them: up to two of them stay
 * where they follow a letter (`❤️‍🔥`), and no more than two, which would be a message of its own.
 */
const JOINS = '[\\u200c\\u200d\\u180b-\\u180d\\u180f\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]'

/** A pattern of one such letter, for the flag `u`. */
export const INVISIBLE = `(?!${JOINS})\\p{DI}|[\\u2028\\u2029\\ufff9-\\ufffb]|(?<=\\p{DI}{2})${JOINS}`
