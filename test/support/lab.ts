/**
 * A whole reconciler in virtual time: the simulator in process, real backends and budget, ledgers in memory.
 * Declarations are built in a line (`stackOf('shop').subscription('main')…`), past cdktf and the reader.
 *
 * It plans, looks again and carries out through what the commands call (`planOver`, `stillToDo`, `plannedWork`, `carryOver`,
 * `carryOut`, `runTiming` of src/run). Its own is what a `Workspace` gets from files, sockets and scrypt, which may not be
 * awaited in virtual time: stores, journal, digests of secrets, and no controls, audits and approvals. Those are tested with commands.
 */
import {createHash} from 'node:crypto'
import {kinds} from '../../src/backends/kinds.ts'
import type {Clock} from '../../src/base/clock.ts'
import {EXIT} from '../../src/base/errors.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {LedgerBook, type StackSecrets} from '../../src/engine/apply/ledger-book.ts'
import type {Undecided} from '../../src/engine/apply/recovery.ts'
import type {Held} from '../../src/engine/apply/undecided.ts'
import type {ApplyResult} from '../../src/engine/apply/work.ts'
import type {Backend} from '../../src/engine/model/backend.ts'
import type {Declaration, ParentRef, Policy, StackDeclarations} from '../../src/engine/model/declaration.ts'
import type {SecretStateOf} from '../../src/engine/model/diff.ts'
import type {ApplyEvent} from '../../src/engine/model/events.ts'
import type {Journal, JournalEntry} from '../../src/engine/model/journal.ts'
import {emptyLedger, type Ledger, type LedgerEntry, type LedgerStore, LockLostError} from '../../src/engine/model/ledger.ts'
import type {Lifts, OpenLeaf, Operation, Plan} from '../../src/engine/model/plan.ts'
import {openLeaves} from '../../src/engine/model/resolve.ts'
import {type Key, keyOf, keyOfOperation, Secret, type ValueObject} from '../../src/engine/model/value.ts'
import type {Observation} from '../../src/engine/observe/observation.ts'
import {entryOf} from '../../src/engine/observe/pair.ts'
import {assertAgrees} from '../../src/engine/plan/agree.ts'
import type {Begun} from '../../src/engine/plan/begun.ts'
import type {BuildPlanInput, BuiltPlan} from '../../src/engine/plan/build.ts'
import {summaryOf} from '../../src/engine/plan/document.ts'
import {evaluateGuards} from '../../src/engine/plan/guards.ts'
import {stacksOf} from '../../src/engine/plan/recheck.ts'
import {MemoryLedgerStore} from '../../src/ledger/memory-store.ts'
import {type CarryOutOptions, carryOut, plannedWork} from '../../src/run/apply/carry-out.ts'
import {simulatedApis} from '../../src/run/apply/simulated-apis.ts'
import {runTiming} from '../../src/run/host/timing.ts'
import {carryOver} from '../../src/run/ledgers/carry-over.ts'
import {planOver} from '../../src/run/plan/plan-over.ts'
import {stillToDo} from '../../src/run/plan/still-to-do.ts'
import {createSimulator, type Simulator, type SimulatorConfigInput} from '../../src/simulator/index.ts'
import {type Budget, CLOUD_LIMITS, createBudget} from '../../src/transport/budget.ts'

const POLICY: Policy = {exclusive: [], removal: 'delete', ignoreChanges: [], preventDestroy: false, createBeforeDestroy: false}

export class StackBuilder {
  readonly name: string
  readonly #declarations = new Map<string, Declaration>()
  #moved: StackDeclarations['moved'] = []
  #removed: StackDeclarations['removed'] = []

  constructor(name: string) {
    this.name = name
  }

