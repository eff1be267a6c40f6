/**
 * Which live object a declaration means that this run does not plan: of a stack that is not selected, or left out by
 * `--target`; and which one a planned declaration may mean, nothing of which was found as not all of it is known yet. Told
 * from what is read anyway: no request is made for it. Where the parent cannot be told, the name alone decides, since an
 * object too many that is left alone is the lesser harm.
 */
import type {Api} from '../../base/apis.ts'
import type {JsonObject} from '../../base/json.ts'
import {addTo} from '../../base/many.ts'
import {ByTraits} from '../model/by-traits.ts'
import type {Declaration} from '../model/declaration.ts'
import {type Identity, type Ids, idsIn, type Kind, kindCalled, meansAnother} from '../model/kind.ts'
import type {Ledger, LedgerEntry} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import {mayBe, withSaidParts} from '../model/own-parts.ts'
import type {Operation} from '../model/plan.ts'
import {openLeaves, plainPart, saysWhich} from '../model/resolve.ts'
import {type Key, keyOf} from '../model/value.ts'
import {fits} from '../observe/pair.ts'
import type {PlanInput} from './plan-input.ts'

type Input = Pick<PlanInput, 'observation' | 'stacks' | 'selected' | 'ledgers' | 'otherLedgers' | 'accountOf' | 'kinds' | 'destroy'>

type Meaning = Pick<Operation, 'stack' | 'address' | 'kind' | 'remoteId' | 'declared'>

interface Meant {
  readonly declaration: Declaration
  readonly plain: JsonObject
  /** `undefined`: cannot be told. */
  readonly parent: Ids | undefined
  /** It is not known yet what it calls its object. */
  readonly nameless: boolean
  /** This run plans it: what it may mean is not removed, and else nobody's to leave alone. */
  readonly planned: boolean
}

/** Of a parent that cannot be told. */
const ANYWHERE = '?'

/**
 * Of a name that another object's fields give: what such a declaration means is not removed for want of that. No object is
 * called so: what an API shows has no NUL in it.
 */
const ANY_NAME = '\0'

export class DeclaredElsewhere {
  readonly #input: Input
  readonly #byId = new Map<string, Declaration>()
  /** By account, kind, and what a live object shows of it too: its name, or where that does not tell its parent. */
  readonly #byTrait = new Map<string, Meant[]>()
  /** The same, of kinds of which more than the name tells what is meant. */
  readonly #among = new Map<string, (live: JsonObject) => readonly Meant[]>()
  readonly #declarations = new Map<Key, Declaration>()
  readonly #ledgers = new Map<string, Ledger>()
  /** By account and remote path, by account and kind, and by these two and the name. */
  readonly #objects = new Map<string, LiveObject>()
  readonly #ofKind = new Map<string, LiveObject[]>()
  readonly #named = new Map<string, LiveObject[]>()
  /** Collections that are known whole, by account, kind and parent. */
  readonly #whole = new Set<string>()
  #recordedNames: ReadonlyMap<string, readonly Ids[]> | undefined
  /** By account, kind and parent, and by {@link ANYWHERE} for that. */
  #left: ReadonlyMap<string, readonly LiveObject[]> | undefined
  #indexed = false

  constructor(input: Input) {
    this.#input = input
  }

