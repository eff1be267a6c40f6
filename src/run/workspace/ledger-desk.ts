/** The ledgers of an app, and those left beside them, for commands that send no request. */
import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {nearest} from '../../base/nearest.ts'
import {HeldObjectsError} from '../../controls/errors.ts'
import {UnknownStackError} from '../../declaration/language/values/errors.ts'
import {type LoadedDeclarations, selectStacks} from '../../declaration/read/load.ts'
import type {Declaration, StackDeclarations} from '../../engine/model/declaration.ts'
import type {Ledger, LedgerEntry, Unlock} from '../../engine/model/ledger.ts'
import {keyOf, keyOfOperation} from '../../engine/model/value.ts'
import {UnknownAddressError} from '../../engine/observe/choice.ts'
import {type Named, namedObjects, Words} from '../../engine/observe/selector.ts'
import type {ChangeStop, ManagedLedgerStore} from '../../ledger/managed-store.ts'
import {asArrived} from '../../ledger/transfer.ts'
import type {Host} from '../host/host.ts'
import {type LedgerHere, ledgerPlace} from '../journal/own-ledgers.ts'
import {type OpenedStores, openStores, SharedLedgerError} from '../ledgers/ledger-stores.ts'
import {changingEach, lockSettled, type Stoppable, sayArrived, sayStillLocked, underLocks} from '../ledgers/locked-ledgers.ts'
import {type LedgerOf, leftBehind, readOtherLedgers} from '../ledgers/other-ledgers.ts'
import {assertNotFrozen, type ControlledAccount, frozenAmong, RunControls} from './controls.ts'
import {inStateFile} from './declarations.ts'

export interface LedgerObject {
  readonly stack: string
  readonly entry: LedgerEntry
}

/** The accounts that stacks speak to, as far as the configuration says. */
export type AccountsOf = (stacks: readonly StackDeclarations[]) => Promise<readonly MeantAccount[]>

type MeantAccount = ControlledAccount & {readonly api: Api}

export class LedgerDesk {
  readonly host: Host
  /** Of the app. */
  readonly stacks: readonly StackDeclarations[]
  /** Stacks that the app does not have any more. */
  readonly left: readonly LedgerOf[]
  readonly #stores: OpenedStores
  readonly #stoppable: Stoppable
  readonly #accounts: AccountsOf

  /**
   * @param state - the file that is the ledger of the one stack that is chosen, and whose accounts are whose
   * @throws UnknownStackError, SharedLedgerError, StateFileError
   */
  static async open(
    host: Host,
    {stacks, others}: Pick<LoadedDeclarations, 'stacks' | 'others'>,
    stoppable: Stoppable,
    state: {readonly stacks: readonly string[]; readonly file: string | undefined; readonly accounts: AccountsOf},
  ): Promise<LedgerDesk> {
    const app = withStateFile([...stacks, ...others], state)
    const left = await leftBehind(host.cwd, app)
    const once = left.filter((it, i) => left.findIndex(other => other.name === it.name) === i)
    return new LedgerDesk(host, app, once, stoppable, state.accounts)
  }

  private constructor(
    host: Host,
    stacks: readonly StackDeclarations[],
    left: readonly LedgerOf[],
    stoppable: Stoppable,
    accounts: AccountsOf,
  ) {
    this.#accounts = accounts
    this.#stoppable = stoppable
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
  named(name: string, option: string, known: readonly LedgerOf[] = this.#all()): LedgerOf {
    const names = known.map(it => it.name)
    const found = known.find(it => it.name === name)
    if (found === undefined) throw new UnknownStackError(name, names, nearest(name, names), option)
    return found
  }

  /** Whom a stack of the app speaks to by now, as far as the configuration says. */
  async accountMeant(stack: string, api: string): Promise<MeantAccount | undefined> {
    const meant = await this.#accounts(this.stacks.filter(it => it.name === stack))
    return this.stacks.some(it => it.name === stack) ? meant.find(it => it.api === api) : undefined
  }

  #all(): readonly LedgerOf[] {
    return [...this.stacks, ...this.left]
  }

  /** One that a stack had before its backend changed; `undefined` where no file is. */
  former(stack: string, state: string): ManagedLedgerStore | undefined {
    return this.#stores.former(stack, state)
  }

