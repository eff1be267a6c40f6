/**
 * Everything a command about stacks works with: declarations, their ledgers, and connections that are opened when the
 * first request of a stack's API is made.
 */

import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import type {Connection} from '../../config/connection.ts'
import type {Settings} from '../../config/settings.ts'
import type {VariableOption} from '../../declaration/read/variable-files.ts'
import {type VariableLookup, variableLookup} from '../../declaration/read/variable-lookup.ts'
import {accountGroups} from '../../engine/model/accounts.ts'
import type {Backend} from '../../engine/model/backend.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import type {AccountOf} from '../../engine/model/ownership.ts'
import {accountsOfOperations} from '../../engine/model/ownership.ts'
import type {Plan} from '../../engine/model/plan.ts'
import {beginning, requestsToApply} from '../../engine/plan/bill.ts'
import {localLedgerWarning} from '../../ledger/backends/open-ledger.ts'
import type {ManagedLedgerStore} from '../../ledger/managed-store.ts'
import {SecretSealer} from '../../ledger/seal-secrets.ts'
import {asArrived} from '../../ledger/transfer.ts'
import type {RequestAllowance} from '../../transport/request-allowance.ts'
import type {OnTransportEvent} from '../../transport/transport-event.ts'
import type {Host} from '../host/host.ts'
import {type KindsBegun, kindsBegun} from '../journal/kinds-begun.ts'
import {type LedgerHere, ledgerPlace} from '../journal/own-ledgers.ts'
import {type OpenedStores, openStores} from '../ledgers/ledger-stores.ts'
import {leftText, rewrittenText} from '../ledgers/ledger-words.ts'
import {lockSettled, sayArrived, sayStillLocked} from '../ledgers/locked-ledgers.ts'
import {formerLedgers, type LedgerOf, type OtherLedgers, readOtherLedgers} from '../ledgers/other-ledgers.ts'
import {stackAccounts} from '../ledgers/stack-accounts.ts'
import {assertUsable} from '../ledgers/usable.ts'
import {frozenAmong, RunControls} from './controls.ts'
import {apisOfKinds, neededApis} from './needed-apis.ts'
import {forRun} from './run-connection.ts'
import {type OpenedStackApi, openStackApi} from './stack-api.ts'
import {strictest} from './strictest.ts'

export type Connect = (api: Api, target: string | undefined) => Promise<Connection>

export interface WorkspaceOptions {
  readonly host: Host
  /** `--var` and `--var-file`, in the order that decides between them. */
  readonly variables: readonly VariableOption[]
  readonly connect: Connect
  readonly stacks: readonly StackDeclarations[]
  readonly others: readonly StackDeclarations[]
  /** What a saved plan deletes: it is looked for where nothing else of its API is left, too. */
  readonly going?: readonly {readonly stack: string; readonly kind: string}[] | undefined
  /** Of a saved plan, whose other stacks are names only; else the sources of this run, as `stacks` and `others` divide them. */
  readonly variable?: VariableLookup | undefined
  readonly mode: 'plan' | 'full'
  readonly allowance: RequestAllowance | undefined
  /** Hears of every request. */
  readonly onEvent?: OnTransportEvent
  /** Ledgers that are given: none is read, neither these nor those of other stacks. */
  readonly ledgers?: ReadonlyMap<string, Ledger>
}

/** More requests are needed than `--max-requests` leaves. Nothing was sent but what `sent` counts. */
export class BillTooHighError extends AppError {
  /** @param needs - `the plan needs at least 8` */
  constructor(needs: string, left: number, sent: number, less = 'do less at once with --target') {
    super(`${needs} requests, and --max-requests leaves ${left} (sent so far: ${sent})`, {
      code: 'E_BILL',
      exit: EXIT.refused,
      suggestions: [`Allow more with --max-requests, or ${less}.`],
    })
  }
}

/** What a workspace has opened and read, shared by all that look at it. */
interface Opened {
  readonly options: WorkspaceOptions
  readonly variable: VariableLookup
  readonly sealer: SecretSealer
  readonly ledgerStores: OpenedStores
  /** Connections by what makes them one: API, address, key. */
  readonly connections: Map<string, OpenedStackApi>
  readonly byStack: Map<string, OpenedStackApi>
  readonly saidUnread: Set<string>
  controls: RunControls | undefined
  isConnected: boolean
  ledgers: ReadonlyMap<string, Ledger>
  other: OtherLedgers
  accountOf: AccountOf
  /** Kinds of what runs have begun that have not ended, by stack. */
  begun: KindsBegun
}

