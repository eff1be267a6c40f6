/** What an apply is busy with, from its events: the one picture that lines and the live view are drawn from. */
import type {ApplyEvent, Stage, State} from '../engine/model/events.ts'
import type {Action} from '../engine/model/plan.ts'
import type {Key} from '../engine/model/value.ts'
import {oneLine} from './terminal-text.ts'

/** What takes less is not worth a word. */
const A_MOMENT_MS = 1_000
const BETWEEN_ANSWERS_MS = 250

export interface RunningObject {
  readonly key: Key
  readonly action: Action
  readonly step: Stage
  readonly since: number
  /** What it is waiting for, in words; empty before anything is known. */
  readonly doing: string
}

export class RunningObjects {
  readonly #now: () => number
  readonly #awake: () => number
  readonly #objects = new Map<Key, RunningObject>()
  readonly #counts = new Map<State, number>()
  #total = 0
  #begun: number | undefined
  #proving = 0
  #reading: {readonly doing: string; readonly since: number} | undefined
  #idleSince = Number.NEGATIVE_INFINITY
  #lastSince = 0
  #estimate: {readonly bound: string; readonly endsAt: number} | undefined

  /** @param awake - the same, without the time in which the program itself was what held everything up */
  constructor(now: () => number, awake: () => number = now) {
    this.#now = now
    this.#awake = awake
  }

  on(event: ApplyEvent): void {
    switch (event.type) {
      case 'reading':
        this.#reads(event.doing)
        return
      case 'begin':
        this.#begun = this.#now()
        this.#total = event.operations
        return
      case 'started':
        this.#objects.set(event.key, {key: event.key, action: event.action, step: event.step, since: this.#now(), doing: ''})
        return
      case 'accepted':
        this.#does(event.key, 'accepted')
        return
      case 'held':
        this.#does(event.key, `waiting: ${oneLine(event.reason)}`)
        return
      case 'waiting':
        this.#does(event.key, waitingText(event))
        return
      case 'estimate':
        this.#estimate = {bound: event.bound, endsAt: this.#now() + event.seconds * 1000}
        return
      case 'in doubt':
        this.#does(event.key, `looking whether the ${event.step} happened`)
        return
      case 'ended':
        this.#objects.delete(event.key)
        this.#counts.set(event.state, (this.#counts.get(event.state) ?? 0) + 1)
        return
      case 'proving':
        this.#proving = event.objects
        return
      case 'proved':
        this.#proving = 0
        return
      case 'end':
        this.#begun = undefined
        return
      case 'recording':
      case 'warning':
        return
      default:
        event satisfies never
    }
  }

  #reads(doing: string | undefined): void {
    const now = this.#awake()
    if (doing === undefined) {
      if (this.#reading !== undefined) this.#idleSince = now
      this.#reading = undefined
      return
    }
    // One answer after the other is one wait.
    const goesOn = this.#reading !== undefined || now - this.#idleSince <= BETWEEN_ANSWERS_MS
    if (!goesOn) this.#lastSince = now
    this.#reading = {doing: oneLine(doing), since: this.#lastSince}
  }

  /** What is waited for before anything is begun, once that takes longer than a moment. */
  get reading(): string | undefined {
    if (this.#begun !== undefined || this.#reading === undefined || this.#awake() - this.#reading.since < A_MOMENT_MS) return undefined
    return this.#reading.doing
  }

  #does(key: Key, doing: string): void {
    const known = this.#objects.get(key)
    if (known) this.#objects.set(key, {...known, doing})
  }

  /** Longest first. */
  get running(): readonly RunningObject[] {
    return [...this.#objects.values()]
  }

  get counts(): ReadonlyMap<State, number> {
    return this.#counts
  }

  /** How many have ended, however they did. */
  get over(): number {
    return [...this.#counts].reduce((sum, [state, count]) => (state === 'no-op' ? sum : sum + count), 0)
  }

  get total(): number {
    return this.#total
  }

  /** When the run began; `undefined` before it has and after its end. */
  get begun(): number | undefined {
    return this.#begun
  }

  /** Milliseconds that are left by the last estimate, and what they are bound by; `undefined` where there is none, or it is over. */
  get left(): {readonly ms: number; readonly bound: string} | undefined {
    if (this.#estimate === undefined) return undefined
    const ms = this.#estimate.endsAt - this.#now()
    return ms >= 1000 ? {ms, bound: this.#estimate.bound} : undefined
  }

  /** Objects that are being read back. */
  get proving(): number {
    return this.#proving
  }
}

function waitingText(event: Extract<ApplyEvent, {type: 'waiting'}>): string {
  const what = event.for === 'task' ? 'its task' : `it to be ${event.for}`
  return `waiting for ${what}${event.status === undefined ? '' : ` (${oneLine(event.status)})`}`
}

/**
 * An object as people see it: by its construct path, which they wrote, before the address, which cdktf made of it; with
 * its stack where there are several.
 */
export function titleOf(key: Key, several: boolean, construct?: string): string {
  const address = oneLine(several ? key : key.slice(key.indexOf(':') + 1))
  return construct === undefined ? address : `${oneLine(construct)} (${address})`
}
