/**
 * Reads what a plan needs and nothing more: the lists its declarations and its ledgers' entries stand in, level by
 * level from the roots, and pairs as it goes, because a child's list can only be asked for when its parent is found.
 *
 * Lists are brought to a proof of completeness once all are read, so that one proof serves many of them (design
 * section 10, Paging); where that turns up more rows, the levels are walked again over what is already read.
 */

import type {Problem} from '../base/errors.ts'
import type {JsonObject} from '../base/json.ts'
import type {Backend} from './backend.ts'
import {fetchSparse, resolveSpecs} from './complete-pairs.ts'
import type {Declaration, Evaluate, StackDeclarations} from './declaration.ts'
import {type Ids, idsIn, type Kind, type Kinds, remoteIdOf} from './kind.ts'
import type {Ledger, LedgerEntry} from './ledger.ts'
import {type Collection, type LiveObject, objectIn, readCollection} from './live.ts'
import {namedParent} from './named-parent.ts'
import {orphansOf} from './orphans.ts'
import {Ownership, type OwnershipInput} from './ownership.ts'
import {entryOf, type Match, pairCollection} from './pair.ts'
import {type Key, keyOf, type ValueObject} from './value.ts'
import {withContext} from './with-context.ts'

export interface ObserveInput extends OwnershipInput {
  /** Every stack of the app: what is not selected still counts as declared. */
  readonly stacks: readonly StackDeclarations[]
  /** The stacks this run is about. */
  readonly selected: ReadonlySet<string>
  readonly backendOf: (stack: string, api: Kind['api']) => Backend
  readonly evaluate: Evaluate
  readonly variable: (stack: string, name: string) => JsonObject[string] | undefined
  /** Narrows the read-set (`--target`, `apply PLAN`); default: everything selected. */
  readonly wants?: (key: Key) => boolean
  /** Takes nothing as declared: everything the ledgers own is an orphan. */
  readonly destroy?: boolean
}

export interface Paired {
  readonly declaration: Declaration
  /** The spec with everything filled in that is known before the apply. */
  readonly spec: ValueObject
  readonly match?: Match
  /** Ids of the parent; absent when the parent does not exist yet. */
  readonly parent?: Ids
  /** The ledger's object for this address where it lives in another parent than the declared one. */
  readonly stray?: LiveObject
  /** Not chosen itself: read because something chosen hangs on it, and otherwise left alone. */
  readonly context: boolean
}

/** A ledger entry no declaration stands for any more, with what is left of its object. */
export interface Orphan {
  readonly stack: string
  readonly entry: LedgerEntry
  /** Where it stands in the plan: beside its own address where that is declared and means another object now. */
  readonly address: string
  readonly live?: LiveObject
  /** Who has the same object: a ledger may hold it under two addresses, and it is not this one's to touch. */
  readonly heldBy?: Key
}

export interface Observation {
  readonly pairs: ReadonlyMap<Key, Paired>
  readonly orphans: readonly Orphan[]
  readonly collections: readonly Collection[]
  readonly ownership: Ownership
  readonly ambiguous: readonly Problem[]
  readonly problems: readonly Problem[]
}

export async function observe(input: ObserveInput): Promise<Observation> {
  const backends = new Set<Backend>()
  let pass = await new Pass(input, backends).run()
  // Proving may bring rows to light, and those may be parents of lists not read yet: hence again, and bounded.
  for (let round = 0; round < 8 && pass.collections.some(it => !it.proven); round++) {
    await Promise.all([...backends].map(backend => backend.reader.prove()))
    pass = await new Pass(input, backends).run()
  }
  const pairs = await fetchSparse(input, resolveSpecs(input, pass.pairs))
  return {...pass, pairs}
}

/** Kinds of the same depth: subscriptions and everything of the cluster, then databases and peerings, then ACLs. */
export function levelsOf(kinds: Kinds): Kind[][] {
  const levels: Kind[][] = []
  const depth = (kind: Kind): number => {
    const parent = kind.parent && kinds.get(kind.parent.kind)
    return parent ? depth(parent) + 1 : 0
  }
  for (const kind of kinds.values()) {
    const at = depth(kind)
    const level = levels[at] ?? []
    level.push(kind)
    levels[at] = level
  }
  return levels
}

