/** The ledgers of an app, and those left beside them, for commands that send no request. */
import {kinds} from '../backends/kinds.ts'
import {nearest} from '../base/nearest.ts'
import {UnknownStackError} from '../declaration/errors.ts'
import {type LoadedDeclarations, selectStacks} from '../declaration/load.ts'
import type {Declaration, StackDeclarations} from '../engine/model/declaration.ts'
import type {Ledger, LedgerEntry, Unlock} from '../engine/model/ledger.ts'
import {keyOf} from '../engine/model/value.ts'
import {UnknownAddressError} from '../engine/observe/choice.ts'
import {namedObjects, Words} from '../engine/observe/selector.ts'
import type {ManagedLedgerStore} from '../ledger/managed-store.ts'
import {asArrived} from '../ledger/transfer.ts'
import type {Host} from './host.ts'
import {type OpenedStores, openStores} from './ledger-stores.ts'
import {lockSettled, sayArrived} from './locked-ledgers.ts'
import {type LedgerOf, leftBehind, readOtherLedgers} from './other-ledgers.ts'

export interface OwnedObject {
  readonly stack: string
  readonly entry: LedgerEntry
}

export class LedgerDesk {
  readonly host: Host
  /** Of the app. */
  readonly stacks: readonly StackDeclarations[]
  /** Stacks that the app does not have any more. */
  readonly left: readonly LedgerOf[]
  readonly #stores: OpenedStores

  static async open(host: Host, {stacks, others}: Pick<LoadedDeclarations, 'stacks' | 'others'>): Promise<LedgerDesk> {
    const app = [...stacks, ...others]
    const left = await leftBehind(host.cwd, app)
    const once = left.filter((it, i) => left.findIndex(other => other.name === it.name) === i)
    return new LedgerDesk(host, app, once)
  }

  private constructor(host: Host, stacks: readonly StackDeclarations[], left: readonly LedgerOf[]) {
    this.host = host
    this.stacks = stacks
    this.left = left
    this.#stores = openStores(host, [])
  }

  /** Names and globs of stacks, those left behind too; none: all. @throws UnknownStackError */
  chosen(wanted: readonly string[]): readonly LedgerOf[] {
    const all = this.#all()
    const names = selectStacks(
      all.map(it => it.name),
      wanted,
    )
    return all.filter(it => names.has(it.name))
  }

  /** @throws UnknownStackError */
  named(name: string, known: readonly LedgerOf[] = this.#all()): LedgerOf {
    const names = known.map(it => it.name)
    const found = known.find(it => it.name === name)
    if (found === undefined) throw new UnknownStackError(name, names, nearest(name, names))
    return found
  }

  #all(): readonly LedgerOf[] {
    return [...this.stacks, ...this.left]
  }

  open(stacks: readonly LedgerOf[]): ReadonlyMap<string, ManagedLedgerStore> {
    return new Map(stacks.map(it => [it.name, this.#stores.other(it)]))
  }

  /** Without a lock: what is on its way is where it goes to. */
  async load(stacks: readonly LedgerOf[]): Promise<ReadonlyMap<string, Ledger>> {
    const ledgers = await Promise.all([...this.open(stacks).values()].map(it => it.load()))
    return new Map(asArrived(ledgers).map(it => [it.stack, it]))
  }

  /** Takes their locks once nothing is on its way to or from them. */
  lock(stacks: readonly LedgerOf[], timeoutMs: number): Promise<Unlock & {readonly stores: ReadonlyMap<string, ManagedLedgerStore>}> {
    const stores = this.open(stacks)
    const rest = this.#all().filter(it => !stores.has(it.name))
    return lockSettled({
      stores,
      others: () => readOtherLedgers(this.host.cwd, stacks, rest, this.#stores.other),
      timeoutMs,
      clock: this.host.clock,
      finished: arrived => sayArrived(this.host, arrived),
    }).then(unlock => Object.assign(unlock, {stores}))
  }

  /** @throws UnknownAddressError for a word that means nothing these ledgers have */
  owned(ledgers: ReadonlyMap<string, Ledger>, words: readonly string[], what: string): OwnedObject[] {
    const objects = namedObjects(
      this.stacks.filter(it => ledgers.has(it.name)),
      ledgers,
      kinds,
    ).filter(it => ledgers.get(it.stack)?.entries.has(it.address))
    const meaning = new Words(words, objects, kinds)
    if (meaning.idle.length > 0)
      throw new UnknownAddressError(
        meaning.idle.map(word => ({flag: what, word})),
        objects,
      )
    return [...ledgers.values()].flatMap(({stack, entries}) =>
      [...entries.values()]
        .filter(it => words.length === 0 || meaning.mean({stack, address: it.address, kind: it.kind}))
        .map(entry => ({stack, entry})),
    )
  }

  declaration(stack: string, {address, kind}: Pick<LedgerEntry, 'address' | 'kind'>): Declaration | undefined {
    const key = keyOf(stack, address)
    return this.stacks.find(it => it.name === stack)?.declarations.find(it => it.key === key && it.kind === kind)
  }

  close(): Promise<void> {
    return this.#stores.close()
  }
}
