/**
 * Reads what a plan needs and nothing more: the lists its declarations and its ledgers' entries stand in, level by
 * level from the roots, and pairs as it goes, because a child's list can only be asked for when its parent is found.
 *
 * Lists are brought to a proof of completeness once all are read, so that one proof serves many of them (design
 * section 10, Paging); where that turns up more rows, the levels are walked again over what is already read.
 */

import type {Problem} from '../../base/errors.ts'
import {addAll} from '../../base/many.ts'
import type {Backend} from '../model/backend.ts'
import type {Declaration, StackDeclarations} from '../model/declaration.ts'
import {type Ids, idsIn, type Kind, kindCalled, remoteIdOf} from '../model/kind.ts'
import type {Ledger} from '../model/ledger.ts'
import {type LiveObject, objectIn} from '../model/live.ts'
import {Ownership} from '../model/ownership.ts'
import {type Key, keyOf, type ValueObject} from '../model/value.ts'
import {rowSaysLittle} from './absence.ts'
import {completePairs, namedAnew} from './complete-pairs.ts'
import {levelsOf} from './levels-of.ts'
import {ListsThatCreate} from './lists-that-create.ts'
import {liveSecrets} from './live-secrets.ts'
import {NamedParents} from './named-parent.ts'
import type {Observation, ObserveInput, Paired, Placed} from './observation.ts'
import {onlyOnes} from './only-ones.ts'
import {orphansOf, type Standing} from './orphans.ts'
import {entryOf, type Match, pairCollection, recorded, saidObject} from './pair.ts'
import {type NotShown, ReadById} from './read-by-id.ts'
import {ReadCollections} from './read-collections.ts'
import {RecordedAlike} from './recorded-alike.ts'
import {SparseRows} from './sparse-rows.ts'
import {withContext} from './with-context.ts'

export async function observe(input: ObserveInput): Promise<Observation> {
  const byId = new ReadById()
  const sparse = new SparseRows()
  const standsAlone = new ListsThatCreate()
  const specs = new Map<Key, ValueObject>()
  const look = () => new Pass(input, byId, sparse, specs).run()
  let pass = await look()
  for (;;) {
    // Proving may bring rows to light, and those may be parents of lists not read yet: hence again, and bounded.
    for (let round = 0; round < 8 && pass.collections.some(it => !it.proven); round++) {
      const backends = new Set(pass.collections.map(it => it.backend))
      await Promise.all([...backends].map(backend => backend.reader.prove()))
      pass = await look()
    }
    // What is missing will be made: its list is to show by its own pages that it ends.
    if (await standsAlone.prove(pass)) {
      pass = await look()
      continue
    }
    // So may asking by id, and each object is asked for once.
    if (await byId.ask(pass.notShown)) {
      pass = await look()
      continue
    }
    if ((await byId.doubt(pass.shownYet)) || (await sparse.ask())) {
      pass = await look()
      continue
    }
    const {notShown: _, shownYet: _shown, namedParents: _named, ...seen} = pass
    const observation = {...seen, pairs: await completePairs(input, onlyOnes(pass))}
    // So may a name that another object's fields give: whoever was not found without it is looked for by it.
    const named = namedAnew(input, observation.pairs, specs)
    if (named.size > 0) {
      for (const [key, spec] of named) specs.set(key, spec)
      pass = await look()
      continue
    }
    if (input.learnsSecret) for (const {value, of} of liveSecrets(observation)) input.learnsSecret(value, of)
    return observation
  }
}

interface CollectionPlan {
  readonly backend: Backend
  readonly kind: Kind
  readonly parent: Ids
  readonly declarations: Declaration[]
}

/** An object whose list is read because somebody knows its id. */
interface Sought {
  readonly stack: string
  readonly object: Pick<Placed, 'kind' | 'remoteId'>
}

class Pass {
  readonly #input: ObserveInput
  readonly #specs: ReadonlyMap<Key, ValueObject>
  readonly #ownership: Ownership
  readonly #declared: ReadonlyMap<Key, string>
  readonly #declarations: readonly Declaration[]
  readonly #read: ReadonlySet<Key>
  /** What the ledgers of this run have, and what goes although none has it. */
  readonly #standing: readonly Standing[]
  readonly #expected: readonly Sought[]
  /** Remote paths by the keys of the declarations that mean them. */
  readonly #meant: ReadonlyMap<Key, string>
  readonly #stacks: ReadonlyMap<string, StackDeclarations>
  /** Those of other stacks too: an object this run only refers to is found where its ledger has it. */
  readonly #ledgers: ReadonlyMap<string, Ledger>
  readonly #matches = new Map<Key, Match>()
  readonly #parents = new Map<Key, Ids>()
  readonly #sparse: SparseRows
  readonly #collections: ReadCollections
  readonly #namedParents: NamedParents
  readonly #recordedAlike: RecordedAlike
  readonly #ambiguous: Problem[] = []
  readonly #problems: Problem[] = []

