/**
 * Lists from which a create follows: something that is declared does not stand in them, or a parent that is named. Each is proven by
 * its own pages. That another list of the API is longer says something about this one's cap only where all lists have the
 * same (design section 10, "Paging"), and a mistake would make a thing twice.
 */
import type {Backend} from '../model/backend.ts'
import type {Collection} from '../model/live.ts'
import type {Key} from '../model/value.ts'
import type {NamedParents} from './named-parent.ts'
import type {Paired} from './observation.ts'

interface Seen {
  readonly pairs: ReadonlyMap<Key, Paired>
  readonly collections: readonly Collection[]
  /** Whose lists did not show a parent that is named in text. */
  readonly namedParents: Pick<NamedParents, 'searchedInVain'>
}

export class ListsThatCreate {
  readonly #asked = new Map<Backend, Set<string>>()

  /** @returns whether a list was asked to prove itself: it may have more rows by now */
  async prove({pairs, collections, namedParents}: Seen): Promise<boolean> {
    const missing = new Set<string>()
    for (const {declaration, match, parent, context} of pairs.values())
      if (match === undefined && !context) missing.add(placeOf(declaration.kind, parent))
    const created = collections.filter(it => missing.has(placeOf(it.kind.name, it.parent)))
    const lists = [...created, ...namedParents.searchedInVain].filter(it => mayHideIt(it) && this.#isNew(it))
    await Promise.all(lists.map(({backend, path}) => backend.reader.prove({path, alone: true})))
    return lists.length > 0
  }

  #isNew({backend, path}: Collection): boolean {
    const asked = this.#asked.get(backend) ?? new Set()
    this.#asked.set(backend, asked)
    if (asked.has(path)) return false
    asked.add(path)
    return true
  }
}

/** A list without a row ends there, whatever its cap. */
const mayHideIt = ({kind, objects, withoutId}: Collection): boolean =>
  kind.verbs.create !== undefined && objects.length + withoutId.length > 0

const placeOf = (kind: string, parent: readonly string[] = []): string => `${kind} ${parent.join(' ')}`
