/** What is said beside the result: standard error, in levels, with every known secret hidden. */
import type {Redactor} from '../base/redact.ts'
import type {LogLevel} from '../config/environment.ts'

const LEVELS: readonly LogLevel[] = ['quiet', 'info', 'debug', 'trace']

export interface Log {
  /** Always shown. */
  note(text: string): void
  /** Always shown, once per text. */
  warn(text: string): void
  /** `-v` */
  info(text: string): void
  /** `-vv`, `SVC_LOG=debug` */
  debug(text: string): void
  /** `-vvv`, `SVC_LOG=trace` */
  trace(text: string): void
  shows(level: LogLevel): boolean
  /** Raises the level; it never falls. */
  raise(level: LogLevel): void
}

/** @param write - takes whole lines; @param warning - the word before a warning, painted */
export function createLog(write: (text: string) => void, redactor: Redactor, level: LogLevel, warning = 'warning:'): Log {
  let shown = LEVELS.indexOf(level)
  const warned = new Set<string>()
  const line = (text: string) => write(`${redactor.text(text)}\n`)
  const at = (needed: LogLevel) => (text: string) => {
    if (shown >= LEVELS.indexOf(needed)) line(text)
  }
  return {
    note: line,
    warn: text => {
      if (warned.has(text)) return
      warned.add(text)
      line(`${warning} ${text}`)
    },
    info: at('info'),
    debug: at('debug'),
    trace: at('trace'),
    shows: needed => shown >= LEVELS.indexOf(needed),
    raise: wanted => {
      shown = Math.max(shown, LEVELS.indexOf(wanted))
    },
  }
}

/** `-v`, `-vv`, `-vvv` */
export const levelFor = (count: number): LogLevel => LEVELS[Math.min(count, LEVELS.length - 1)] ?? 'quiet'