interface Place {
  readonly backend: Backend
  readonly kind: Kind
  readonly parent: Ids
  readonly declarations: Declaration[]
}

class Pass {
  readonly #input: ObserveInput
  readonly #backends: Set<Backend>
  readonly #ownership: Ownership
  readonly #declared: ReadonlyMap<Key, string>
  readonly #declarations: readonly Declaration[]
  readonly #read: ReadonlySet<Key>
  readonly #stacks: ReadonlyMap<string, StackDeclarations>
  /** Those of other stacks too: an object this run only refers to is found where its ledger has it. */
  readonly #ledgers: ReadonlyMap<string, Ledger>
  readonly #matches = new Map<Key, Match>()
  readonly #parents = new Map<Key, Ids>()
  readonly #collections = new Map<Backend, Map<string, Collection>>()
  readonly #ambiguous: Problem[] = []
  readonly #problems: Problem[] = []

  constructor(input: ObserveInput, backends: Set<Backend>) {
    this.#input = input
    this.#backends = backends
    this.#ownership = new Ownership(input)
    this.#ledgers = new Map([...(input.otherLedgers ?? []).map(it => [it.stack, it] as const), ...input.ledgers])
    this.#stacks = new Map(input.stacks.map(it => [it.name, it]))
    this.#declared = new Map(input.stacks.flatMap(stack => stack.declarations.map(it => [it.key, it.kind] as const)))
    this.#declarations = input.destroy ? [] : withContext(input.stacks, it => this.#chosen(it))
    this.#read = new Set(this.#declarations.map(it => it.key))
  }