  add(
    kind: string,
    local: string,
    spec: ValueObject,
    more: {
      parent?: ParentRef
      policy?: Partial<Policy>
      after?: readonly string[]
      outputs?: readonly string[]
      importId?: string
      /** cdktf's path. */
      construct?: string
    } = {},
  ): this {
    const address = `null_resource.${local}`
    this.#declarations.set(local, {
      stack: this.name,
      address,
      key: keyOf(this.name, address),
      kind,
      spec,
      ...(more.parent ? {parent: more.parent} : {}),
      dependsOn: (more.after ?? []).map(it => ({key: this.key(it), reason: 'depends_on' as const})),
      policy: {...POLICY, ...more.policy},
      outputs: more.outputs ?? [],
      source: more.construct === undefined ? {} : {construct: more.construct},
      clearSecrets: [],
      ...(more.importId === undefined ? {} : {importId: more.importId}),
    })
    return this
  }

  /** A `moved` block. */
  moved(from: string, to: string): this {
    this.#moved = [...this.#moved, {from: `null_resource.${from}`, to: `null_resource.${to}`}]
    return this
  }

  /** A `removed` block. */
  removed(local: string, {destroy}: {destroy: boolean}): this {
    this.#removed = [...this.#removed, {from: `null_resource.${local}`, destroy}]
    return this
  }

  key(local: string): string {
    return keyOf(this.name, `null_resource.${local}`)
  }

  in(local: string): ParentRef {
    return {by: 'key', key: this.key(local)}
  }

  subscription(local: string, spec: ValueObject = {}, policy: Partial<Policy> = {}): this {
    return this.add('cloud.subscription', local, {name: local, ...spec}, {policy})
  }

  database(local: string, parent: string, spec: ValueObject = {}, policy: Partial<Policy> = {}): this {
    return this.add('cloud.database', local, {name: local, memoryLimitInGb: 1, ...spec}, {parent: this.in(parent), policy})
  }

  peering(local: string, parent: string, spec: ValueObject = {}, policy: Partial<Policy> = {}): this {
    return this.add(
      'cloud.peering',
      local,
      {provider: 'AWS', region: 'us-east-1', vpcId: `vpc-${local}`, ...spec},
      {parent: this.in(parent), policy},
    )
  }

  rule(local: string, parent: string, spec: ValueObject = {}): this {
    return this.add('cloud.acl_rule', local, {name: local, rule: '+@read ~*', ...spec}, {parent: this.in(parent)})
  }

  user(local: string, parent: string, spec: ValueObject = {}, after: readonly string[] = []): this {
    return this.add('cloud.acl_user', local, {name: local, ...spec}, {parent: this.in(parent), after})
  }

  bdb(local: string, spec: ValueObject = {}, policy: Partial<Policy> = {}): this {
    return this.add('cluster.database', local, {name: local, memory_size: 104_857_600, ...spec}, {policy})
  }

  clusterUser(local: string, spec: ValueObject = {}): this {
    return this.add('cluster.user', local, {name: local, role: 'db_viewer', ...spec})
  }

  without(...locals: readonly string[]): this {
    for (const local of locals) this.#declarations.delete(local)
    return this
  }

  build(): StackDeclarations {
    return {
      name: this.name,
      declarations: [...this.#declarations.values()],
      outputs: [],
      targets: {},
      ledger: {type: 'local', file: `terraform.${this.name}.tfstate`},
      moved: this.#moved,
      removed: this.#removed,
      warnings: [],
    }
  }
}

export const stackOf = (name = 'shop'): StackBuilder => new StackBuilder(name)

export class MemoryStore extends MemoryLedgerStore {
  #lock = 0

  constructor(stack: string) {
    super(emptyLedger(stack))
  }

  /** The store as one run sees it that has its lock, until another run takes it. */
  held(): LedgerStore {
    const mine = ++this.#lock
    const assertMine = () => {
      if (mine !== this.#lock) throw new LostError('the lock is held by somebody else', {code: 'E_LOCK_LOST', exit: EXIT.locked})
    }
    return {
      place: this.place,
      load: () => this.load(),
      lock: () => this.lock(),
      assertHeld: async () => assertMine(),
      save: async ledger => {
        assertMine()
        return this.save(ledger)
      },
    }
  }
}

const skewed = (clock: Clock, ms: number): Clock => ({now: () => clock.now() + ms, sleep: (...given) => clock.sleep(...given)})

class LostError extends LockLostError {}

export interface LabOptions {
  readonly simulator?: SimulatorConfigInput
  readonly seed?: number
  readonly perMinute?: number
  readonly burst?: number
  /** How far the servers' clock is ahead of ours. */
  readonly serverAheadMs?: number
  /** Another process on the same account: the clock and the simulator are shared, the budget is its own. */
  readonly beside?: Pick<Lab, 'clock' | 'simulator'>
  readonly budget?: (clock: VirtualClock) => Budget
}

export type Planning = Omit<Partial<BuildPlanInput>, 'kinds' | 'evaluate' | 'stacks' | 'lifts'> & {readonly lifts?: Partial<Lifts>}
type Applied = ApplyResult & BuiltPlan

/** What is lifted where a test does not say it: everything. */
export const PERMISSIVE: Lifts = {
  allowDestroy: ['*'],
  adopt: ['*'],
  accept: [],
  skipBlocked: true,
  onDrift: 'overwrite',
  noDestroy: false,
  refuseRisky: false,
}

export class Lab {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  readonly stores = new Map<string, MemoryStore>()
  events: ApplyEvent[] = []
  journal: JournalEntry[] = []
  budget: Budget
  readonly #newBudget: () => Budget

