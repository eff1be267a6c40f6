/**
 * An owned object that its list does not show is read by its id before it is called gone: lists lag behind, move while
 * they are read, and end early. One GET for each, and none where nothing is missing. So are singletons, which no list shows,
 * and so is what was deleted a moment ago and stands in its list still.
 */
import type {Backend} from '../model/backend.ts'
import {type Ids, type Kind, remoteIdOf} from '../model/kind.ts'
import {type Collection, type LiveObject, liveObject, readObject} from '../model/live.ts'

export interface NotShown {
  readonly backend: Backend
  readonly kind: Kind
  readonly ids: Ids
}

export class ReadById {
  readonly #singletons = new Map<Backend, Map<string, Promise<Collection>>>()
  readonly #asked = new Map<Backend, Map<string, LiveObject | undefined>>()
  /** Shown by their lists, and not there. */
  readonly #gone = new Map<Backend, Set<string>>()
  readonly #doubted = new Map<Backend, Set<string>>()

  /** A singleton has no list that would be shared: it is read once, however often the levels are walked. */
  once(backend: Backend, kind: Kind, read: () => Promise<Collection>): Promise<Collection> {
    const ofBackend = this.#singletons.get(backend) ?? new Map<string, Promise<Collection>>()
    this.#singletons.set(backend, ofBackend)
    const known = ofBackend.get(kind.name) ?? read()
    ofBackend.set(kind.name, known)
    return known
  }

  /** @returns whether anything was there after all */
  async ask(missing: readonly NotShown[]): Promise<boolean> {
    const open = new Map<string, NotShown & {readonly answers: Map<string, LiveObject | undefined>}>()
    const backends = [...new Set(missing.map(it => it.backend))]
    for (const it of missing) {
      const answers = this.#asked.get(it.backend) ?? new Map<string, LiveObject | undefined>()
      this.#asked.set(it.backend, answers)
      const remoteId = remoteIdOf(it.kind, it.ids)
      if (!answers.has(remoteId)) open.set(`${backends.indexOf(it.backend)} ${remoteId}`, {...it, answers})
    }
    const found = await Promise.all([...open.values()].map(it => this.#read(it, it.answers)))
    return found.some(it => it)
  }

  /**
   * @param shown - what lists show although it was deleted
   * @returns whether anything of it is not there any more
   */
  async doubt(shown: readonly NotShown[]): Promise<boolean> {
    const asked = await Promise.all(shown.map(it => this.#isGone(it)))
    return asked.some(it => it)
  }

  async #isGone({backend, kind, ids}: NotShown): Promise<boolean> {
    const remoteId = remoteIdOf(kind, ids)
    const doubted = setOf(this.#doubted, backend)
    const isAsked = !doubted.has(remoteId) && kind.verbs.read !== undefined
    doubted.add(remoteId)
    if (!isAsked || (await readObject(backend, kind, ids, {kept: true})) !== undefined) return false
    setOf(this.#gone, backend).add(remoteId)
    return true
  }

  async #read({backend, kind, ids}: NotShown, answers: Map<string, LiveObject | undefined>): Promise<boolean> {
    const row = await readObject(backend, kind, ids, {kept: true})
    const live = row && liveObject(kind, ids.slice(0, -1), row, ids.at(-1))
    answers.set(remoteIdOf(kind, ids), live)
    return live !== undefined
  }

  /** The collection with what only its own GET showed, and without what that showed to be gone. */
  completed(listed: Collection): Collection {
    const gone = this.#gone.get(listed.backend)
    const collection = gone ? {...listed, objects: listed.objects.filter(it => !gone.has(it.remoteId))} : listed
    const answers = this.#asked.get(collection.backend)
    if (answers === undefined || collection.gone) return collection
    const shown = new Set(collection.objects.map(it => it.remoteId))
    const others = [...answers.values()].filter(it => it !== undefined && it.kind === collection.kind && !shown.has(it.remoteId))
    const here = others.flatMap(it => (it !== undefined && sameIds(it.ids.slice(0, -1), collection.parent) ? it : []))
    if (here.length === 0) return collection
    return {...collection, objects: [...collection.objects, ...here].sort((a, b) => (a.remoteId < b.remoteId ? -1 : 1))}
  }
}

function setOf(sets: Map<Backend, Set<string>>, backend: Backend): Set<string> {
  const known = sets.get(backend) ?? new Set<string>()
  sets.set(backend, known)
  return known
}

const sameIds = (a: Ids, b: Ids): boolean => a.length === b.length && a.every((id, i) => id === b[i])
