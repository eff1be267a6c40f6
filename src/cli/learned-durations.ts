/** How long changes take at an API, learned from runs: for the bill and the ETA of the next one. In the state folder. */
import {mkdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {z} from 'zod'
import {writeFileAtomicSync} from '../base/atomic-file.ts'
import {systemCode} from '../base/system-code.ts'
import type {Step} from '../engine/events.ts'
import type {Context} from './context.ts'

/** A guess until something is learned: how long a change takes, task and readiness together. */
const USUAL_MS = 10_000
/** How much a new measurement counts. */
const WEIGHT = 0.3

const schema = z.record(z.string(), z.number().nonnegative())

export class LearnedDurations {
  readonly #path: string
  readonly #ms: Record<string, number>
  #changed = false

  constructor({environment}: Pick<Context, 'environment'>) {
    this.#path = join(environment.stateDir, 'durations.json')
    this.#ms = read(this.#path)
  }

  readonly of = (kind: string, step: Step): number => this.#ms[`${kind} ${step}`] ?? USUAL_MS

  readonly learn = (kind: string, step: Step, ms: number): void => {
    const key = `${kind} ${step}`
    const before = this.#ms[key]
    this.#ms[key] = Math.round(before === undefined ? ms : before + WEIGHT * (ms - before))
    this.#changed = true
  }

  /** What cannot be written is not worth failing for: it is only a better guess. @returns whether it was written */
  save(): boolean {
    if (!this.#changed) return true
    try {
      mkdirSync(join(this.#path, '..'), {recursive: true, mode: 0o700})
      writeFileAtomicSync(this.#path, `${JSON.stringify(this.#ms, Object.keys(this.#ms).sort(), 2)}\n`, {mode: 0o600})
      return true
    } catch (error) {
      if (systemCode(error) === undefined) throw error
      return false
    }
  }
}

function read(path: string): Record<string, number> {
  try {
    const parsed = schema.safeParse(JSON.parse(readFileSync(path, 'utf8')))
    return parsed.success ? {...parsed.data} : {}
  } catch {
    // Absent or unreadable: everything is learned anew.
    return {}
  }
}
