/**
 * What stays keeps its name, so that whoever would take that stays too, and so on to the end of a chain. All of it is found at
 * once: a plan is not made anew for each link.
 */
import {addTo} from '../../base/many.ts'
import type {Operation} from '../model/plan.ts'
import {openLeaves} from '../model/resolve.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import type {Observation} from '../observe/observation.ts'

/** What an operation would take. */
export interface Wish {
  readonly operation: Operation
  /** Whoever has it now, with the word of what that would have to leave. */
  readonly holders: readonly {readonly remoteId: string; readonly place: string}[]
}

/**
 * The wishes that do not come true, each with who keeps what it would take.
 *
 * @param leaves - the places that an operation leaves where it is not blocked
 * @param follows - whether one may be blocked in turn here; of the others the next plan tells
 */
export function blockedInTurn<T extends Wish>(
  wishes: readonly T[],
  operations: readonly Operation[],
  leaves: (it: Operation) => readonly string[],
  {pairs}: Pick<Observation, 'pairs'>,
  follows: (it: Operation) => boolean,
): (readonly [T, string])[] {
  const leaving = new Map<string, number>()
  for (const it of operations) for (const place of leaves(it)) leaving.set(place, (leaving.get(place) ?? 0) + 1)
  const wanted = new Map<string, T[]>()
  for (const it of wishes) for (const place of new Set(it.holders.map(holder => holder.place))) addTo(wanted, place, it)
  const blocked = new Map<T, string>()
  const anew = new PlannedAnew(pairs)
  for (let asked: Iterable<T> = wishes; ; ) {
    const next: (readonly [T, string])[] = []
    for (const it of asked) {
      const holder = blocked.has(it) ? undefined : it.holders.find(({place}) => !leaving.has(place))
      if (holder !== undefined) next.push([it, holder.remoteId])
    }
    if (next.length === 0) return [...blocked]
    const kept: string[] = []
    for (const [wish, holder] of next) {
      blocked.set(wish, holder)
      if (wish.operation.action === 'replace') anew.add(keyOfOperation(wish.operation))
      for (const place of leaves(wish.operation)) {
        const others = (leaving.get(place) ?? 0) - 1
        if (others > 0) leaving.set(place, others)
        else if (leaving.delete(place)) kept.push(place)
      }
    }
    const waiting = new Set(kept.flatMap(place => wanted.get(place) ?? []))
    // What is planned otherwise by now is judged as what it is then.
    asked = [...waiting].filter(({operation}) => follows(operation) && !anew.has(keyOfOperation(operation)))
  }
}

/** What is planned otherwise where some objects are not replaced after all: whatever is in them or reads them, and so on. */
class PlannedAnew {
  readonly #pairs: Observation['pairs']
  readonly #keys = new Set<Key>()
  #hanging: ReadonlyMap<Key, readonly Key[]> | undefined

  constructor(pairs: Observation['pairs']) {
    this.#pairs = pairs
  }

  add(kept: Key): void {
    this.#hanging ??= this.#hangingOn()
    const more = [kept]
    for (let key = more.pop(); key !== undefined; key = more.pop()) {
      for (const it of this.#hanging.get(key) ?? []) {
        if (this.#keys.has(it)) continue
        this.#keys.add(it)
        more.push(it)
      }
    }
  }

  has(key: Key): boolean {
    return this.#keys.has(key)
  }

  #hangingOn(): ReadonlyMap<Key, readonly Key[]> {
    const found = new Map<Key, Key[]>()
    for (const [key, {declaration}] of this.#pairs) {
      const {parent, spec} = declaration
      if (parent?.by === 'key') addTo(found, parent.key, key)
      for (const {leaf} of openLeaves(spec)) for (const need of leaf.needs) addTo(found, need, key)
    }
    return found
  }
}