/** What somebody sees in place of what is there. */
export interface View {
  /** The same stacks, declaring something else. */
  readonly stacks?: readonly StackDeclarations[]
  readonly ledgers?: ReadonlyMap<string, Ledger>
  readonly otherLedgers?: readonly Ledger[]
  readonly backendOf?: (stack: string, api: Api) => Backend
}

export class Workspace {
  readonly host: Host
  readonly others: readonly StackDeclarations[]
  readonly stores: ReadonlyMap<string, ManagedLedgerStore>
  readonly sealer: SecretSealer
  readonly variable: VariableLookup
  readonly #opened: Opened
  readonly #view: View

  static async open(options: WorkspaceOptions): Promise<Workspace> {
    const {host, variables, stacks, others} = options
    const names = [...stacks, ...others].map(it => it.name)
    const sources = {cwd: host.cwd, environment: host.environment.all, variables}
    const variable = options.variable ?? (await variableLookup(sources, names))
    const ledgerStores = openStores(host, stacks)
    for (const stack of stacks) {
      const warning = localLedgerWarning(stack.ledger, stack.name, host.environment.all)
      if (warning !== undefined) host.log.warn(warning)
    }
    const workspace = new Workspace(
      {
        options,
        variable,
        sealer: new SecretSealer(host.random, host.environment.ledgerKey),
        ledgerStores,
        connections: new Map(),
        byStack: new Map(),
        saidUnread: new Set(),
        controls: undefined,
        isConnected: false,
        ledgers: new Map(),
        other: {ledgers: [], unread: new Map(), stores: new Map(), places: []},
        accountOf: () => '',
        begun: new Map(),
      },
      options.ledgers === undefined ? {} : {ledgers: options.ledgers},
    )
    await workspace.#connectAll()
    return workspace
  }

  private constructor(opened: Opened, view: View) {
    const {options, variable, sealer, ledgerStores} = opened
    this.#opened = opened
    this.#view = view
    this.host = options.host
    this.others = options.others
    this.variable = variable
    this.sealer = sealer
    this.stores = ledgerStores.stores
  }

