/**
 * What the runner of a CI job takes for a command when it stands in the log of the job: `##[add-mask]` of GitHub,
 * `##vso[task.prependpath]` of Azure and `##teamcity[…]` anywhere in a line, `::set-output name=hash::` of GitHub at its beginning.
 * Names and messages from servers and stacks are printed there, and command nobody.
 */

/** The first letter of one that works anywhere, for a class of letters to be escaped. */
export const COMMAND_MARK = '#(?=#[A-Za-z]*\\[)'

const MARK = new RegExp(COMMAND_MARK, 'g')
const AT_LINE = /(?<=^[^\S\n]*):(?=:[a-z-]+(?: [^\n]*)?::)/gim

/** The same text with the first letter of each command as an escape that can be seen. */
export const withoutCommands = (text: string): string => text.replace(MARK, '\\u0023').replace(AT_LINE, '\\u003a')
