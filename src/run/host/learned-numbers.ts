/** Numbers that one run learns and the next one goes by: a file in the state folder. */

import {dirname} from 'node:path'
import {z} from 'zod'
import {writeFileAtomicSync} from '../../base/atomic-file.ts'
import {parseAnyJson} from '../../base/bounded-json.ts'
import {makeFolder} from '../../base/make-folder.ts'
import {systemCode} from '../../base/system-code.ts'
import {readKeptFileSync} from '../../base/whole-file.ts'

const schema = z.record(z.string(), z.number().nonnegative())

export class LearnedNumbers {
  readonly #path: string
  readonly #numbers: Record<string, number>
  #changed = false

  constructor(path: string) {
    this.#path = path
    this.#numbers = read(path)
  }

  get(name: string): number | undefined {
    return this.#numbers[name]
  }

  set(name: string, value: number): void {
    this.#numbers[name] = value
    this.#changed = true
  }

  /** What cannot be written is not worth failing for: it is only a better guess. @returns whether it was written */
  save(): boolean {
    if (!this.#changed) return true
    try {
      makeFolder(dirname(this.#path), 0o700)
      writeFileAtomicSync(this.#path, `${JSON.stringify(this.#numbers, Object.keys(this.#numbers).sort(), 2)}\n`, {mode: 0o600})
      return true
    } catch (error) {
      if (systemCode(error) === undefined) throw error
      return false
    }
  }
}

function read(path: string): Record<string, number> {
  try {
    const parsed = schema.safeParse(parseAnyJson(readKeptFileSync(path).toString()))
    return parsed.success ? {...parsed.data} : {}
  } catch {
    // Absent or unreadable: everything is learned anew.
    return {}
  }
}