  #chosen({stack, key}: Declaration): boolean {
    return this.#input.selected.has(stack) && (this.#input.wants?.(key) ?? true)
  }

  async run(): Promise<Omit<Observation, 'pairs'> & {pairs: Map<Key, Paired>}> {
    const {selected, kinds, ledgers, wants = () => true} = this.#input
    const declarations = this.#declarations
    const entries = [...ledgers]
      .filter(([stack]) => selected.has(stack))
      .flatMap(([stack, ledger]) =>
        [...ledger.entries.values()].filter(entry => wants(keyOf(stack, entry.address))).map(entry => ({stack, entry})),
      )
    for (const level of levelsOf(kinds)) {
      const names = new Set(level.map(it => it.name))
      await this.#level(
        declarations.filter(it => names.has(it.kind)),
        entries.filter(it => names.has(it.entry.kind)),
      )
    }
    const claims = this.#claims()
    const orphans = orphansOf({
      entries,
      matches: this.#matches,
      declared: this.#input.destroy ? new Map() : this.#declared,
      objectOf: (stack, entry) => this.#objectOf(stack, {kind: this.#kind(entry.kind), remoteId: entry.remoteId}),
      claims,
      live: (stack, entry) => this.#liveOf(stack, entry),
    })
    const pairs = new Map<Key, Paired>()
    for (const declaration of declarations) {
      const match = this.#matches.get(declaration.key)
      const parent = this.#parents.get(declaration.key)
      const former = match === undefined ? entryOf(ledgers, {declaration}) : undefined
      const there = former && this.#liveOf(declaration.stack, former)
      const stray = there && !claims.has(this.#objectOf(declaration.stack, there)) ? there : undefined
      pairs.set(declaration.key, {
        declaration,
        spec: declaration.spec,
        ...(match ? {match} : {}),
        ...(parent ? {parent} : {}),
        ...(stray ? {stray} : {}),
        context: !this.#chosen(declaration),
      })
    }
    return {
      pairs,
      orphans,
      collections: this.#allCollections(),
      ownership: this.#ownership,
      ambiguous: this.#ambiguous,
      problems: this.#problems,
    }
  }

  /** One name for an object, whatever stack speaks of it: a remote path is a name within one account. */
  #objectOf(stack: string, {kind, remoteId}: Pick<LiveObject, 'kind' | 'remoteId'>): string {
    return `${this.#input.accountOf?.(stack, kind.api) ?? ''} ${remoteId}`
  }

  /** Who means which object, as far as the levels have been paired. */
  #claims(): Map<string, Key> {
    return new Map([...this.#matches].map(([key, {live}]) => [this.#objectOf(stackOf(key), live), key]))
  }

  #liveOf(stack: string, {kind: name, remoteId}: LedgerEntry): LiveObject | undefined {
    const kind = this.#kind(name)
    const ids = idsIn(kind, remoteId)
    const read = ids && this.#collections.get(this.#input.backendOf(stack, kind.api))?.get(collectionId(kind, ids.slice(0, -1)))
    return read && objectIn(read, remoteId)
  }

  #allCollections(): Collection[] {
    return [...this.#collections.values()].flatMap(it => [...it.values()])
  }

  async #level(declarations: readonly Declaration[], entries: readonly {stack: string; entry: LedgerEntry}[]): Promise<void> {
    const places = new Map<Backend, Map<string, Place>>()
    const place = (stack: string, kind: Kind, parent: Ids): Place => {
      const backend = this.#input.backendOf(stack, kind.api)
      this.#ownership.speaksFor(backend, stack, kind.api)
      const ofBackend = places.get(backend) ?? new Map<string, Place>()
      places.set(backend, ofBackend)
      const id = `${kind.name} ${parent.join(' ')}`
      const known = ofBackend.get(id) ?? {backend, kind, parent, declarations: []}
      ofBackend.set(id, known)
      return known
    }
    const named = declarations.filter(it => it.parent !== undefined && (it.parent.by === 'name' || it.parent.by === 'id'))
    const parents = new Map(await Promise.all(named.map(async it => [it.key, await this.#namedParent(it)] as const)))
    for (const declaration of declarations) {
      const kind = this.#kind(declaration.kind)
      const parent =
        kind.parent === undefined ? [] : parents.has(declaration.key) ? parents.get(declaration.key) : this.#parentIds(declaration)
      if (parent === undefined) continue
      this.#parents.set(declaration.key, parent)
      place(declaration.stack, kind, parent).declarations.push(declaration)
      for (const word of declaration.policy.exclusive) {
        // What an exclusive collection holds must be known even when nothing is declared in it; its own level reads it.
        if (kind.exclusive?.[word] === undefined)
          this.#problems.push({
            address: declaration.key,
            message: `policy.exclusive: a ${kind.noun} has no collection ${JSON.stringify(word)}`,
          })
      }
    }
    for (const {stack, entry} of entries) {
      const kind = this.#kind(entry.kind)
      const ids = idsIn(kind, entry.remoteId)
      if (ids && (ids.length < 2 || this.#exists(stack, kind, ids.slice(0, -1)))) place(stack, kind, ids.slice(0, -1))
    }
    for (const {stack, kind, parent} of this.#exclusivePlaces()) place(stack, kind, parent)
    for (const {stack, kind, parent} of this.#fullPlaces()) place(stack, kind, parent)
    const all = [...places.values()].flatMap(it => [...it.values()])
    await Promise.all(all.map(async it => this.#keep(await readCollection(it.backend, it.kind, it.parent))))
    for (const it of all) this.#pair(it)
  }

  /** The exclusive collections of this level, of parents matched a level above. */
  *#exclusivePlaces(): Iterable<{stack: string; kind: Kind; parent: Ids}> {
    for (const stack of this.#input.stacks) {
      if (!this.#input.selected.has(stack.name)) continue
      for (const parent of stack.declarations) {
        const live = this.#matches.get(parent.key)?.live
        if (live === undefined) continue
        for (const word of parent.policy.exclusive) {
          const name = this.#kind(parent.kind).exclusive?.[word]
          if (name === undefined) continue
          const kind = this.#kind(name)
          const read = this.#collections.get(this.#input.backendOf(stack.name, kind.api))?.has(collectionId(kind, live.ids))
          if (!read) yield {stack: stack.name, kind, parent: live.ids}
        }
      }
    }
  }

  /** What stands in the way of deleting a parent must be known: the lists it has to be empty of. */
  *#fullPlaces(): Iterable<{stack: string; kind: Kind; parent: Ids}> {
    const claims = this.#claims()
    for (const [stack, ledger] of this.#input.ledgers) {
      if (!this.#input.selected.has(stack)) continue
      for (const entry of ledger.entries.values()) {
        const kind = this.#kind(entry.kind)
        const key = keyOf(stack, entry.address)
        const stays = claims.has(this.#objectOf(stack, {kind, remoteId: entry.remoteId}))
        const left = this.#declared.get(key) === entry.kind && !this.#matches.has(key)
        if (kind.emptyOf === undefined || (!this.#input.destroy && (stays || left))) continue
        const ids = idsIn(kind, entry.remoteId)
        for (const name of kind.emptyOf) {
          const child = this.#kind(name)
          const known = this.#collections.get(this.#input.backendOf(stack, child.api))
          const around = ids && known?.get(collectionId(kind, ids.slice(0, -1)))
          if (around && objectIn(around, entry.remoteId) && !known?.has(collectionId(child, ids))) yield {stack, kind: child, parent: ids}
        }
      }
    }
  }

  #pair({backend, kind, parent, declarations}: Place): void {
    const collection = this.#collections.get(backend)?.get(collectionId(kind, parent))
    if (collection === undefined) return
    if (collection.gone && declarations.length > 0 && !kind.singleton) {
      for (const it of declarations) {
        if (it.parent?.by !== 'key')
          this.#problems.push({
            address: it.key,
            message: `its ${kind.parent?.field ?? 'parent'} does not exist (${collection.path} answers 404)`,
          })
      }
    }
    const pairing = pairCollection({
      kind,
      collection,
      declarations,
      ledgers: this.#ledgers,
      ownership: this.#ownership,
      stacks: this.#stacks,
      declared: this.#declared,
      read: key => this.#read.has(key),
    })
    for (const [key, match] of pairing.matches) this.#matches.set(key, match)
    this.#ambiguous.push(...pairing.ambiguous)
    this.#problems.push(...pairing.problems)
  }

  #namedParent(declaration: Declaration): Promise<Ids | undefined> {
    return namedParent(declaration, {
      kinds: this.#input.kinds,
      list: (kind, parent) => this.#list(declaration.stack, kind, parent),
      ambiguous: this.#ambiguous,
      problems: this.#problems,
    })
  }

  async #list(stack: string, kind: Kind, parent: Ids): Promise<Collection> {
    const backend = this.#input.backendOf(stack, kind.api)
    const known = this.#collections.get(backend)?.get(collectionId(kind, parent))
    if (known !== undefined) return known
    const read = await readCollection(backend, kind, parent)
    this.#keep(read)
    return read
  }

  #kind(name: string): Kind {
    const kind = this.#input.kinds.get(name)
    if (kind === undefined) throw new TypeError(`no kind ${name}`)
    return kind
  }

  #keep(collection: Collection): void {
    this.#backends.add(collection.backend)
    const kept = this.#collections.get(collection.backend) ?? new Map<string, Collection>()
    this.#collections.set(collection.backend, kept)
    kept.set(collectionId(collection.kind, collection.parent), collection)
  }

  /** Whether an object with these ids may still be there: false only when its own list was read and lacks it. */
  #exists(stack: string, child: Kind, ids: Ids): boolean {
    const kind = child.parent && this.#input.kinds.get(child.parent.kind)
    if (kind === undefined) return true
    const list = this.#collections.get(this.#input.backendOf(stack, kind.api))?.get(collectionId(kind, ids.slice(0, -1)))
    if (list === undefined) return ids.length < 2 || this.#exists(stack, kind, ids.slice(0, -1))
    return objectIn(list, remoteIdOf(kind, ids)) !== undefined
  }

  #parentIds(declaration: Declaration): Ids | undefined {
    const ref = declaration.parent
    if (ref?.by === 'key') return this.#matches.get(ref.key)?.live.ids
    const kind = ref?.by === 'remoteId' ? this.#input.kinds.get(this.#kind(declaration.kind).parent?.kind ?? '') : undefined
    return kind && ref?.by === 'remoteId' ? idsIn(kind, ref.remoteId) : undefined
  }
}

const stackOf = (key: Key): string => key.slice(0, key.indexOf(':'))

const collectionId = (kind: Kind, parent: Ids): string => `${kind.name} ${parent.join(' ')}`
