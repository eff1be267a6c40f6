/** When what happened in an apply, from its events: what the timeline of a report shows. */
import type {ApplyEvent} from '../../engine/model/events.ts'
import type {Key} from '../../engine/model/value.ts'
import type {Timeline, TimelineRow} from '../report.ts'

export class RecordedTimeline {
  readonly #now: () => number
  readonly #rows = new Map<Key, TimelineRow>()
  readonly #refusals: number[] = []
  #begun: number | undefined
  #ready = 0
  #proven: number | undefined

  /** @param now - milliseconds of a clock that nobody sets */
  constructor(now: () => number) {
    this.#now = now
  }

  on(event: ApplyEvent): void {
    switch (event.type) {
      case 'begin':
        this.#begun = this.#now()
        return
      case 'started':
        // Of a replacement the second step begins where the first one did.
        this.#row(event.key, 'sent', true)
        return
      case 'accepted':
        this.#row(event.key, 'task', true)
        return
      case 'waiting':
        if (event.for !== 'task') this.#row(event.key, 'settling', true)
        return
      case 'ended':
        if (this.#rows.has(event.key)) {
          this.#row(event.key, 'ready', false)
          this.#ready = this.#seconds()
        }
        return
      case 'proved':
        this.#proven = this.#seconds()
        return
      case 'reading':
      case 'held':
      case 'in doubt':
      case 'estimate':
      case 'recording':
      case 'proving':
      case 'warning':
      case 'end':
        return
      default:
        event satisfies never
    }
  }

  /** The server answered 429. */
  refused(): void {
    if (this.#begun !== undefined) this.#refusals.push(this.#seconds())
  }

  #seconds(): number {
    return this.#begun === undefined ? 0 : Math.round(this.#now() - this.#begun) / 1000
  }

  #row(key: Key, field: 'sent' | 'task' | 'settling' | 'ready', onlyFirst: boolean): void {
    const row = this.#rows.get(key) ?? {key, waiting: 0}
    if (!onlyFirst || row[field] === undefined) this.#rows.set(key, {...row, [field]: this.#seconds()})
  }

  /** `undefined` when nothing was carried out. */
  get timeline(): Timeline | undefined {
    if (this.#rows.size === 0) return undefined
    const seconds = Math.max(this.#ready, this.#proven ?? 0)
    return {
      is: 'actual',
      rows: [...this.#rows.values()],
      seconds,
      ready: this.#ready,
      refusals: [...this.#refusals],
      ...(this.#proven === undefined ? {} : {proven: this.#proven}),
    }
  }
}