  constructor({
    simulator = {},
    seed = 1,
    serverAheadMs = 0,
    perMinute = CLOUD_LIMITS.perMinute,
    burst = CLOUD_LIMITS.burst,
    beside,
    budget,
  }: LabOptions = {}) {
    this.clock = beside?.clock ?? new VirtualClock()
    this.simulator = beside?.simulator ?? createSimulator({clock: skewed(this.clock, serverAheadMs), seed, config: simulator})
    this.#newBudget = () => budget?.(this.clock) ?? createBudget({limits: {perMinute, burst, reserve: 0}, clock: this.clock})
    this.budget = this.#newBudget()
  }

  /** Another process: who waited for a request in the one before is gone. */
  restart(): void {
    this.budget = this.#newBudget()
  }

  store(stack: string): MemoryStore {
    const known = this.stores.get(stack) ?? new MemoryStore(stack)
    this.stores.set(stack, known)
    return known
  }

  entry(stack: string, local: string): LedgerEntry | undefined {
    return this.store(stack).ledger.entries.get(`null_resource.${local}`)
  }

  backends(mode: 'plan' | 'full'): (stack: string, api: 'cloud' | 'cluster') => Backend {
    return simulatedApis(this.simulator, {clock: this.clock, budget: this.budget, mode})
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return this.clock.run(work())
  }

