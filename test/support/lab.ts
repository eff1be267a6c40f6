/**
 * A whole reconciler in virtual time: the simulator in process, real backends and budget, ledgers in memory.
 * Declarations are built in a line (`stackOf('shop').subscription('main')…`), past cdktf and the reader.
 */
import {createHash} from 'node:crypto'
import {kinds} from '../../src/backends/kinds.ts'
import type {Clock} from '../../src/base/clock.ts'
import {EXIT} from '../../src/base/errors.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {evaluate} from '../../src/declaration/read/residual.ts'
import {execute} from '../../src/engine/apply/execute.ts'
import {LedgerBook, type StackSecrets} from '../../src/engine/apply/ledger-book.ts'
import type {Undecided} from '../../src/engine/apply/recovery.ts'
import type {RunOptions} from '../../src/engine/apply/run-context.ts'
import {type Held, heldOperations} from '../../src/engine/apply/undecided.ts'
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
import {wholePlan} from '../../src/engine/observe/choice.ts'
import type {Observation} from '../../src/engine/observe/observation.ts'
import {entryOf} from '../../src/engine/observe/pair.ts'
import {assertAgrees} from '../../src/engine/plan/agree.ts'
import {type BuildPlanInput, type BuiltPlan, buildPlan} from '../../src/engine/plan/build.ts'
import {summaryOf} from '../../src/engine/plan/document.ts'
import {evaluateGuards} from '../../src/engine/plan/guards.ts'
import {acceptedIn, goingOf, leftAloneIn, stacksOf, stillValid, touchedLedger, untouchedLedger} from '../../src/engine/plan/recheck.ts'
import {givingWay} from '../../src/run/apply/giving-way.ts'
import {simulatedApis} from '../../src/run/apply/simulated-apis.ts'
import {contextObjects, workOf} from '../../src/run/apply/work-of.ts'
import {carryOver} from '../../src/run/ledgers/carry-over.ts'
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

export class MemoryStore implements LedgerStore {
  readonly place = 'memory'
  ledger: Ledger
  #lock = 0

  constructor(stack: string) {
    this.ledger = emptyLedger(stack)
  }

  load(): Promise<Ledger> {
    return Promise.resolve({...this.ledger, entries: new Map(this.ledger.entries)})
  }

  save(ledger: Ledger): Promise<Ledger> {
    this.ledger = {...ledger, condition: 'present', serial: ledger.serial + 1, entries: new Map(ledger.entries)}
    return Promise.resolve({...this.ledger, entries: new Map(this.ledger.entries)})
  }

  lock(): Promise<() => Promise<void>> {
    return Promise.resolve(() => Promise.resolve())
  }

  assertHeld(): Promise<void> {
    return Promise.resolve()
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

export type Planning = Omit<Partial<BuildPlanInput>, 'lifts'> & {readonly lifts?: Partial<Lifts>}
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
  readonly budget: Budget

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
    this.budget = budget?.(this.clock) ?? createBudget({limits: {perMinute, burst, reserve: 0}, clock: this.clock})
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
    return this.#plan(stacks, ledgers, {otherLedgers: [...(await this.ledgers(others)).values()], ...more})
  }

  /** Of stacks that were not built here. */
  async planOf(stacks: readonly StackDeclarations[], more: Planning = {}): Promise<BuiltPlan> {
    return this.#plan(stacks, await this.ledgers(stacks.map(it => it.name)), more)
  }

