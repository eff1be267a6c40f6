/**
 * The first line of a file that svcctl wrote says so, with a digest of the rest: a file that still fits it was not edited,
 * and may be replaced. JSON has no comments: there it stands in the field `//`, the first one.
 */
import {createHash} from 'node:crypto'

const WORDS = 'svcctl export'

const digest = (rest: string): string => createHash('sha256').update(rest).digest('hex')

/** @param mark - what begins a comment */
export const withBanner = (rest: string, mark: '//' | '#'): string => `${mark} ${WORDS} ${digest(rest)}\n${rest}`

/** @param fields - the text of an object, without the brace that opens it */
export const withJsonBanner = (fields: string): string => `{\n  "//": "${WORDS} ${digest(fields)}",\n${fields}`

/** Whether nobody has edited the file since it was written. */
export function isUnedited(text: string): boolean {
  const [, , hex, rest] =
    /^(\/\/|#) svcctl export ([0-9a-f]{64})\r?\n([\s\S]*)$/.exec(text) ??
    /^(\{)\n {2}"\/\/": "svcctl export ([0-9a-f]{64})",\n([\s\S]*)$/.exec(text) ??
    []
  return hex !== undefined && rest !== undefined && digest(rest) === hex
}
