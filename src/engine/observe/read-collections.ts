/** What one walk over the levels has read so far, and what may be concluded from it. */

import type {Api} from '../../base/apis.ts'
import type {Backend} from '../model/backend.ts'
import type {Declaration} from '../model/declaration.ts'
import {type Ids, idsIn, type Kind, type Kinds, kindCalled, remoteIdOf} from '../model/kind.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import {type Collection, type LiveObject, objectIn, readCollection} from '../model/live.ts'
import type {ValueObject} from '../model/value.ts'
import {type Doubt, doubtOf, notWhole} from './absence.ts'
import type {NotShown, ReadById} from './read-by-id.ts'

export interface ReadCollectionsInput {
  readonly kinds: Kinds
  readonly backendOf: (stack: string, api: Api) => Backend
}

/** An object as a ledger or an import block names it. */
type Named = Pick<LedgerEntry, 'kind' | 'remoteId'>

export class ReadCollections {
  readonly #input: ReadCollectionsInput
  readonly #byId: ReadById
  readonly #kept = new Map<Backend, Map<string, Collection>>()

  constructor(input: ReadCollectionsInput, byId: ReadById) {
    this.#input = input
    this.#byId = byId
  }

  get all(): Collection[] {
    return [...this.#kept.values()].flatMap(it => [...it.values()])
  }

  at(backend: Backend, kind: Kind, parent: Ids): Collection | undefined {
    return this.#kept.get(backend)?.get(idOf(kind, parent))
  }

  of(stack: string, kind: Kind, parent: Ids): Collection | undefined {
    return this.at(this.#input.backendOf(stack, kind.api), kind, parent)
  }

  async read(stack: string, kind: Kind, parent: Ids): Promise<Collection> {
    return this.of(stack, kind, parent) ?? this.readAt(this.#input.backendOf(stack, kind.api), kind, parent)
  }

  async readAt(backend: Backend, kind: Kind, parent: Ids): Promise<Collection> {
    const read = () => readCollection(backend, kind, parent)
    const collection = this.#byId.completed(await (kind.singleton ? this.#byId.once(backend, kind, read) : read()))
    const kept = this.#kept.get(backend) ?? new Map<string, Collection>()
    this.#kept.set(backend, kept)
    kept.set(idOf(kind, parent), collection)
    return collection
  }

  live(stack: string, it: Named): LiveObject | undefined {
    const list = this.#around(stack, it)
    return list && objectIn(list, it.remoteId)
  }

  /** The nearest to the root of what an object's remote path names that a list was read for and does not show. */
  notShown(stack: string, {kind: name, remoteId}: Named): NotShown | undefined {
    const kind = this.#kind(name)
    const ids = idsIn(kind, remoteId) ?? []
    for (const [depth, at] of this.#fromRoot(kind).entries()) {
      const path = ids.slice(0, depth + 1)
      const list = path.length > depth ? this.of(stack, at, path.slice(0, -1)) : undefined
      if (list === undefined) continue
      if (list.gone) return undefined
      if (objectIn(list, remoteIdOf(at, path)) === undefined) return at.verbs.read && {backend: list.backend, kind: at, ids: path}
    }
    return undefined
  }

  /** What a list shows of an object that was deleted. */
  shownYet(stack: string, it: Named): NotShown | undefined {
    const list = this.#around(stack, it)
    const live = list && objectIn(list, it.remoteId)
    return live && {backend: list.backend, kind: live.kind, ids: live.ids}
  }

  /** Why nobody can tell whether a declared object that nothing was found for is there. */
  doubtOf(declaration: Declaration, spec: ValueObject, parent: Ids | undefined): Doubt | undefined {
    const kind = this.#kind(declaration.kind)
    const list = parent && this.of(declaration.stack, kind, parent)
    if (list !== undefined) return doubtOf(spec, kind, list)
    const named = declaration.parent?.by === 'name' || declaration.parent?.by === 'id'
    return parent === undefined && named ? notWhole(`the list of ${this.#kind(kind.parent?.kind ?? '').noun}s`) : undefined
  }

  /** Why nobody can tell whether an owned object is gone: it cannot be read by its id, and its list may hide it. */
  doubtOfEntry(stack: string, it: Named): Doubt | undefined {
    const list = this.#kind(it.kind).verbs.read ? undefined : this.#around(stack, it)
    return list === undefined || list.proven ? undefined : notWhole(list.path)
  }

  #around(stack: string, {kind: name, remoteId}: Named): Collection | undefined {
    const kind = this.#kind(name)
    const ids = idsIn(kind, remoteId)
    return ids && this.of(stack, kind, ids.slice(0, -1))
  }

  #fromRoot(kind: Kind): readonly Kind[] {
    const above = kind.parent && this.#input.kinds.get(kind.parent.kind)
    return [...(above ? this.#fromRoot(above) : []), kind]
  }

  #kind(name: string): Kind {
    return kindCalled(this.#input.kinds, name)
  }
}

const idOf = (kind: Kind, parent: Ids): string => `${kind.name} ${parent.join(' ')}`
