/**
 * A whole reconciler in virtual time: the simulator in process, real backends and budget, ledgers in memory.
 * Declarations are built in a line (`stackOf('shop').subscription('main')…`), past cdktf and the reader.
 */
import {openCloudBackend} from '../../src/backends/cloud/backend.ts'
import {openClusterBackend} from '../../src/backends/cluster/backend.ts'
import {kinds} from '../../src/backends/kinds.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import type {Backend} from '../../src/engine/backend.ts'
import {type BuildPlanInput, type BuiltPlan, buildPlan} from '../../src/engine/build-plan.ts'
import type {Declaration, ParentRef, Policy, StackDeclarations} from '../../src/engine/declaration.ts'
import type {ApplyEvent} from '../../src/engine/events.ts'
import {type ApplyResult, execute, type Work} from '../../src/engine/execute.ts'
import type {JournalEntry} from '../../src/engine/journal.ts'
import {emptyLedger, type Ledger, type LedgerStore} from '../../src/engine/ledger.ts'
import {LedgerBook} from '../../src/engine/ledger-book.ts'
import {declarationOf} from '../../src/engine/planned-object.ts'
import type {RunOptions} from '../../src/engine/run-context.ts'
import {keyOf, Secret, type ValueObject} from '../../src/engine/value.ts'
import {createSimulator, type Simulator, type SimulatorConfigInput} from '../../src/simulator/index.ts'
import {type Budget, CLOUD_LIMITS, createBudget, NO_LIMITS} from '../../src/transport/budget.ts'
import {createApiClient} from '../../src/transport/create-api-client.ts'

const POLICY: Policy = {exclusive: [], removal: 'delete', ignoreChanges: [], preventDestroy: false, createBeforeDestroy: false}

export class StackBuilder {
  readonly name: string
  readonly #declarations = new Map<string, Declaration>()

  constructor(name: string) {
    this.name = name
  }

  add(
    kind: string,
    local: string,
    spec: ValueObject,
    more: {parent?: ParentRef; policy?: Partial<Policy>; after?: readonly string[]; outputs?: readonly string[]} = {},
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
      source: {},
      clearSecrets: [],
    })
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

  rule(local: string, parent: string, spec: ValueObject = {}): this {
    return this.add('cloud.acl_rule', local, {name: local, rule: '+@read ~*', ...spec}, {parent: this.in(parent)})
  }

  user(local: string, parent: string, spec: ValueObject = {}, after: readonly string[] = []): this {
    return this.add('cloud.acl_user', local, {name: local, ...spec}, {parent: this.in(parent), after})
  }

  bdb(local: string, spec: ValueObject = {}): this {
    return this.add('cluster.database', local, {name: local, memory_size: 104_857_600, ...spec})
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
      moved: [],
      removed: [],
      warnings: [],
    }
  }
}

export const stackOf = (name = 'shop'): StackBuilder => new StackBuilder(name)

class MemoryStore implements LedgerStore {
  readonly place = 'memory'
  ledger: Ledger

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
}

export interface LabOptions {
  readonly simulator?: SimulatorConfigInput
  readonly seed?: number
  readonly perMinute?: number
  readonly burst?: number
}

export class Lab {
  readonly clock = new VirtualClock()
  readonly simulator: Simulator
  readonly stores = new Map<string, MemoryStore>()
  events: ApplyEvent[] = []
  journal: JournalEntry[] = []
  readonly budget: Budget

  constructor({simulator = {}, seed = 1, perMinute = CLOUD_LIMITS.perMinute, burst = CLOUD_LIMITS.burst}: LabOptions = {}) {
    this.simulator = createSimulator({clock: this.clock, seed, config: simulator})
    this.budget = createBudget({limits: {perMinute, burst, reserve: 0}, clock: this.clock})
  }

  store(stack: string): MemoryStore {
    const known = this.stores.get(stack) ?? new MemoryStore(stack)
    this.stores.set(stack, known)
    return known
  }

