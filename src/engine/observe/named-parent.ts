/** A parent that is named in text: any live object of its kind with that name or id, wherever it stands. */
import type {Problem} from '../../base/errors.ts'
import {type Declaration, sourceOf} from '../model/declaration.ts'
import type {Ids, Kind, Kinds} from '../model/kind.ts'
import type {Collection, LiveObject} from '../model/live.ts'
import type {Key} from '../model/value.ts'

/** What a name alone was found by, and the list that may have another one. */
export interface MaybeOne {
  readonly live: LiveObject
  readonly path: string
}

export interface NamedParentsInput {
  readonly kinds: Kinds
  /** Reads a collection of the account a stack speaks to, once. */
  readonly list: (stack: string, kind: Kind, parent: Ids) => Promise<Collection>
  /** What was found out to be wrong is added to these. */
  readonly ambiguous: Problem[]
  readonly problems: Problem[]
}

/** All objects of a kind, by id and by name. */
interface Everywhere {
  readonly byText: ReadonlyMap<string, readonly LiveObject[]>
  readonly proven: boolean
  /** All that was read to find them, with the lists of what they live in. */
  readonly lists: readonly Collection[]
}

export class NamedParents {
  readonly #input: NamedParentsInput
  /** By stack and kind: thousands of declarations may name their parents. */
  readonly #known = new Map<string, Promise<Everywhere>>()
  readonly #inVain = new Set<Collection>()
  readonly #unsure = new Map<Key, MaybeOne>()

  constructor(input: NamedParentsInput) {
    this.#input = input
  }

  /** Lists that do not show a parent somebody names: before it is called absent, each is to show by its own pages that it ends. */
  get searchedInVain(): readonly Collection[] {
    return [...this.#inVain]
  }

  /** Declarations whose parent was found by a name that another one may have, too: the lists could not be read whole. */
  get unsure(): ReadonlyMap<Key, MaybeOne> {
    return this.#unsure
  }

  /** @returns undefined for a parent that is not named in text, is not there, or is not clear */
  async of(declaration: Declaration): Promise<Ids | undefined> {
    const {kinds, ambiguous, problems} = this.#input
    const ref = declaration.parent
    const field = kinds.get(declaration.kind)?.parent
    const kind = kinds.get(field?.kind ?? '')
    if (field === undefined || kind === undefined || ref === undefined || ref.by === 'key' || ref.by === 'remoteId') return undefined
    const {byText, proven, lists} = await this.#everywhere(declaration.stack, kind)
    const fits = byText.get(ref.by === 'id' ? `id ${ref.id}` : `name ${ref.name}`) ?? []
    const [only, second] = fits
    if (only === undefined) for (const it of lists) this.#inVain.add(it)
    // A name that is taken once in its place may be taken in another place, too, which no list shows.
    const cut = kind.identity.unique && kind.parent === undefined ? undefined : lists.find(it => !it.proven)
    if (only !== undefined && ref.by === 'name' && cut) this.#unsure.set(declaration.key, {live: only, path: cut.path})
    const said = JSON.stringify(ref.by === 'id' ? ref.id : ref.name)
    if (second !== undefined) {
      ambiguous.push({
        address: declaration.key,
        message: `${fits.length} live ${kind.noun}s fit ${said}: ${fits.map(it => it.remoteId).join(', ')}`,
        ...sourceOf(declaration),
      })
    } else if (only === undefined && proven) {
      problems.push({
        address: declaration.key,
        path: `/${field.field}`,
        message: `there is no ${kind.noun} ${said}`,
        ...sourceOf(declaration),
      })
    }
    return second === undefined ? only?.ids : undefined
  }

  #everywhere(stack: string, kind: Kind): Promise<Everywhere> {
    const at = `${stack} ${kind.name}`
    const known = this.#known.get(at) ?? this.#lists(stack, kind).then(indexed)
    this.#known.set(at, known)
    return known
  }

  /** Those of the kind, and above them those of what it lives in. */
  async #lists(stack: string, kind: Kind): Promise<{readonly lists: readonly Collection[]; readonly above: readonly Collection[]}> {
    const holder = kind.parent && this.#input.kinds.get(kind.parent.kind)
    const over = holder && (await this.#lists(stack, holder))
    const parents = over ? over.lists.flatMap(it => it.objects.map(live => live.ids)) : [[]]
    const lists = await Promise.all(parents.map(parent => this.#input.list(stack, kind, parent)))
    return {lists, above: over ? [...over.above, ...over.lists] : []}
  }
}

function indexed({lists, above}: {readonly lists: readonly Collection[]; readonly above: readonly Collection[]}): Everywhere {
  const byText = new Map<string, LiveObject[]>()
  const add = (text: string, live: LiveObject) => {
    const same = byText.get(text)
    if (same) same.push(live)
    else byText.set(text, [live])
  }
  for (const live of lists.flatMap(it => it.objects)) {
    add(`id ${live.ids.at(-1) ?? ''}`, live)
    if (live.name !== undefined) add(`name ${live.name}`, live)
  }
  return {byText, proven: lists.every(it => it.proven), lists: [...above, ...lists]}
}
