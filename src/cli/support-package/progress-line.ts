/** How far a transfer is: one line that is written over on a terminal, a line now and then with -v elsewhere. */
import {formatDuration} from '../../base/duration.ts'
import {displaySize} from '../../support-package/package-result.ts'
import type {Context} from '../shell/context.ts'

export interface Progress {
  readonly bytes: number
  readonly totalBytes?: number
  readonly bytesPerSecond: number
  readonly elapsedMs: number
}

const TERMINAL_EVERY_MS = 200
const LOG_EVERY_MS = 10_000

export class ProgressLine {
  readonly #context: Context
  readonly #doing: string
  readonly #terminal: boolean
  #shownAt = Number.NEGATIVE_INFINITY
  #open = false

  /** @param doing - `Downloaded`, `Uploaded` */
  constructor(context: Context, doing: string) {
    this.#context = context
    this.#doing = doing
    this.#terminal = context.streams.stderr.isTTY === true && !context.environment.ci
  }

  show(progress: Progress): void {
    const {clock, log, streams} = this.#context
    const now = clock.now()
    if (now - this.#shownAt < (this.#terminal ? TERMINAL_EVERY_MS : LOG_EVERY_MS)) return
    this.#shownAt = now
    const text = this.#text(progress)
    if (this.#terminal) {
      this.#open = true
      streams.stderr.write(`\r\u001b[K${text}`)
    } else log.info(text)
  }

  /** Leaves the line for what comes next. */
  end(): void {
    if (this.#open) this.#context.streams.stderr.write('\r\u001b[K')
    this.#open = false
  }

  #text({bytes, totalBytes, bytesPerSecond, elapsedMs}: Progress): string {
    const of = totalBytes === undefined ? '' : ` of ${displaySize(totalBytes)}`
    return `${this.#doing} ${displaySize(bytes)}${of}, ${displaySize(Math.round(bytesPerSecond))}/s, ${formatDuration(elapsedMs)}`
  }
}
