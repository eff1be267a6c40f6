/**
 * Finds what may go together without trying each with each: one object and one declaration in which a trait differs that
 * both have are not the same thing. The narrowest of the traits decides how many are left to be tried.
 */
import type {JsonObject} from '../../base/json.ts'
import {addTo} from '../../base/many.ts'
import type {Identity} from './kind.ts'

/**
 * Of live objects, or of what ledgers say of them, those that a declaration may mean: no other one matches it.
 * @param fieldsOf - what is known of one of them
 */
export function meantAmong<T>(
  {traits}: Pick<Identity, 'traits'>,
  items: readonly T[],
  fieldsOf: (it: T) => JsonObject,
): (spec: JsonObject) => readonly T[] {
  if (traits === undefined) return () => items
  const found = new ByTraits(items, (it, trait) => traits.shown(fieldsOf(it), trait))
  return spec => found.of(Object.entries(traits.said(spec)))
}

interface Trait {
  readonly having: ReadonlyMap<string, readonly number[]>
  readonly without: readonly number[]
}

const NONE: readonly number[] = []

export class ByTraits<T> {
  readonly #items: readonly T[]
  readonly #traitOf: (it: T, trait: string) => string | undefined
  readonly #traits = new Map<string, Trait>()

  /** @param traitOf - `undefined`: it says nothing of that */
  constructor(items: readonly T[], traitOf: (it: T, trait: string) => string | undefined) {
    this.#items = items
    this.#traitOf = traitOf
  }

  /** Those that have none of these traits otherwise, and perhaps some more, in their order: all where no trait is given. */
  of(traits: Iterable<readonly [string, string]>): readonly T[] {
    let narrowest: readonly [readonly number[], readonly number[]] | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [name, value] of traits) {
      const trait = this.#trait(name)
      const having = trait.having.get(value) ?? NONE
      const size = having.length + trait.without.length
      if (size >= least) continue
      least = size
      narrowest = [having, trait.without]
    }
    return narrowest === undefined ? this.#items : this.#inOrder(...narrowest)
  }

  #trait(name: string): Trait {
    const known = this.#traits.get(name)
    if (known !== undefined) return known
    const having = new Map<string, number[]>()
    const without: number[] = []
    for (const [at, it] of this.#items.entries()) {
      const value = this.#traitOf(it, name)
      if (value === undefined) without.push(at)
      else addTo(having, value, at)
    }
    const trait = {having, without}
    this.#traits.set(name, trait)
    return trait
  }

  #inOrder(some: readonly number[], others: readonly number[]): readonly T[] {
    const places = others.length === 0 ? some : [...some, ...others].sort((a, b) => a - b)
    return places.flatMap(at => this.#items[at] ?? [])
  }
}
