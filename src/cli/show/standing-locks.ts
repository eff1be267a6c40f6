/** The last word of a process: locks behind an address that stay, for nobody sees there that it has ended. */
import {standingLocks} from '../../base/standing-locks.ts'
import {visible} from '../../report/terminal-text.ts'

let here = (text: string): string => text

/** @param text - commands as they work where this process works */
export function commandsOfLocks(text: typeof here): void {
  here = text
}

/** What was named by an error is not named again. */
export function sayStandingLocks(): void {
  for (const words of standingLocks()) process.stderr.write(`${visible(`warning: ${here(words)}`)}\n`)
}