  async #plan(stacks: readonly StackDeclarations[], ledgers: ReadonlyMap<string, Ledger>, more: Planning): Promise<BuiltPlan> {
    const backendOf = this.backends('plan')
    const from = this.simulator.log.length
    const built = await buildPlan({
      stacks,
      selected: new Set(stacks.map(it => it.name)),
      ledgers,
      kinds,
      backendOf,
      evaluate,
      variable: () => undefined,
      secretStates: pairs =>
        Promise.resolve(secretStates(new Map([...(more.otherLedgers ?? []).map(it => [it.stack, it] as const), ...ledgers]), pairs)),
      tool: 'lab',
      accounts: {cloud: {address: 'cloud', keyHash: 'k'}, cluster: {address: 'cluster', keyHash: 'k'}},
      selection: {target: [], exclude: []},
      pricing: {perMinute: 100, tokens: 150, durationMs: () => 1000},
      used: () => backendOf('', 'cloud').spending.used + backendOf('', 'cluster').spending.used,
      ...more,
      lifts: {...PERMISSIVE, ...more.lifts},
    }).finally(() => this.#assertOnlyRead(from))
    assertAgrees(built.plan, kinds)
    return built
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
    more: Planning & {run?: Partial<RunOptions>; undecided?: readonly Undecided[]} = {},
  ): Promise<Applied> {
    const {run, undecided, ...planning} = more
    return this.execute(await this.plan(builders, planning), builders, run, undecided)
  }

  /** What of a saved plan is to be done now. @param begun - by a run that died @throws StalePlanError */
  async recheck(plan: Plan, builders: readonly StackBuilder[], begun = false): Promise<BuiltPlan> {
    const secrets = secretsOf(builders)
    const full = await this.ledgers(plan.stacks.map(it => it.name))
    const cut = new Map([...full].map(([stack, ledger]) => [stack, touchedLedger(ledger, plan)]))
    const others = await this.ledgers([...this.stores.keys()].filter(it => !full.has(it)))
    const rest = [...full.values()].map(it => untouchedLedger(it, plan))
    const fresh = await this.#plan(stacksOf(plan, secrets), cut, {
      otherLedgers: [...rest, ...others.values()],
      going: goingOf(plan, full),
      leftAlone: leftAloneIn(plan),
      choice: wholePlan(acceptedIn(plan)),
      lifts: {accept: plan.lifts.accept},
    })
    const operations = stillValid(plan, fresh.plan.operations, new Map([...others, ...full]), new Set(), begun)
    const guards = evaluateGuards({...plan, operations}, kinds)
    return {plan: {...plan, operations, summary: summaryOf(operations), guards}, observation: fresh.observation, choice: fresh.choice}
  }

  async execute(
    built: BuiltPlan,
    builders: readonly StackBuilder[],
    {journalOf, ...run}: Partial<RunOptions> & {readonly journalOf?: (book: LedgerBook) => Journal} = {},
    undecided: readonly Undecided[] = [],
    left: ReadonlyMap<Key, Held> = new Map(),
  ): Promise<Applied> {
    const {plan, observation} = built
    const held = new Map([...left, ...heldOperations(plan.operations, undecided, {kinds, accountOf: run.accountOf})])
    const secrets = secretsOf(builders)
    const work = workOf(plan, observation, secrets, held)
    this.events = []
    this.journal = []
    const stacks = plan.stacks.map(it => it.name)
    await carryOver('t1', plan.operations, new Map(stacks.map(it => [it, this.store(it)])), held)
    const book: LedgerBook = new LedgerBook(await this.ledgers(stacks), new Map(stacks.map(it => [it, this.store(it).held()])), ledger =>
      Promise.resolve(sealed(ledger, book.secretsOf(ledger.stack))),
    )
    const result = await execute(
      work,
      {
        run: 'run-1',
        kinds,
        backendOf: this.backends('full'),
        clock: this.clock,
        sentDigest: async (_, where, it) => `${where} ${digestOf(it)}`,
        evaluate,
        variable: () => undefined,
        book,
        journal: {append: entry => void this.journal.push(entry)},
        emit: event => void this.events.push(event),
        givingWay: givingWay(work, observation),
        limits: {},
        pace: {minMs: 1000, maxMs: 10_000},
        timeoutMs: 30 * 60_000,
        listLagMs: 2000,
        stop: new AbortController().signal,
        ...(journalOf && {journal: journalOf(book)}),
        ...run,
      },
      contextObjects(observation),
    )
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
