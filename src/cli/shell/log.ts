/** What is said beside the result: standard error, in levels, with every known secret hidden. */
import {beginningOf} from '../../base/beginning.ts'
import type {Redactor} from '../../base/redact.ts'
import type {LogLevel} from '../../config/environment.ts'
import {paintedLine, visibleLine} from '../../report/terminal-text.ts'
import type {Voice} from '../../run/host/host.ts'

const LEVELS: readonly LogLevel[] = ['quiet', 'info', 'debug', 'trace']

/** Nobody reads more in one line, whoever's words it is made of. */
const LONGEST_LINE = 10_000

/** `info` is shown with `-v`, `debug` with `-vv` or `SVC_LOG=debug`. */
export interface Log extends Voice {
  /** A line of a progress view, in our own colours: words from outside in it are harmless already. */
  painted(text: string): void
  /** `-vvv`, `SVC_LOG=trace` */
  trace(text: string): void
  shows(level: LogLevel): boolean
  /** Raises the level; it never falls. */
  raise(level: LogLevel): void
  /** Keeps these lines at the end of what is shown, in place of the ones before; for terminals only. No lines take them away. */
  below(lines: readonly string[]): void
  /** The last word is said: nothing is shown any more. */
  end(): void
}

/**
 * @param write - takes whole lines
 * @param warning - the word before a warning, painted
 * @param fold - a line as the terminal should show it
 * @param here - commands in a line as they work here
 */
export function createLog(
  write: (text: string) => void,
  redactor: Redactor,
  level: LogLevel,
  warning = 'warning:',
  fold = (line: string) => line,
  here = (line: string) => line,
): Log {
  let shown = LEVELS.indexOf(level)
  const warned = new Set<string>()
  let below: readonly string[] = []
  // Up to where they begin, and everything from there on away; from the first column, for a terminal shows a Ctrl-C as ^C.
  const erase = () => (below.length === 0 ? '' : `\r\u001b[${below.length}A\u001b[J`)
  const drawn = (lines: readonly string[]) => lines.map(it => `${paintedLine(redactor.text(it))}\n`).join('')
  let over = false
  const show = (line: string) => {
    if (!over) write(`${erase()}${fold(line)}\n${drawn(below)}`)
  }
  // What is said of tasks, locks and stacks holds words from outside: one line stays one line, and has no colours of theirs.
  const shownAs = (text: string) => visibleLine(beginningOf(redactor.text(here(text)), LONGEST_LINE))
  const line = (text: string) => show(shownAs(text))
  const at = (needed: LogLevel) => (text: string) => {
    if (shown >= LEVELS.indexOf(needed)) line(text)
  }
  return {
    note: line,
    painted: text => show(paintedLine(redactor.text(here(text)))),
    warn: text => {
      if (warned.has(text)) return
      warned.add(text)
      show(`${warning} ${shownAs(text)}`)
    },
    info: at('info'),
    debug: at('debug'),
    trace: at('trace'),
    shows: needed => shown >= LEVELS.indexOf(needed),
    raise: wanted => {
      shown = Math.max(shown, LEVELS.indexOf(wanted))
    },
    below: lines => {
      if (over) return
      if (lines.length > 0 || below.length > 0) write(`${erase()}${drawn(lines)}`)
      below = lines
    },
    end: () => {
      over = true
    },
  }
}

/** `-v`, `-vv`, `-vvv` */
export const levelFor = (count: number): LogLevel => LEVELS[Math.min(count, LEVELS.length - 1)] ?? 'quiet'