  /** The same connections and stores, seen with something else in their place. This workspace stays as it is. */
  seen(view: View): Workspace {
    return new Workspace(this.#opened, {...this.#view, ...view})
  }

  get stacks(): readonly StackDeclarations[] {
    return this.#view.stacks ?? this.#opened.options.stacks
  }

  get ledgers(): ReadonlyMap<string, Ledger> {
    return this.#view.ledgers ?? this.#opened.ledgers
  }

  /** Of stacks that are not part of this run: read, never written. */
  get otherLedgers(): readonly Ledger[] {
    return this.#view.otherLedgers ?? this.#opened.other.ledgers
  }

  /** Stacks of the app whose ledgers cannot be read, with the reason. */
  get unreadLedgers(): ReadonlyMap<string, string> {
    return this.#opened.other.unread
  }

  /** By stack; of the run and of others. */
  get allLedgers(): ReadonlyMap<string, Ledger> {
    return new Map([...this.#opened.other.ledgers.map(it => [it.stack, it] as const), ...this.ledgers])
  }

  /** Which stacks of the app, of this run or not, speak to one account. */
  readonly accountOf: AccountOf = (stack, api) => this.#opened.accountOf(stack, api)

  /** Reads every ledger there is to know again, those of other stacks too, for all that look at this workspace. */
  async loadLedgers(): Promise<ReadonlyMap<string, Ledger>> {
    // Who is given ledgers would not see those that are read, and everybody else would.
    if (this.#view.ledgers !== undefined) throw new TypeError('the ledgers of this view are given: nothing is read in their place')
    const [own, other] = await Promise.all([
      Promise.all([...this.stores].map(async ([stack, store]) => [stack, await store.load()] as const)),
      this.#readOthers(),
    ])
    for (const [stack, ledger] of own) assertUsable(ledger, this.stores.get(stack)?.place ?? '')
    // What is on its way between two of them is where it goes to, whoever has it still.
    const arrived = new Map(asArrived([...own.map(([, it]) => it), ...other.ledgers]).map(it => [it.stack, it] as const))
    this.#opened.ledgers = new Map(own.map(([stack, it]) => [stack, arrived.get(stack) ?? it]))
    this.#opened.other = {...other, ledgers: other.ledgers.map(it => arrived.get(it.stack) ?? it)}
    const says = (about: string, text: string): void => {
      if (!this.#opened.saidUnread.has(about)) this.host.log.warn(text)
      this.#opened.saidUnread.add(about)
    }
    for (const [stack, ledger] of own) if (ledger.rewrittenBy !== undefined) says(stack, rewrittenText(ledger))
    const absent = new Set(own.flatMap(([stack, {condition}]) => (condition === 'absent' ? [stack] : [])))
    const former = absent.size === 0 ? [] : await formerLedgers(this.host.cwd, [...this.stacks, ...this.others])
    for (const it of former) if (absent.has(it.stack)) says(it.path, leftText(it))
    for (const [stack, why] of other.unread) says(stack, `what stack ${stack} has is not known: ${why}`)
    // A stack may have come to speak to more while its lock was waited for.
    if (this.#opened.isConnected) await this.#connect()
    return this.ledgers
  }

  /** Takes the locks of all stacks, in one order for everybody. */
  lock(timeoutMs: number, signal?: AbortSignal): Promise<() => Promise<void>> {
    const {stores, host} = this
    return lockSettled({
      host,
      stores,
      others: () => this.#readOthers(),
      marked: this.#opened.ledgerStores.marked,
      areFrozen: frozenAmong(host),
      timeoutMs,
      clock: host.clock,
      ...(signal ? {signal} : {}),
      finished: arrived => sayArrived(host, arrived),
      stillLocked: sayStillLocked(host.log),
    })
  }

  #readOthers(): Promise<OtherLedgers> {
    return readOtherLedgers(this.host.cwd, this.stacks, this.others, this.#opened.ledgerStores.other)
  }

  /** The ledgers of its stacks, as runs tell them from others. */
  get ownLedgers(): ReadonlyMap<string, LedgerHere> {
    return new Map(
      this.#opened.options.stacks.flatMap(({name, ledger}): [string, LedgerHere][] => {
        const [key, version] = [this.stores.get(name)?.key, this.ledgers.get(name)]
        return key === undefined || version === undefined ? [] : [[name, {...ledgerPlace(this.host.cwd, ledger, key), version}]]
      }),
    )
  }

  /** Whether a run that names the ledger of a stack like this has the one that this run has, however each of them names it. */
  hasLedger(stack: LedgerOf): boolean {
    const own = this.stores.get(stack.name)
    try {
      return own !== undefined && own.key === this.#opened.ledgerStores.keyOf(stack)
    } catch (error) {
      // There is no such place any more.
      if (error instanceof AppError) return false
      throw error
    }
  }

  readonly backendOf = (stack: string, api: Api): Backend => {
    if (this.#view.backendOf !== undefined) return this.#view.backendOf(stack, api)
    const {byStack} = this.#opened
    const opened = byStack.get(`${stack} ${api}`) ?? byStack.get(` ${api}`)
    if (opened === undefined) throw new TypeError(`no connection to the ${api} API for ${stack}`)
    return opened.api.backend
  }

  /** Connections by API that any stack of the run has. */
  get connections(): readonly Connection[] {
    return [...this.#opened.connections.values()].map(it => it.api.connection)
  }

  /** Holds and freezes of its stacks and accounts. @throws HttpBackendError */
  get controls(): RunControls {
    const accounts = this.connections.map(({api, address, keyHash, profile, settings: {controls}}) => ({
      api,
      address,
      keyHash,
      ...(profile === undefined ? {} : {profile}),
      ...(controls === undefined ? {} : {controls}),
    }))
    this.#opened.controls ??= new RunControls(this.host, this.#opened.options.stacks, accounts)
    return this.#opened.controls
  }

  /** Whether it is open for nothing but reading. */
  get onlyReads(): boolean {
    return this.#opened.options.mode === 'plan'
  }

  get settings(): Settings | undefined {
    return strictest(this.connections.map(it => it.settings))
  }

  /** After a wait nothing that was read counts any more: neither lists, nor what other stacks have taken over meanwhile. */
  async readAnew(): Promise<void> {
    for (const {api} of this.#opened.connections.values()) api.backend.reader.forget('/')
    await this.loadLedgers()
  }

  usedRequests(): number {
    return [...this.#opened.connections.values()].reduce((sum, it) => sum + it.api.client.spending.used, 0)
  }

  /** `--max-requests` refuses beforehand what will not fit; what is left out of a plan costs nothing. @throws BillTooHighError */
  assertAffordable(plan: Pick<Plan, 'operations' | 'lifts'>): void {
    const {allowance} = this.#opened.options
    const needed = requestsToApply(beginning(plan), accountsOfOperations(kinds, this.accountOf)).all
    if (allowance !== undefined && needed > allowance.left)
      throw new BillTooHighError(`the apply needs about ${needed}`, allowance.left, this.usedRequests())
  }

  /** The same before a plan reads anything. @throws BillTooHighError */
  assertReadable(atLeast: number): void {
    const {allowance} = this.#opened.options
    if (allowance !== undefined && atLeast > allowance.left)
      throw new BillTooHighError(`the plan needs at least ${atLeast}`, allowance.left, this.usedRequests())
  }

  /** Every API with its account, as far as a stack uses it. */
  connectionOf(stack: string, api: Api): {readonly connection: Connection; readonly account: () => Promise<string>} | undefined {
    const opened = this.#opened.byStack.get(`${stack} ${api}`)
    return opened && {connection: opened.api.connection, account: opened.account}
  }

  /** The APIs a stack speaks to: those of its declarations, of what its ledger owns, and of what a saved plan deletes of it. */
  apisOf(stack: StackDeclarations): readonly Api[] {
    const owned = [...(this.ledgers.get(stack.name)?.entries.values() ?? [])]
    const going = (this.#opened.options.going ?? []).filter(it => it.stack === stack.name)
    return apisOfKinds([...stack.declarations, ...owned, ...going].map(it => it.kind))
  }

  /** The same, and those that a run has begun something at that has not ended. */
  apisSpoken(stack: StackDeclarations): readonly Api[] {
    return [...new Set([...this.apisOf(stack), ...apisOfKinds(this.#opened.begun.get(stack.name)?.keys() ?? [])])]
  }

  async #connectAll(): Promise<void> {
    if (this.#view.ledgers === undefined) await this.loadLedgers()
    this.#opened.isConnected = true
    await this.#connect()
  }

  /** To what it is not connected to yet. */
  async #connect(): Promise<void> {
    const {byStack, connections, other} = this.#opened
    const known = connections.size
    this.#opened.begun = await kindsBegun(this.host, this.ledgers.values(), this.ownLedgers)
    const needed = neededApis(this.stacks, this.others)
    for (const stack of [...this.stacks, ...this.others]) {
      for (const api of needed.get(stack.name) ?? this.apisSpoken(stack)) {
        const name = `${stack.name} ${api}`
        // What the stack itself does not speak to is a run's.
        const begun = this.apisOf(stack).includes(api) ? undefined : this.#opened.begun.get(stack.name)
        if (!byStack.has(name)) byStack.set(name, await this.#openFor(stack, api).catch(forRun(begun, stack.name, api)))
      }
    }
    if (connections.size > known) await this.#controlsAnew()
    this.#opened.accountOf = accountGroups(await stackAccounts(this.stacks, this.ledgers, other.ledgers, this.connectionOf.bind(this)))
  }

  /** Holds and freezes are those of all its accounts. */
  async #controlsAnew(): Promise<void> {
    const {controls} = this.#opened
    this.#opened.controls = undefined
    await controls?.close()
  }

  async #openFor(stack: StackDeclarations, api: Api): Promise<OpenedStackApi> {
    const {connect, mode, allowance, onEvent} = this.#opened.options
    const connection = await connect(api, stack.targets[api]?.profile)
    const id = `${api} ${connection.address} ${connection.keyHash}`
    const known = this.#opened.connections.get(id)
    if (known) return known
    const options = {mode, onEvent, ...(allowance ? {allowance} : {})}
    const opened = openStackApi(this.host, api, connection, options)
    this.#opened.connections.set(id, opened)
    return opened
  }

  async close(): Promise<void> {
    const {connections, ledgerStores, controls} = this.#opened
    await Promise.all([...[...connections.values()].map(it => it.api.close()), ledgerStores.close(), controls?.close()])
  }
}