  /** The declaration that means an operation's object, and that no operation of this run is made from. */
  of({stack, address, kind: name, remoteId = '', declared}: Meaning): Declaration | undefined {
    this.#index()
    if (this.#declarations.size === 0) return undefined
    const kind = this.#kind(name)
    const account = this.#account(stack, kind.api)
    const known = this.#byId.get(`${account} ${remoteId}`)
    if (known !== undefined && !(known.stack === stack && known.address === address)) return known
    const live = this.#objects.get(`${account} ${remoteId}`)
    if (live === undefined) return undefined
    const parent = live.ids.slice(0, -1).join('/')
    const shown = withSaidParts(live, this.#input.observation.ownership.of(stack, kind.api, remoteId)?.entry.applied)
    const meant = kind.identity.matches
      ? [parent, ANYWHERE].flatMap(at => this.#meaning(kind, `${account} ${name} ${at}`, shown.fields))
      : [live.name ?? '', ...(declared ? [] : [ANY_NAME])].flatMap(it => this.#byTrait.get(`${account} ${name} ${it}`) ?? [])
    return meant.find(
      it =>
        ((kind.identity.matches?.(it.plain, shown.fields) ?? true) || (!declared && (it.nameless || mayBe(it.plain, shown)))) &&
        !(it.planned && declared) &&
        !(it.declaration.stack === stack && it.declaration.address === address) &&
        (it.parent === undefined || it.parent.join('/') === parent),
    )?.declaration
  }

  /** Of the declarations in one place, those that a live object may be meant by. */
  #meaning({identity: {traits}}: Kind, place: string, live: JsonObject): readonly Meant[] {
    const all = this.#byTrait.get(place)
    if (all === undefined || traits === undefined) return all ?? []
    const among = this.#among.get(place) ?? meaningAmong(all, traits)
    this.#among.set(place, among)
    return among(live)
  }

  /** Whether a declaration of what its ledger has would have that otherwise: another object, or the same one by another name. */
  changes(declaration: Declaration, live: LiveObject): boolean {
    this.#index()
    const {kind, remoteId} = live
    const meant = this.#meant(declaration)
    return leaves(kind, meant, remoteId) || (!isNameless(kind, declaration) && !fits(kind.identity, meant.plain, live))
  }

  /** What a planned declaration may mean of which not all is known yet: an object that a ledger of the run has, and nobody declares any more. */
  perhaps(key: Key): LiveObject | undefined {
    if (!this.#isOpen(key)) return undefined
    this.#index()
    const declaration = this.#declarations.get(key)
    if (declaration === undefined) return undefined
    const {stack, kind: name} = declaration
    const kind = this.#kind(name)
    const {plain, parent, nameless} = this.#meant(declaration)
    this.#left ??= this.#leftBehind()
    return this.#left
      .get(`${this.#account(stack, kind.api)} ${name} ${parent?.join('/') ?? ANYWHERE}`)
      ?.find(it => nameless || fits(kind.identity, plain, it))
  }

  /**
   * What ledgers of this run have under addresses that nobody declares, or that mean another object now, and no declaration
   * was found to mean. What a run does not look at, it does not know the declaration of either.
   */
  #leftBehind(): ReadonlyMap<string, readonly LiveObject[]> {
    const {observation, stacks, ledgers} = this.#input
    const declared = new Map(stacks.flatMap(it => it.declarations.map(({key, kind}) => [key, kind] as const)))
    const objectIn = (stack: string, {kind, remoteId}: Pick<LedgerEntry, 'kind' | 'remoteId'>) =>
      `${this.#account(stack, this.#kind(kind).api)} ${remoteId}`
    const meant = new Set(
      [...observation.pairs.values()].flatMap(({declaration: {stack}, match}) =>
        match === undefined ? [] : objectIn(stack, {kind: match.live.kind.name, remoteId: match.live.remoteId}),
      ),
    )
    const left = new Map<string, LiveObject[]>()
    for (const [stack, {entries}] of ledgers) {
      for (const entry of entries.values()) {
        const {address, kind} = entry
        const key = keyOf(stack, address)
        // Whose declaration was found to mean another object is declared no more.
        const isDeclared = declared.get(key) === kind && observation.pairs.get(key)?.match === undefined
        if (isDeclared || !this.#input.kinds.has(kind)) continue
        const live = this.#objects.get(objectIn(stack, entry))
        if (live === undefined || meant.has(objectIn(stack, entry))) continue
        const of = `${this.#account(stack, live.kind.api)} ${kind}`
        for (const at of [live.ids.slice(0, -1).join('/'), ANYWHERE]) addTo(left, `${of} ${at}`, live)
      }
    }
    return left
  }

  #index(): void {
    if (this.#indexed) return
    this.#indexed = true
    const {observation, stacks, selected, ledgers, otherLedgers = [], destroy} = this.#input
    for (const it of otherLedgers) this.#ledgers.set(it.stack, it)
    for (const [stack, ledger] of ledgers) this.#ledgers.set(stack, ledger)
    for (const stack of stacks) {
      if (destroy && selected.has(stack.name)) continue
      for (const it of stack.declarations)
        if (observation.pairs.get(it.key)?.context !== false || observation.pairs.get(it.key)?.doubt || this.#isOpen(it.key))
          this.#declarations.set(it.key, it)
    }
    if (this.#declarations.size === 0) return
    for (const {backend, kind, parent, proven, objects} of observation.collections) {
      const account = observation.ownership.accountAt(backend)
      if (proven) this.#whole.add(`${account} ${kind.name} ${parent.join('/')}`)
      for (const it of objects) {
        this.#objects.set(`${account} ${it.remoteId}`, it)
        addTo(this.#ofKind, `${account} ${kind.name}`, it)
        addTo(this.#named, `${account} ${kind.name} ${it.name ?? ''}`, it)
      }
    }
    // In an order of its own: where several mean one object, which of them is named must not hang on the order of a file.
    for (const it of [...this.#declarations.values()].sort((a, b) => (a.key < b.key ? -1 : 1))) this.#add(it)
  }

  #add(declaration: Declaration): void {
    const {stack, kind: name, importId} = declaration
    const kind = this.#kind(name)
    const account = this.#account(stack, kind.api)
    const meant = this.#meant(declaration)
    const {parent, plain} = meant
    const found = this.#input.observation.pairs.get(declaration.key)?.match?.live.remoteId
    for (const id of meant.planned ? [] : [this.#entry(declaration)?.remoteId, importId, found]) {
      if (id === undefined) continue
      this.#byId.set(`${account} ${id}`, declaration)
      if (!leaves(kind, meant, id)) return
    }
    const trait = kind.identity.matches ? (parent?.join('/') ?? ANYWHERE) : (kind.identity.key(plain) ?? ANY_NAME)
    addTo(this.#byTrait, `${account} ${name} ${trait}`, meant)
  }

  #meant(declaration: Declaration): Meant {
    const pair = this.#input.observation.pairs.get(declaration.key)
    const planned = pair?.context === false
    const {spec} = planned ? pair : declaration
    const parent = planned ? pair.parent : this.#parentOf(declaration, new Set())
    return {declaration, plain: plainPart(spec), parent, nameless: isNameless(this.#kind(declaration.kind), {spec}), planned}
  }

  /** Whether nothing was found for what this run plans, and it may be there all the same: it is known once the rest is applied. */
  #isOpen(key: Key): boolean {
    const pair = this.#input.observation.pairs.get(key)
    if (pair === undefined || pair.context || pair.match !== undefined || pair.stray !== undefined) return false
    const {declaration, spec, parent} = pair
    const kind = this.#kind(declaration.kind)
    if (parent === undefined) return declaration.parent?.by === 'key' && this.#isOpen(declaration.parent.key)
    return isNameless(kind, {spec}) || !saysWhich(kind.identity, spec)
  }

  /** What its ledger has under its address, unless that is known to be gone. */
  #entry({stack, address, kind: name}: Declaration): LedgerEntry | undefined {
    const entry = this.#ledgers.get(stack)?.entries.get(address)
    if (entry?.kind !== name) return undefined
    const kind = this.#kind(name)
    const ids = idsIn(kind, entry.remoteId)
    const parent = ids?.slice(0, -1).join('/')
    const account = this.#account(stack, kind.api)
    const isGone = this.#whole.has(`${account} ${name} ${parent}`) && !this.#objects.has(`${account} ${entry.remoteId}`)
    return isGone ? undefined : entry
  }

  #parentOf(declaration: Declaration, seen: Set<Key>): Ids | undefined {
    const kind = this.#kind(declaration.kind)
    const ref = declaration.parent
    const above = kind.parent && this.#kind(kind.parent.kind)
    if (above === undefined) return []
    if (ref === undefined) return undefined
    if (ref.by === 'remoteId') return idsIn(above, ref.remoteId)
    const account = this.#account(declaration.stack, kind.api)
    if (ref.by === 'id') return above.parent === undefined ? [ref.id] : only(this.#like(account, above), it => it.ids.at(-1) === ref.id)
    if (ref.by === 'name') return only(this.#like(account, above, ref.name)) ?? this.#recorded(account, above, ref.name)
    const planned = this.#input.observation.pairs.get(ref.key)?.match?.live.ids
    if (planned !== undefined) return planned
    const parent = this.#declarations.get(ref.key)
    if (parent === undefined || seen.has(ref.key)) return undefined
    const id = this.#entry(parent)?.remoteId ?? parent.importId
    if (id !== undefined) return idsIn(above, id)
    const grand = this.#parentOf(parent, seen.add(ref.key))?.join('/')
    const plain = plainPart(parent.spec)
    const {key, matches} = above.identity
    return only(
      this.#like(account, above, matches ? undefined : (key(plain) ?? '')),
      it => (grand === undefined || it.ids.slice(0, -1).join('/') === grand) && (matches?.(plain, it.fields) ?? true),
    )
  }

  /** Those of a kind, with this name where one is given. */
  #like(account: string, {name: kind}: Kind, name?: string): readonly LiveObject[] {
    const found = name === undefined ? this.#ofKind.get(`${account} ${kind}`) : this.#named.get(`${account} ${kind} ${name}`)
    return found ?? []
  }

  /** Where no list was read: what one ledger has by this name, as it was applied. */
  #recorded(account: string, {name: kind}: Kind, name: string): Ids | undefined {
    if (this.#ofKind.has(`${account} ${kind}`)) return undefined
    this.#recordedNames ??= this.#namesRecorded()
    const [first, another] = this.#recordedNames.get(`${account} ${kind} ${name}`) ?? []
    return another === undefined ? first : undefined
  }

  #namesRecorded(): ReadonlyMap<string, readonly Ids[]> {
    const found = new Map<string, Ids[]>()
    for (const {stack, entries} of this.#ledgers.values()) {
      for (const {kind: name, applied, remoteId} of entries.values()) {
        const kind = this.#input.kinds.get(name)
        const ids = kind && idsIn(kind, remoteId)
        if (kind && ids) addTo(found, `${this.#account(stack, kind.api)} ${name} ${kind.identity.key(applied) ?? ''}`, ids)
      }
    }
    return found
  }

  #account(stack: string, api: Api): string {
    return this.#input.accountOf?.(stack, api) ?? ''
  }

  #kind(name: string): Kind {
    return kindCalled(this.#input.kinds, name)
  }
}

function meaningAmong(all: readonly Meant[], traits: NonNullable<Identity['traits']>): (live: JsonObject) => readonly Meant[] {
  // Who does not say yet what it means says nothing against any object.
  const said = new Map(all.map(it => [it, it.nameless ? {} : traits.said(it.plain)]))
  const names = new Set([...said.values()].flatMap(it => Object.keys(it)))
  const among = new ByTraits(all, (it, trait) => said.get(it)?.[trait])
  return live =>
    among.of(
      [...names].flatMap(name => {
        const value = traits.shown(live, name)
        return value === undefined ? [] : [[name, value] as const]
      }),
    )
}

/** What a declaration has in another place than the declared one, or is not what it says by an id, it leaves for whatever it means. */
const leaves = (kind: Kind, {plain, parent}: Meant, remoteId: string): boolean =>
  meansAnother(kind, plain, remoteId) || (parent !== undefined && idsIn(kind, remoteId)?.slice(0, -1).join('/') !== parent.join('/'))

/** Whether it is not known yet what a declaration calls its object. */
export const isNameless = ({identity: {key}}: Kind, {spec}: Pick<Declaration, 'spec'>): boolean =>
  key(plainPart(spec)) === undefined && openLeaves(spec).length > 0

/** Where it is, when it is one and not several. */
function only(objects: readonly LiveObject[], fits: (it: LiveObject) => boolean = () => true): Ids | undefined {
  const [first, another] = objects.filter(fits)
  return another === undefined ? first?.ids : undefined
}