  backends(mode: 'plan' | 'full'): (stack: string, api: 'cloud' | 'cluster') => Backend {
    const {credentials} = this.simulator.config
    const {clock} = this
    const cloud = openCloudBackend(
      createApiClient({
        address: this.simulator.bases.cloud,
        authentication: {'x-api-key': credentials.apiKey, 'x-api-secret-key': credentials.secretKey},
        transport: this.simulator.transport,
        budget: this.budget,
        clock,
        mode,
      }),
      {clock},
    )
    const cluster = openClusterBackend(
      createApiClient({
        address: this.simulator.bases.cluster,
        authentication: {authorization: `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`},
        transport: this.simulator.transport,
        budget: createBudget({limits: NO_LIMITS, clock}),
        clock,
        mode,
      }),
      {clock},
    )
    return (_, api) => (api === 'cloud' ? cloud : cluster)
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return this.clock.run(work())
  }

  async plan(builders: readonly StackBuilder[], more: Partial<BuildPlanInput> = {}): Promise<BuiltPlan> {
    const stacks = builders.map(it => it.build())
    const ledgers = new Map(await Promise.all(stacks.map(async it => [it.name, await this.store(it.name).load()] as const)))
    const backendOf = this.backends('plan')
    return buildPlan({
      stacks,
      selected: new Set(stacks.map(it => it.name)),
      ledgers,
      kinds,
      backendOf,
      evaluate: expression => {
        throw new Error(`nothing to evaluate in a lab: ${expression}`)
      },
      variable: () => undefined,
      secretStates: () => Promise.resolve(() => 'same'),
      onDrift: 'overwrite',
      noDestroy: false,
      tool: 'lab',
      accounts: {},
      guards: {allowDestroy: ['*'], maxDestroy: {percent: 30}, refuseRisky: false, onDrift: 'overwrite', skipBlocked: true, destroy: false},
      selection: {target: [], exclude: []},
      accept: [],
      pricing: {perMinute: 100, tokens: 150, durationMs: () => 1000},
      used: () => backendOf('', 'cloud').spending.used + backendOf('', 'cluster').spending.used,
      ...more,
    })
  }

  async apply(
    builders: readonly StackBuilder[],
    more: Partial<BuildPlanInput> & {run?: Partial<RunOptions>} = {},
  ): Promise<ApplyResult & BuiltPlan> {
    const {run, ...planning} = more
    const built = await this.plan(builders, planning)
    const secrets = new Map(builders.flatMap(it => it.build().declarations).map(it => [it.key, it.spec]))
    const lives = new Map([...built.observation.pairs].flatMap(([key, {match}]) => (match ? [[key, match.live] as const] : [])))
    const work: Work[] = built.plan.operations.map(operation => {
      const key = keyOf(operation.stack, operation.address)
      const declaration = declarationOf(operation, leaf => {
        const value = secrets.get(key)?.[leaf.path.slice(1)]
        if (value instanceof Secret) return value
        throw new Error(`no secret at ${leaf.path}`)
      })
      const live = lives.get(key)
      return {operation, ...(declaration ? {declaration} : {}), ...(live ? {live} : {})}
    })
    this.events = []
    this.journal = []
    const stacks = builders.map(it => it.name)
    const ledgers = new Map(await Promise.all(stacks.map(async it => [it, await this.store(it).load()] as const)))
    const result = await execute(
      work,
      {
        run: 'run-1',
        kinds,
        backendOf: this.backends('full'),
        clock: this.clock,
        evaluate: expression => {
          throw new Error(`nothing to evaluate in a lab: ${expression}`)
        },
        variable: () => undefined,
        book: new LedgerBook(ledgers, new Map(stacks.map(it => [it, this.store(it)])), ledger => Promise.resolve(ledger)),
        journal: {append: entry => void this.journal.push(entry)},
        emit: event => void this.events.push(event),
        limits: {},
        pace: {minMs: 1000, maxMs: 10_000},
        timeoutMs: 30 * 60_000,
        listLagMs: 2000,
        stop: new AbortController().signal,
        ...run,
      },
      lives,
    )
    return {...result, ...built}
  }

  /** Method and path of every request since the last `clearLog`. */
  get requests(): string[] {
    return this.simulator.log.map(it => `${it.method} ${it.path}`)
  }
}
