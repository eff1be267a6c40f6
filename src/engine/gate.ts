/**
 * Places in groups: how many changes may run at once in an account, in a subscription, in all. Who waits for a place
 * holds nothing meanwhile. A free place goes to who has most behind it, so that long paths begin early. Where only one
 * may be in a root object at a time, all its changes follow each other in any order, and what is begun there is brought
 * to its end first: small changes left for last would all come at once and wait for the budget.
 */
import {onAbort} from '../base/on-abort.ts'

export interface Group {
  readonly name: string
  readonly places: number
  /** Where places are counted by something: everybody with the same one shares a place (subscriptions with a change in them). */
  readonly shared?: string
  /** Of a root object's own group: the API it is of, whose other roots are likely to have as many places. */
  readonly root?: 'cloud' | 'cluster'
}

interface Waiter {
  readonly groups: readonly Group[]
  readonly behind: number
  readonly order: number
  readonly admit: () => void
}

export class Gate {
  /** Per group, how many are in it by what they share; who shares nothing counts alone. */
  readonly #taken = new Map<string, Map<string, number>>()
  /** Groups that turned out narrower than they were declared. */
  readonly #learned = new Map<string, number>()
  readonly #narrowRoots = new Map<'cloud' | 'cluster', Map<string, number>>()
  #waiting: Waiter[] = []
  #order = 0

  /**
   * Resolves with what gives the places back.
   * @param behind - the weight of the longest path that waits for this
   */
  async enter(groups: readonly Group[], behind: number, signal?: AbortSignal): Promise<() => void> {
    if (groups.length === 0) return () => {}
    signal?.throwIfAborted()
    if (!this.#fits(groups)) {
      await new Promise<void>((resolve, reject) => {
        let heard = () => {}
        const admit = () => {
          heard()
          resolve()
        }
        const waiter: Waiter = {groups, behind, order: this.#order++, admit}
        this.#waiting.push(waiter)
        if (signal === undefined) return
        heard = onAbort(signal, () => {
          this.#waiting = this.#waiting.filter(it => it !== waiter)
          reject(signal.reason)
        })
      })
    } else this.#take(groups)
    let given = false
    return () => {
      if (given) return
      given = true
      for (const {name, shared = ''} of groups) {
        const inside = this.#taken.get(name)
        const left = (inside?.get(shared) ?? 1) - 1
        if (left > 0) inside?.set(shared, left)
        else inside?.delete(shared)
      }
      this.#admit()
    }
  }

  /** The server refused the last one who came in: there is room for one less than are in it, and at least for one. */
  narrow({name, root}: Group): void {
    const places = Math.max(1, this.#used(name) - 1)
    this.#learned.set(name, places)
    if (root === undefined) return
    const roots = this.#narrowRoots.get(root) ?? new Map<string, number>()
    this.#narrowRoots.set(root, roots.set(name, places))
  }

  /** What a second root object showed to be the rule for all of them; one alone may be busy with somebody else's change. */
  placesInRoots(api: 'cloud' | 'cluster'): number | undefined {
    const roots = this.#narrowRoots.get(api)
    return roots === undefined || roots.size < 2 ? undefined : Math.max(...roots.values())
  }

  /** Something ended well: there may be room for one more. */
  widen(name: string): void {
    const places = this.#learned.get(name)
    if (places !== undefined) this.#learned.set(name, places + 1)
  }

  #used(name: string): number {
    const inside = this.#taken.get(name)
    if (inside === undefined) return 0
    const alone = inside.get('') ?? 0
    return alone + inside.size - (alone > 0 ? 1 : 0)
  }

  #fits(groups: readonly Group[]): boolean {
    return groups.every(group => {
      if (group.shared !== undefined && this.#taken.get(group.name)?.has(group.shared)) return true
      return this.#used(group.name) < this.#places(group)
    })
  }

  #places({name, places, root}: Group): number {
    return Math.min(places, this.#learned.get(name) ?? (root && this.placesInRoots(root)) ?? Number.POSITIVE_INFINITY)
  }

  #oneByOne({groups}: Waiter): boolean {
    return groups.some(it => it.root && this.#places(it) === 1)
  }

  /** Who goes first: those of one-by-one roots do not compete with the others. */
  #inTurn(): Waiter[] {
    const turns = this.#waiting.map(waiter => ({waiter, rank: this.#oneByOne(waiter) ? waiter.behind : -waiter.behind}))
    return turns.sort((a, b) => a.rank - b.rank || a.waiter.order - b.waiter.order).map(it => it.waiter)
  }

  #take(groups: readonly Group[]): void {
    for (const {name, shared = ''} of groups) {
      const inside = this.#taken.get(name) ?? new Map<string, number>()
      this.#taken.set(name, inside)
      inside.set(shared, (inside.get(shared) ?? 0) + 1)
    }
  }

  #admit(): void {
    if (this.#waiting.length === 0) return
    const left: Waiter[] = []
    for (const waiter of this.#inTurn()) {
      if (this.#fits(waiter.groups)) {
        this.#take(waiter.groups)
        waiter.admit()
      } else left.push(waiter)
    }
    this.#waiting = left
  }
}
