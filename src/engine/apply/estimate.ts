/** How much of a run is left, told as it shrinks. */

import type {Backend} from '../model/backend.ts'
import {accountsOfOperations} from '../model/ownership.ts'
import type {Operation} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import {billOf, stepsOf} from '../plan/bill.ts'
import type {RunOptions} from './run-context.ts'

/** The least time between two estimates. */
const EVERY_MS = 1_000
/** Where nothing is learned. */
const USUAL_MS = 10_000

export class Estimate {
  readonly #options: RunOptions
  readonly #all: readonly Operation[]
  readonly #left: Map<Key, Operation>
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(options: RunOptions, operations: readonly Operation[]) {
    this.#options = options
    this.#all = operations
    this.#left = new Map(operations.filter(it => stepsOf(it).length > 0).map(it => [keyOfOperation(it), it]))
  }

  ended(key: Key): void {
    if (this.#left.delete(key)) this.tell()
  }

  tell(): void {
    const {clock, emit, limits, durationMs = () => USUAL_MS, kinds, accountOf} = this.#options
    if (this.#left.size === 0 || clock.now() - this.#toldAt < EVERY_MS) return
    this.#toldAt = clock.now()
    const operations = [...this.#left.values()]
    const accountAt = accountsOfOperations(kinds, accountOf)
    const {ready: _, ...left} = billOf({operations, among: this.#all, ...this.#budget(operations), durationMs, limits, accountAt})
    emit({type: 'estimate', ...left})
  }

  /** The smallest of those that have a part in it. */
  #budget(operations: readonly Operation[]): {readonly perMinute: number; readonly tokens: number} {
    const {backendOf, kinds} = this.#options
    const backends = new Set<Backend>()
    for (const {stack, kind} of operations) {
      const api = kinds.get(kind)?.api
      if (api !== undefined) backends.add(backendOf(stack, api))
    }
    let least = {perMinute: Number.POSITIVE_INFINITY, tokens: 0}
    for (const {spending} of backends)
      if (spending.perMinute < least.perMinute) least = {perMinute: spending.perMinute, tokens: spending.available}
    return least
  }
}