  open(stacks: readonly LedgerOf[]): ReadonlyMap<string, ManagedLedgerStore> {
    const own = new Set(this.stacks.map(it => it.name))
    return new Map(stacks.map(it => [it.name, own.has(it.name) ? this.#stores.own(it) : this.#stores.other(it)]))
  }

  /** Without a lock: what is on its way is where it goes to. */
  async load(stacks: readonly LedgerOf[]): Promise<ReadonlyMap<string, Ledger>> {
    const ledgers = await Promise.all([...this.open(stacks).values()].map(it => it.load()))
    return new Map(asArrived(ledgers).map(it => [it.stack, it]))
  }

  /** These, as runs tell them from others of their stacks. */
  ownLedgers(ledgers: ReadonlyMap<string, Ledger>): ReadonlyMap<string, LedgerHere> {
    return new Map(
      this.#all().flatMap((it): [string, LedgerHere][] => {
        const version = ledgers.get(it.name)
        if (version === undefined) return []
        return [[it.name, {...ledgerPlace(this.host.cwd, it.ledger, this.#stores.keyOf(it)), version}]]
      }),
    )
  }

  /**
   * That nothing of it is frozen, and none of the objects held: whoever changes their ledgers asks first.
   * @throws FrozenError, HeldObjectsError, ControlsError
   */
  async assertFree(stacks: readonly LedgerOf[], objects: readonly LedgerObject[] = []): Promise<void> {
    const names = new Set(stacks.map(it => it.name))
    const meant = await this.#accounts(this.stacks.filter(it => names.has(it.name)))
    // Whom they spoke to at their last apply; a ledger that cannot be read is told of by whoever needs it.
    const ledgers = await this.loadReadable()
    const recorded = [...names].flatMap(it => Object.values(ledgers.get(it)?.accounts ?? {}))
    const controls = new RunControls(this.host, stacks, [...meant, ...recorded])
    try {
      const inForce = await controls.read()
      assertNotFrozen(inForce)
      const held = objects.flatMap(({stack, entry: {address, remoteId}}) => {
        const hold = inForce.holds.get(stack)?.find(it => it.address === address || it.remoteId === remoteId)
        return hold === undefined ? [] : [{address: keyOf(stack, address), hold}]
      })
      if (held.length > 0) throw new HeldObjectsError(held)
    } finally {
      await controls.close()
    }
  }

  /** Takes their locks once nothing is on its way to or from them, and gives them back when `work` has ended. */
  async locked<T>(
    stacks: readonly LedgerOf[],
    timeoutMs: number,
    work: (stores: ReadonlyMap<string, ManagedLedgerStore>) => Promise<T>,
  ): Promise<T> {
    await this.assertFree(stacks)
    const stores = this.open(stacks)
    const rest = this.#all().filter(it => !stores.has(it.name))
    const {cwd, clock, log} = this.host
    const take = (signal: AbortSignal) =>
      lockSettled({
        host: this.host,
        stores,
        others: () => readOtherLedgers(cwd, stacks, rest, this.#stores.other),
        marked: this.#stores.marked,
        areFrozen: frozenAmong(this.host),
        timeoutMs,
        clock,
        signal,
        finished: arrived => sayArrived(this.host, arrived),
        stillLocked: sayStillLocked(log),
      })
    return this.under(take, () => work(stores))
  }

  /** @param take - takes locks, and none once it was told to stop */
  under<T>(take: (stop: AbortSignal) => Promise<Unlock>, work: () => Promise<T>): Promise<T> {
    return underLocks(this.host, this.#stoppable, take, work)
  }

  /** As `changingEach`. */
  changing<T>(until: string, change: (stop: ChangeStop) => Promise<T>): Promise<T> {
    return changingEach(this.#stoppable, until, change)
  }

  /** Those that can be read now; without a lock. */
  async loadReadable(): Promise<ReadonlyMap<string, Ledger>> {
    const {ledgers} = await readOtherLedgers(this.host.cwd, [], this.#all(), this.#stores.other)
    return new Map(asArrived(ledgers).map(it => [it.stack, it]))
  }

  /** Whether a word means anything that these ledgers have. */
  means(ledgers: ReadonlyMap<string, Ledger>, word: string): boolean {
    return new Words([word], this.#named(ledgers), kinds).idle.length === 0
  }

  /** @throws UnknownAddressError for a word that means nothing these ledgers have */
  owned(ledgers: ReadonlyMap<string, Ledger>, words: readonly string[], what: string): LedgerObject[] {
    const meaning = new Words(words, this.#named(ledgers), kinds)
    if (meaning.idle.length > 0) throw this.unknown(ledgers, meaning.idle, what)
    return [...ledgers.values()].flatMap(({stack, entries}) =>
      [...entries.values()]
        .filter(it => words.length === 0 || meaning.mean({stack, address: it.address, kind: it.kind}))
        .map(entry => ({stack, entry})),
    )
  }

  /** What is declared or owned and called so, one for each; with its remote id where it is owned. @throws UnknownAddressError */
  meant(ledgers: ReadonlyMap<string, Ledger>, words: readonly string[], what: string): readonly Named[] {
    const all = this.known(ledgers)
    const meaning = new Words(words, all, kinds)
    if (meaning.idle.length > 0)
      throw new UnknownAddressError(
        meaning.idle.map(word => ({flag: what, word})),
        all,
      )
    const found = new Map<string, Named>()
    for (const it of all) if (meaning.mean(it)) found.set(keyOfOperation(it), {...found.get(keyOfOperation(it)), ...it})
    return [...found.values()]
  }

  /** All that is declared in these stacks, and all that their ledgers own. */
  known(ledgers: ReadonlyMap<string, Ledger>): readonly Named[] {
    return namedObjects(
      this.stacks.filter(it => ledgers.has(it.name)),
      ledgers,
      kinds,
    )
  }

  unknown(ledgers: ReadonlyMap<string, Ledger>, words: readonly string[], what: string): UnknownAddressError {
    return new UnknownAddressError(
      words.map(word => ({flag: what, word})),
      this.#named(ledgers),
    )
  }

  /** What the ledgers have, as people call it. */
  #named(ledgers: ReadonlyMap<string, Ledger>): Named[] {
    return this.known(ledgers).filter(it => ledgers.get(it.stack)?.entries.has(it.address))
  }

  declaration(stack: string, {address, kind}: Pick<LedgerEntry, 'address' | 'kind'>): Declaration | undefined {
    const key = keyOf(stack, address)
    return this.stacks.find(it => it.name === stack)?.declarations.find(it => it.key === key && it.kind === kind)
  }

  close(): Promise<void> {
    return this.#stores.close()
  }
}

function withStateFile(
  app: readonly StackDeclarations[],
  {stacks, file}: {readonly stacks: readonly string[]; readonly file: string | undefined},
): readonly StackDeclarations[] {
  if (file === undefined) return app
  const [one, other] = selectStacks(
    app.map(it => it.name),
    stacks,
  )
  if (one !== undefined && other !== undefined) throw new SharedLedgerError(file, one, other)
  return app.map(it => (it.name === one ? inStateFile(it, file) : it))
}