  /** @param specs - declarations with what is known by now of what they leave open */
  constructor(input: ObserveInput, byId: ReadById, sparse: SparseRows, specs: ReadonlyMap<Key, ValueObject>) {
    this.#input = input
    this.#sparse = sparse
    sparse.startOver()
    this.#specs = specs
    this.#collections = new ReadCollections(input, byId)
    this.#namedParents = new NamedParents({
      kinds: input.kinds,
      list: (stack, kind, parent) => this.#collections.read(stack, kind, parent),
      ambiguous: this.#ambiguous,
      problems: this.#problems,
    })
    this.#recordedAlike = new RecordedAlike(input)
    this.#ownership = new Ownership(input)
    this.#ledgers = new Map([...(input.otherLedgers ?? []).map(it => [it.stack, it] as const), ...input.ledgers])
    this.#stacks = new Map(input.stacks.map(it => [it.name, it]))
    this.#declared = new Map(input.stacks.flatMap(stack => stack.declarations.map(it => [it.key, it.kind] as const)))
    this.#declarations = input.destroy ? [] : withContext(input.stacks, it => this.#chosen(it))
    this.#read = new Set(this.#declarations.map(it => it.key))
    this.#standing = standingIn(input)
    const expected = input.expected ?? []
    this.#expected = expected.map(({stack, ...object}) => ({stack, object}))
    this.#meant = new Map(expected.flatMap(({meantBy, remoteId}) => (meantBy === undefined ? [] : [[meantBy, remoteId] as const])))
  }

  #specOf({key, spec}: Declaration): ValueObject {
    return this.#specs.get(key) ?? spec
  }

  #chosen({stack, key}: Declaration): boolean {
    return this.#input.selected.has(stack) && (this.#input.wants?.(key) ?? true)
  }

  async run(): Promise<
    Omit<Observation, 'pairs'> & {
      readonly pairs: Map<Key, Paired>
      readonly notShown: readonly NotShown[]
      readonly shownYet: readonly NotShown[]
      readonly namedParents: NamedParents
    }
  > {
    const {kinds, ledgers, selected, deleted = [], wants = () => true} = this.#input
    const declarations = this.#declarations
    const objects = this.#standing.filter(it => wants(keyOf(it.stack, it.object.address)))
    for (const level of levelsOf(kinds)) {
      const names = new Set(level.map(it => it.name))
      await this.#level(
        declarations.filter(it => names.has(it.kind)),
        [...objects, ...this.#expected].filter(it => names.has(it.object.kind)),
      )
    }
    const claims = this.#claims()
    this.#oneDeclarationEach(claims)
    const context = new Set(declarations.flatMap(it => (this.#chosen(it) ? [] : it.key)))
    const orphans = orphansOf({
      objects,
      matches: this.#matches,
      declared: this.#input.destroy ? new Map() : this.#declared,
      objectOf: (stack, {kind, remoteId}) => this.#objectOf(stack, {kind: this.#kind(kind), remoteId}),
      claims,
      planned: key => !context.has(key),
      live: (stack, object) => this.#collections.live(stack, object),
      doubt: (stack, object) => this.#collections.doubtOfEntry(stack, object),
    })
    const pairs = new Map<Key, Paired>()
    for (const declaration of declarations) {
      const match = this.#matches.get(declaration.key)
      const parent = this.#parents.get(declaration.key)
      const former = match === undefined ? entryOf(ledgers, {declaration}) : undefined
      const there = former && this.#collections.live(declaration.stack, former)
      const claimer = there && claims.get(this.#objectOf(declaration.stack, there))
      // What somebody means who is not planned is not handed over by this run.
      const isMeantBesides = there !== undefined && this.#input.meantBesides?.get(declaration.key) === there.remoteId
      const stray = !isMeantBesides && (claimer === undefined || context.has(claimer)) ? there : undefined
      const open = context.has(declaration.key) ? undefined : this.#openRow(declaration, claims)
      const unsure = match === undefined ? this.#collections.doubtOf(declaration, this.#specOf(declaration), parent) : undefined
      const doubt = match === undefined && open !== undefined ? (unsure ?? rowSaysLittle(open)) : unsure
      pairs.set(declaration.key, {
        declaration,
        spec: declaration.spec,
        ...(match ? {match} : {}),
        ...(parent ? {parent} : {}),
        ...(stray ? {stray} : {}),
        ...(there && !stray ? {givenAway: true as const} : {}),
        ...(doubt ? {doubt} : {}),
        context: context.has(declaration.key),
      })
    }
    const imported = declarations.flatMap(({stack, kind, importId}) =>
      importId === undefined ? [] : {stack, object: {kind, remoteId: importId}},
    )
    const unfound = declarations.filter(it => !this.#matches.has(it.key))
    const recorded = unfound.flatMap(it =>
      this.#recordedAlike.of(it, this.#specOf(it), this.#parents.get(it.key)).map(object => ({stack: it.stack, object})),
    )
    const said = declarations.flatMap(it => {
      const remoteId = saidObject(this.#kind(it.kind), this.#specOf(it), this.#parents.get(it.key) ?? [])
      return remoteId === undefined ? [] : {stack: it.stack, object: {kind: it.kind, remoteId}}
    })
    const sought = [...objects, ...this.#expected, ...imported, ...said, ...recorded]
    return {
      pairs,
      orphans,
      notShown: sought.flatMap(({stack, object}) => this.#collections.notShown(stack, object) ?? []),
      shownYet: deleted.flatMap(it => (selected.has(it.stack) ? (this.#collections.shownYet(it.stack, it) ?? []) : [])),
      namedParents: this.#namedParents,
      collections: this.#collections.all,
      ownership: this.#ownership,
      ambiguous: this.#ambiguous,
      problems: this.#problems,
    }
  }

  /** What may be the object of a declaration and cannot be told yet. */
  #openRow(declaration: Declaration, claims: ReadonlyMap<string, Key>): LiveObject | undefined {
    const {stack, key, kind} = declaration
    const parent = this.#parents.get(key)
    const list = parent && this.#collections.of(stack, this.#kind(kind), parent)
    const isFree = (it: LiveObject) =>
      [undefined, key].includes(claims.get(this.#objectOf(stack, it))) &&
      list &&
      this.#ownership.at(list.backend, it.remoteId) === undefined
    const match = this.#matches.get(key)
    const known = match && list && recorded(match.live, this.#ownership, list)
    return this.#sparse.openFor(this.#specOf(declaration), match, known, list, it => isFree(it) === true)
  }

  /** One name for an object, whatever stack speaks of it: a remote path is a name within one account. */
  #objectOf(stack: string, {kind, remoteId}: Pick<LiveObject, 'kind' | 'remoteId'>): string {
    return `${this.#input.accountOf?.(stack, kind.api) ?? ''} ${remoteId}`
  }

  /** Who means which object, as far as the levels have been paired. */
  #claims(): Map<string, Key> {
    return new Map([...this.#matches].map(([key, {live}]) => [this.#objectOf(stackOf(key), live), key]))
  }

  /** Two connections may lead to one account: what each of them pairs is one object all the same. */
  #oneDeclarationEach(claims: ReadonlyMap<string, Key>): void {
    if (claims.size === this.#matches.size) return
    for (const [key, {live}] of this.#matches) {
      const other = claims.get(this.#objectOf(stackOf(key), live))
      if (other === undefined || other === key || !this.#read.has(key)) continue
      this.#problems.push({
        address: key,
        message: `means ${live.remoteId}, which ${other} has already; one object can have one declaration`,
      })
    }
  }

  async #level(declarations: readonly Declaration[], objects: readonly Sought[]): Promise<void> {
    const places = new Map<Backend, Map<string, CollectionPlan>>()
    const place = (stack: string, kind: Kind, parent: Ids): CollectionPlan => {
      const backend = this.#input.backendOf(stack, kind.api)
      this.#ownership.speaksFor(backend, stack, kind.api)
      const ofBackend = places.get(backend) ?? new Map<string, CollectionPlan>()
      places.set(backend, ofBackend)
      const id = `${kind.name} ${parent.join(' ')}`
      const known = ofBackend.get(id) ?? {backend, kind, parent, declarations: []}
      ofBackend.set(id, known)
      return known
    }
    const named = declarations.filter(it => it.parent !== undefined && (it.parent.by === 'name' || it.parent.by === 'id'))
    const parents = new Map(await Promise.all(named.map(async it => [it.key, await this.#namedParents.of(it)] as const)))
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
    for (const {stack, object} of objects) {
      const kind = this.#kind(object.kind)
      const ids = idsIn(kind, object.remoteId)
      if (ids && (ids.length < 2 || this.#exists(stack, kind, ids.slice(0, -1)))) place(stack, kind, ids.slice(0, -1))
    }
    for (const {stack, kind, parent} of this.#exclusivePlaces()) place(stack, kind, parent)
    for (const {stack, kind, parent} of this.#fullPlaces()) place(stack, kind, parent)
    const all = [...places.values()].flatMap(it => [...it.values()])
    await Promise.all(all.map(it => this.#collections.readAt(it.backend, it.kind, it.parent)))
    for (const it of all) this.#pair(it)
  }

  /** The exclusive collections of this level, of parents matched a level above. */
  *#exclusivePlaces(): Iterable<{stack: string; kind: Kind; parent: Ids}> {
    for (const stack of this.#input.stacks) {
      if (!this.#input.selected.has(stack.name)) continue
      for (const parent of stack.declarations) {
        const live = parent.policy.exclusive.length > 0 && this.#chosen(parent) ? this.#matches.get(parent.key)?.live : undefined
        if (live === undefined) continue
        for (const word of parent.policy.exclusive) {
          const name = this.#kind(parent.kind).exclusive?.[word]
          if (name === undefined) continue
          const kind = this.#kind(name)
          if (this.#collections.of(stack.name, kind, live.ids) === undefined) yield {stack: stack.name, kind, parent: live.ids}
        }
      }
    }
  }

  /** What stands in the way of deleting a parent must be known: the lists it has to be empty of. */
  *#fullPlaces(): Iterable<{stack: string; kind: Kind; parent: Ids}> {
    const full = this.#standing.filter(it => this.#kind(it.object.kind).emptyOf !== undefined)
    const claims = full.length > 0 ? this.#claims() : new Map<string, Key>()
    for (const {stack, object} of full) {
      const kind = this.#kind(object.kind)
      const key = keyOf(stack, object.address)
      const stays = claims.has(this.#objectOf(stack, {kind, remoteId: object.remoteId}))
      const left = this.#declared.get(key) === object.kind && !this.#matches.has(key)
      if (kind.emptyOf === undefined || (!this.#input.destroy && (stays || left))) continue
      const ids = idsIn(kind, object.remoteId)
      for (const name of kind.emptyOf) {
        const child = this.#kind(name)
        const there = this.#collections.live(stack, object) !== undefined
        if (ids && there && this.#collections.of(stack, child, ids) === undefined) yield {stack, kind: child, parent: ids}
      }
    }
  }

  #pair({backend, kind, parent, declarations}: CollectionPlan): void {
    const collection = this.#collections.at(backend, kind, parent)
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
      collection: this.#sparse.completed(collection),
      declarations,
      ledgers: this.#ledgers,
      meant: this.#meant,
      ownership: this.#ownership,
      stacks: this.#stacks,
      specOf: it => this.#specOf(it),
      declared: this.#declared,
      read: key => this.#read.has(key),
    })
    for (const [key, match] of pairing.matches) this.#matches.set(key, match)
    addAll(this.#ambiguous, pairing.ambiguous)
    addAll(this.#problems, pairing.problems)
  }

  #kind(name: string): Kind {
    return kindCalled(this.#input.kinds, name)
  }

  /** Whether an object with these ids may still be there: false only when its own list was read and lacks it. */
  #exists(stack: string, child: Kind, ids: Ids): boolean {
    const kind = child.parent && this.#input.kinds.get(child.parent.kind)
    if (kind === undefined) return true
    const list = this.#collections.of(stack, kind, ids.slice(0, -1))
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

function standingIn({selected, ledgers, going = []}: ObserveInput): Standing[] {
  const owned = [...ledgers.values()].filter(it => selected.has(it.stack))
  return [
    ...owned.flatMap(({stack, entries}) => [...entries.values()].map(entry => ({stack, object: entry, entry}))),
    ...going.filter(it => selected.has(it.stack)).map(({stack, ...object}) => ({stack, object})),
  ]
}

const stackOf = (key: Key): string => key.slice(0, key.indexOf(':'))
