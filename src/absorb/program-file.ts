/** Which files an absorb edits, and may have edited. */

export const isCode = (path: string): boolean => /\.[cm]?[jt]sx?$/.test(path)

/** Packages are somebody else's program. */
export const isProgramFile = (path: string): boolean => isCode(path) && !path.split('/').includes('node_modules')
