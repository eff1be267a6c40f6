/**
 * What the runner of a CI job takes for a command when it stands in the log of the job: `##[add-mask]` of GitHub,
 * `##vso[task.prependpath]` of Azure and `##teamcity[…]` anywhere in a line, `::set-output name=hash::` of GitHub at its beginning.
 * Names and messages from servers and stacks are printed there, and command nobody.
 */

/** The first letter of one that works anywhere, for a class of letters to be escaped. */
export const COMMAND_MARK = '#(?=#[A-Za-z]*\\[)'

const MARK = new RegExp(COMMAND_MARK, 'g')
/** `::error::`, or `::set-output `, which is a command if there is `::` in the rest of its line. */
const NAMED = /::[a-z-]+(?=::|( ))/gi
const LINE_END = /[\n\r\u2028\u2029]/
const BLANK = /\s/

/** The same text with the first letter of each command as an escape that can be seen. */
export const withoutCommands = (text: string): string => atLineBegins(text.replace(MARK, '\\u0023'))

/** In one walk: a pattern that looks back over blanks from every letter takes time by the square of a table's width. */
function atLineBegins(text: string): string {
  let out = ''
  let done = 0
  for (const {0: name, 1: space, index} of text.matchAll(NAMED)) {
    if (!beginsLine(text, index) || (space !== undefined && !endsInLine(text, index + name.length))) continue
    out += `${text.slice(done, index)}\\u003a`
    done = index + 1
  }
  return done === 0 ? text : out + text.slice(done)
}

/** Whether nothing but blanks stands before it in its line. */
function beginsLine(text: string, index: number): boolean {
  for (let at = index - 1; at >= 0; at--) {
    const letter = text[at] ?? ''
    if (LINE_END.test(letter)) return true
    if (!BLANK.test(letter)) return false
  }
  return true
}

function endsInLine(text: string, from: number): boolean {
  const end = text.indexOf('\n', from)
  return text.slice(from, end === -1 ? text.length : end).includes('::')
}
