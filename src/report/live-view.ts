/** An apply on a terminal: a few lines that are drawn again and again, counts first, then what is busy the longest. */
import type {Ansis} from 'ansis'
import {formatDuration} from '../base/duration.ts'
import type {Key} from '../engine/model/value.ts'
import {boundBy} from './bound-by.ts'
import {RunningObjects, titleOf} from './running-objects.ts'
import {fitTo, type Measure} from './terminal-text.ts'

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface LiveViewOptions {
  readonly paint: Ansis
  readonly now: () => number
  /** As of `RunningObjects`. */
  readonly awake?: () => number
  readonly several: boolean
  /** Construct paths of the objects that have one. */
  readonly constructs?: ReadonlyMap<Key, string>
  readonly measure: Measure
}

/** More objects than this say less. */
const MOST_ROWS = 10

export class LiveView extends RunningObjects {
  readonly #options: LiveViewOptions

  constructor(options: LiveViewOptions) {
    super(options.now, options.awake)
    this.#options = options
  }

  /** The picture of this moment, at most half the terminal; no lines when nothing goes on. */
  frame({columns, rows}: Size): string[] {
    const {paint, now, several, constructs, measure} = this.#options
    const cut = (text: string) => fitTo(text, Math.max(10, columns - 1), measure)
    if (this.begun === undefined) return this.reading === undefined ? [] : [cut(`${this.reading} ...`)]
    const places = Math.max(1, Math.min(MOST_ROWS, Math.floor(rows / 2) - 2))
    const {running} = this
    const shown = running.slice(0, places).map(({key, action, step, since, doing}) => {
      const what = step === action ? action : `${action} (${step})`
      return cut(
        `  ${titleOf(key, several, constructs?.get(key))}: ${what}, ${clockText(now() - since)}${doing === '' ? '' : `, ${doing}`}`,
      )
    })
    const more = running.length - shown.length
    return [paint.bold(cut(this.#headline(this.begun))), ...shown, ...(more > 0 ? [paint.dim(cut(`  … and ${more} more`))] : [])]
  }

  #headline(begun: number): string {
    const {now} = this.#options
    const ended = [...this.counts].filter(([, count]) => count > 0)
    const trouble = ended.filter(([state]) => state !== 'done' && state !== 'no-op').map(([state, count]) => `, ${count} ${state}`)
    const proving = this.proving > 0 ? `, proving ${this.proving}` : ''
    return `${this.over} of ${this.total} done${trouble.join('')}, ${this.running.length} in progress${proving}, ${clockText(now() - begun)}${leftText(this.left)}`
  }
}

const leftText = (left: RunningObjects['left']): string =>
  left === undefined ? '' : `, about ${clockText(left.ms)} left (${boundBy(left.bound)})`

/** In whole seconds: the last digit would flicker. */
const clockText = (ms: number): string => (ms < 1000 ? '0 s' : formatDuration(Math.floor(ms / 1000) * 1000))