  /** @throws Error when planning sent anything but a GET, and when the plan's parts disagree */
  async plan(builders: readonly StackBuilder[], more: Planning = {}): Promise<BuiltPlan> {
    const stacks = builders.map(it => it.build())
    const names = stacks.map(it => it.name)
    const ledgers = await this.ledgers(names.filter(it => more.selected?.has(it) ?? true))
    const others = [...this.stores.keys(), ...names].filter(it => !ledgers.has(it))
    return agreeing(await this.#plan(stacks, ledgers, {otherLedgers: [...(await this.ledgers(others)).values()], ...more}))
  }

  /** Of stacks that were not built here. */
  async planOf(stacks: readonly StackDeclarations[], more: Planning = {}): Promise<BuiltPlan> {
    return agreeing(await this.#plan(stacks, await this.ledgers(stacks.map(it => it.name)), more))
  }

  async #plan(stacks: readonly StackDeclarations[], ledgers: ReadonlyMap<string, Ledger>, more: Planning): Promise<BuiltPlan> {
    const backendOf = this.backends('plan')
    const from = this.simulator.log.length
    const {selected, ...given} = more
    const ofRun = (it: StackDeclarations) => selected?.has(it.name) ?? true
    return planOver({
      stacks: stacks.filter(ofRun),
      others: stacks.filter(it => !ofRun(it)),
      ledgers,
      backendOf,
      variable: () => undefined,
      secretStates: pairs =>
        Promise.resolve(secretStates(new Map([...(more.otherLedgers ?? []).map(it => [it.stack, it] as const), ...ledgers]), pairs)),
      tool: 'lab',
      accounts: {cloud: {address: 'cloud', keyHash: 'k'}, cluster: {address: 'cluster', keyHash: 'k'}},
      selection: {target: [], exclude: []},
      pricing: {perMinute: 100, tokens: 150, durationMs: () => 1000},
      used: () => backendOf('', 'cloud').spending.used + backendOf('', 'cluster').spending.used,
      ...given,
      lifts: {...PERMISSIVE, ...more.lifts},
    }).finally(() => this.#assertOnlyRead(from))
  }

  #assertOnlyRead(from: number): void {
    const written = this.simulator.log.slice(from).find(it => it.method !== 'GET')
    if (written) throw new Error(`planning sent ${written.method} ${written.path}`)
  }

  async ledgers(stacks: readonly string[]): Promise<Map<string, Ledger>> {
    return new Map(await Promise.all(stacks.map(async it => [it, await this.store(it).load()] as const)))
  }

  async apply(
    builders: readonly StackBuilder[],
    more: Planning & {run?: Partial<CarryOutOptions>; undecided?: readonly Undecided[]} = {},
  ): Promise<Applied> {
    const {run, undecided, ...planning} = more
    return this.execute(await this.plan(builders, planning), builders, run, undecided)
  }

  /** What of a saved plan is to be done now. @param begun - by a run that died @throws StalePlanError */
  async recheck(plan: Plan, builders: readonly StackBuilder[], begun?: Begun, more: Planning = {}): Promise<BuiltPlan> {
    const stacks = stacksOf(plan, secretsOf(builders))
    const ledgers = await this.ledgers(plan.stacks.map(it => it.name))
    const others = await this.ledgers([...this.stores.keys()].filter(it => !ledgers.has(it)))
    const {operations, fresh} = await stillToDo(plan, {
      kinds,
      ...(more.accountOf && {accountOf: more.accountOf}),
      ledgers,
      otherLedgers: [...others.values()],
      planAgain: (seen, wishes) => this.#plan(stacks, seen.ledgers, {otherLedgers: seen.otherLedgers, ...more, ...wishes}),
      open: new Set(),
      begun,
    })
    const guards = evaluateGuards({...plan, operations}, kinds)
    return {plan: {...plan, operations, summary: summaryOf(operations), guards}, observation: fresh.observation, choice: fresh.choice}
  }

  async execute(
    built: BuiltPlan,
    builders: readonly StackBuilder[],
    {
      journalOf,
      storeOf = stack => this.store(stack).held(),
      ...run
    }: Partial<CarryOutOptions> & {
      readonly journalOf?: (book: LedgerBook) => Journal
      readonly storeOf?: (stack: string) => LedgerStore
    } = {},
    undecided: readonly Undecided[] = [],
    left: ReadonlyMap<Key, Held> = new Map(),
  ): Promise<Applied> {
    const {plan, observation} = built
    const {work, held} = plannedWork({plan, observation, secret: secretsOf(builders), left, undecided, accountOf: run.accountOf})
    this.events = []
    this.journal = []
    const stacks = plan.stacks.map(it => it.name)
    await carryOver('t1', plan.operations, new Map(stacks.map(it => [it, this.store(it)])), held)
    const book: LedgerBook = new LedgerBook(await this.ledgers(stacks), new Map(stacks.map(it => [it, storeOf(it)])), ledger =>
      Promise.resolve(sealed(ledger, book.secretsOf(ledger.stack))),
    )
    const {pace, timeoutMs, lagMs} = runTiming(undefined)
    const result = await carryOut(work, observation, {
      run: 'run-1',
      backendOf: this.backends('full'),
      clock: this.clock,
      sentDigest: async (_, where, it) => `${where} ${digestOf(it)}`,
      variable: () => undefined,
      book,
      journal: {append: entry => void this.journal.push(entry)},
      emit: event => void this.events.push(event),
      limits: {},
      pace,
      timeoutMs,
      listLagMs: lagMs,
      stop: new AbortController().signal,
      ...(journalOf && {journal: journalOf(book)}),
      ...run,
    })
    return {...result, ...built}
  }

  /** Method and path of every request since the last `clearLog`. */
  get requests(): string[] {
    return this.simulator.log.map(it => `${it.method} ${it.path}`)
  }

  /** The same of those that may change something. */
  get writes(): string[] {
    return this.simulator.log.filter(it => it.method !== 'GET').map(it => `${it.method} ${it.path}`)
  }
}

function agreeing(built: BuiltPlan): BuiltPlan {
  assertAgrees(built.plan, kinds)
  return built
}

function secretsOf(builders: readonly StackBuilder[]): (operation: Operation, leaf: OpenLeaf) => Secret {
  const specs = new Map(builders.flatMap(it => it.build().declarations).map(it => [it.key, it.spec]))
  return (operation, leaf) => {
    const spec = specs.get(keyOfOperation(operation))
    const found = spec && openLeaves(spec).find(it => it.pointer === leaf.path)?.leaf
    if (found instanceof Secret) return found
    throw new Error(`${operation.address} has no secret at ${leaf.path}`)
  }
}

/** Digests that cost nothing: what sealing is for is tested with the ledger. */
export const digestOf = (secret: Secret): string =>
  secret.version === undefined ? createHash('sha256').update(JSON.stringify(secret.value)).digest('hex') : `version:${secret.version}`

export function sealed(ledger: Ledger, applied: StackSecrets): Ledger {
  const entries = [...ledger.entries].map(([address, entry]): [string, LedgerEntry] => {
    const secrets = applied.get(address)
    return [
      address,
      secrets
        ? {...entry, secrets: {...entry.secrets, ...Object.fromEntries([...secrets].map(([at, it]) => [at, digestOf(it.secret)]))}}
        : entry,
    ]
  })
  return {...ledger, entries: new Map(entries)}
}

function secretStates(ledgers: ReadonlyMap<string, Ledger>, pairs: Observation['pairs']): SecretStateOf {
  return (key, pointer, secret) => {
    const pair = pairs.get(key)
    const entry = pair && entryOf(ledgers, pair)
    if (entry === undefined) return 'unknown'
    return entry.secrets[pointer] === digestOf(secret) ? 'same' : 'changed'
  }
}
