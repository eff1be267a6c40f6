/** How long changes take at an API, learned from runs: for the bill and the ETA of the next one. In the state folder. */
import {join} from 'node:path'
import type {Step} from '../../engine/model/events.ts'
import type {Host} from './host.ts'
import {LearnedNumbers} from './learned-numbers.ts'

/** A guess until something is learned: how long a change takes, task and readiness together. */
const USUAL_MS = 10_000
/** How much a new measurement counts. */
const WEIGHT = 0.3

export class LearnedDurations {
  readonly #ms: LearnedNumbers

  constructor({environment}: Pick<Host, 'environment'>) {
    this.#ms = new LearnedNumbers(join(environment.stateDir, 'durations.json'))
  }

  readonly of = (kind: string, step: Step): number => this.#ms.get(`${kind} ${step}`) ?? USUAL_MS

  readonly learn = (kind: string, step: Step, ms: number): void => {
    const before = this.#ms.get(`${kind} ${step}`)
    this.#ms.set(`${kind} ${step}`, Math.round(before === undefined ? ms : before + WEIGHT * (ms - before)))
  }

  /** @returns whether it was written */
  save = (): boolean => this.#ms.save()
}
