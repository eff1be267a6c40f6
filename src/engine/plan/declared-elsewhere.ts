/**
 * Which live object a declaration means that this run does not plan: of a stack that is not selected, or left out by
 * `--target`. Told from what is read anyway: no request is made for it. Where the parent cannot be told, the name alone
 * decides, since an object too many that is left alone is the lesser harm.
 */
import type {JsonObject} from '../../base/json.ts'
import type {Declaration} from '../model/declaration.ts'
import {type Ids, idsIn, type Kind} from '../model/kind.ts'
import type {Ledger, LedgerEntry} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import type {Operation} from '../model/plan.ts'
import {plainPart} from '../model/resolve.ts'
import type {Key} from '../model/value.ts'
import type {PlanInput} from './plan-input.ts'

type Input = Pick<PlanInput, 'observation' | 'stacks' | 'selected' | 'ledgers' | 'otherLedgers' | 'accountOf' | 'kinds' | 'destroy'>

interface Meant {
  readonly declaration: Declaration
  readonly plain: JsonObject
  /** `undefined`: cannot be told. */
  readonly parent: Ids | undefined
}

export class DeclaredElsewhere {
  readonly #input: Input
  readonly #byId = new Map<string, Declaration>()
  readonly #byName = new Map<string, Meant[]>()
  readonly #declarations = new Map<Key, Declaration>()
  readonly #ledgers = new Map<string, Ledger>()
  /** By account and remote path, and by account and kind. */
  readonly #objects = new Map<string, LiveObject>()
  readonly #ofKind = new Map<string, LiveObject[]>()
  /** Collections that are known whole, by account, kind and parent. */
  readonly #whole = new Set<string>()
  #indexed = false

  constructor(input: Input) {
    this.#input = input
  }

  /** The declaration that means an operation's object, and that no operation of this run is made from. */
  of({stack, address, kind: name, remoteId = ''}: Pick<Operation, 'stack' | 'address' | 'kind' | 'remoteId'>): Declaration | undefined {
    this.#index()
    if (this.#declarations.size === 0) return undefined
    const kind = this.#kind(name)
    const account = this.#account(stack, kind.api)
    const known = this.#byId.get(`${account} ${remoteId}`)
    if (known !== undefined && !(known.stack === stack && known.address === address)) return known
    const live = this.#objects.get(`${account} ${remoteId}`)
    if (live === undefined) return undefined
    const meant = kind.identity.matches
      ? [...this.#byName.values()].flat().filter(it => it.declaration.kind === name && kind.identity.matches?.(it.plain, live.fields))
      : (this.#byName.get(`${account} ${name} ${live.name ?? ''}`) ?? [])
    const parent = live.ids.slice(0, -1).join('/')
    return meant.find(
      it =>
        this.#account(it.declaration.stack, kind.api) === account &&
        !(it.declaration.stack === stack && it.declaration.address === address) &&
        (it.parent === undefined || it.parent.join('/') === parent),
    )?.declaration
  }

  #index(): void {
    if (this.#indexed) return
    this.#indexed = true
    const {observation, stacks, selected, ledgers, otherLedgers = [], destroy} = this.#input
    for (const it of otherLedgers) this.#ledgers.set(it.stack, it)
    for (const [stack, ledger] of ledgers) this.#ledgers.set(stack, ledger)
    for (const stack of stacks) {
      if (destroy && selected.has(stack.name)) continue
      for (const it of stack.declarations) if (observation.pairs.get(it.key)?.context !== false) this.#declarations.set(it.key, it)
    }
    if (this.#declarations.size === 0) return
    for (const {backend, kind, parent, proven, objects} of observation.collections) {
      const account = observation.ownership.accountAt(backend)
      if (proven) this.#whole.add(`${account} ${kind.name} ${parent.join('/')}`)
      const list = this.#ofKind.get(`${account} ${kind.name}`) ?? []
      this.#ofKind.set(`${account} ${kind.name}`, list)
      for (const it of objects) {
        this.#objects.set(`${account} ${it.remoteId}`, it)
        list.push(it)
      }
    }
    for (const it of this.#declarations.values()) this.#add(it)
  }

  #add(declaration: Declaration): void {
    const {stack, kind: name, importId} = declaration
    const kind = this.#kind(name)
    const account = this.#account(stack, kind.api)
    const id = this.#entry(declaration)?.remoteId ?? importId
    if (id !== undefined) {
      this.#byId.set(`${account} ${id}`, declaration)
      return
    }
    const plain = plainPart(declaration.spec)
    const at = `${account} ${name} ${kind.identity.key(plain) ?? ''}`
    const list = this.#byName.get(at) ?? []
    if (list.length === 0) this.#byName.set(at, list)
    list.push({declaration, plain, parent: this.#parentOf(declaration, new Set())})
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
    if (ref.by === 'id') return above.parent === undefined ? [ref.id] : this.#only(account, above, it => it.ids.at(-1) === ref.id)
    if (ref.by === 'name') return this.#only(account, above, it => it.name === ref.name)
    const planned = this.#input.observation.pairs.get(ref.key)?.match?.live.ids
    if (planned !== undefined) return planned
    const parent = this.#declarations.get(ref.key)
    if (parent === undefined || seen.has(ref.key)) return undefined
    const id = this.#entry(parent)?.remoteId ?? parent.importId
    if (id !== undefined) return idsIn(above, id)
    const grand = this.#parentOf(parent, seen.add(ref.key))?.join('/')
    const plain = plainPart(parent.spec)
    return this.#only(
      account,
      above,
      it =>
        (grand === undefined || it.ids.slice(0, -1).join('/') === grand) &&
        (above.identity.matches?.(plain, it.fields) ?? it.name === above.identity.key(plain)),
    )
  }

  #only(account: string, kind: Kind, fits: (it: LiveObject) => boolean): Ids | undefined {
    const [only, another] = (this.#ofKind.get(`${account} ${kind.name}`) ?? []).filter(fits)
    return another === undefined ? only?.ids : undefined
  }

  #account(stack: string, api: Kind['api']): string {
    return this.#input.accountOf?.(stack, api) ?? ''
  }

  #kind(name: string): Kind {
    const kind = this.#input.kinds.get(name)
    if (kind === undefined) throw new TypeError(`no kind ${name}`)
    return kind
  }
}
