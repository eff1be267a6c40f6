/**
 * Runs a plan against a copy of the live state: the simulator, seeded with what the plan has read, in virtual time.
 * Shows what would be sent, in which order and when, and whether a second plan would be empty. Nothing real is written.
 */
import type {Api} from '../../base/apis.ts'
import type {JsonObject} from '../../base/json.ts'
import {VirtualClock} from '../../base/virtual-clock.ts'
import {LedgerBook} from '../../engine/apply/ledger-book.ts'
import type {ApplyResult} from '../../engine/apply/work.ts'
import type {Backend} from '../../engine/model/backend.ts'
import type {LiveObject} from '../../engine/model/live.ts'
import type {AccountOf} from '../../engine/model/ownership.ts'
import type {Observation} from '../../engine/observe/observation.ts'
import type {BuiltPlan} from '../../engine/plan/build.ts'
import {MemoryLedgerStore} from '../../ledger/memory-store.ts'
import {heldIn, type RehearsedCall} from '../../report/rehearsal-text.ts'
import {createSimulator, type Simulator} from '../../simulator/index.ts'
import {seedWorld} from '../../simulator/seed.ts'
import type {RateLimits} from '../../transport/account-bucket.ts'
import {createBudget, NO_LIMITS} from '../../transport/budget.ts'
import type {PlanOptions} from '../host/plan-options.ts'
import {runTiming} from '../host/timing.ts'
import {carryOver} from '../ledgers/carry-over.ts'
import {planWorkspace} from '../plan/plan.ts'
import {RunSecrets} from '../workspace/secrets.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {carryOut, plannedWork} from './carry-out.ts'
import {simulatedApis} from './simulated-apis.ts'
import {heldByControls} from './supervision.ts'

export interface Rehearsal {
  readonly calls: readonly RehearsedCall[]
  readonly result: ApplyResult
  /** What a second plan would still do. */
  readonly again: BuiltPlan
}

/** How long changes take where nothing is learned; what matters is that they take a while. */
const TASK_MS = 5_000

export async function rehearse(workspace: Workspace, built: BuiltPlan, options: PlanOptions): Promise<Rehearsal> {
  const clock = new VirtualClock()
  const {accountOf} = workspace
  const worlds = new Worlds(built.observation, accountOf, clock)
  const backendOf = worlds.open(limitsOf(workspace))
  const secrets = new RunSecrets(workspace, built.observation.pairs)
  const stores = new Map([...workspace.ledgers].map(([stack, ledger]) => [stack, new MemoryLedgerStore(ledger)]))
  // Sealing takes real time, which virtual time does not wait for: it is done afterwards.
  const left = heldByControls(built.plan.operations, it => it.held)
  const {work, held} = plannedWork({...built, secret: secrets.of, left})
  await carryOver('rehearsal', built.plan.operations, stores, held)
  const ledgers = new Map(await Promise.all([...stores].map(async ([stack, store]) => [stack, await store.load()] as const)))
  const book = new LedgerBook(ledgers, stores, ledger => Promise.resolve(ledger))
  const {pace, timeoutMs, lagMs} = runTiming(undefined)
  const started = clock.now()
  const result = await clock.run(
    carryOut(work, built.observation, {
      run: 'rehearsal',
      backendOf,
      accountOf,
      clock,
      variable: workspace.variable,
      book,
      journal: {append: () => {}},
      emit: () => {},
      limits: {},
      pace,
      timeoutMs,
      listLagMs: lagMs,
      stop: new AbortController().signal,
      adoptsUnfinished: true,
    }),
  )
  const calls = worlds.log.map(({at, api, method, path, status}) => ({seconds: (at - started) / 1000, api, method, path, status}))
  const sealed = new Map(
    await Promise.all(
      [...stores].map(async ([stack, store]) => {
        const ledger = await store.load()
        return [stack, await workspace.sealer.seal(ledger, book.secretsOf(stack), secrets.ofStack(stack, built.plan))] as const
      }),
    ),
  )
  const again = await planWorkspace(
    workspace.seen({
      ledgers: sealed,
      // Planning again must not have to wait on a clock that nobody moves.
      backendOf: worlds.open(NO_LIMITS),
    }),
    {
      options,
      choice: built.choice,
    },
  )
  return {calls, result, again}
}

/** A copy of each account that a plan speaks to: two of them may have objects of the same paths and names. */
class Worlds {
  readonly #objects = new Map<string, LiveObject[]>()
  readonly #worlds = new Map<string, Simulator>()
  readonly #accountOf: AccountOf
  readonly #clock: VirtualClock

  constructor({collections, pairs, ownership}: Observation, accountOf: AccountOf, clock: VirtualClock) {
    this.#accountOf = accountOf
    this.#clock = clock
    for (const {backend, objects} of collections) for (const it of objects) this.#put(ownership.accountAt(backend), it)
    for (const {declaration, match} of pairs.values()) if (match) this.#put(accountOf(declaration.stack, match.live.kind.api), match.live)
  }

  /** Every request that any of them got. */
  get log(): Simulator['log'] {
    return [...this.#worlds.values()].flatMap(it => it.log).sort((a, b) => a.at - b.at)
  }

  /** @param limits - of each account */
  open(limits: RateLimits): (stack: string, api: Api) => Backend {
    const opened = new Map<string, Backend>()
    return (stack, api) => {
      const name = nameOf(api, this.#accountOf(stack, api))
      const known = opened.get(name) ?? this.#open(name, limits)(stack, api)
      opened.set(name, known)
      return known
    }
  }

  #open(name: string, limits: RateLimits): (stack: string, api: Api) => Backend {
    const world = this.#worlds.get(name) ?? this.#create(name)
    this.#worlds.set(name, world)
    return simulatedApis(world, {clock: this.#clock, budget: createBudget({limits, clock: this.#clock})})
  }

  #create(name: string): Simulator {
    const simulator = createSimulator({
      clock: this.#clock,
      config: {cloud: {taskMs: TASK_MS, readyMs: TASK_MS}, cluster: {changeMs: TASK_MS}},
    })
    seedWorld(simulator.world, this.#objects.get(name) ?? [], this.#clock.now())
    return simulator
  }

  #put(account: string, live: LiveObject): void {
    const name = nameOf(live.kind.api, account)
    const objects = this.#objects.get(name)
    if (objects) objects.push(live)
    else this.#objects.set(name, [live])
  }
}

const nameOf = (api: Api, account: string): string => `${api} ${account}`

/** The account's limits, as they are set for the cloud. */
function limitsOf({connections}: Workspace): RateLimits {
  const settings = connections.find(it => it.api === 'cloud')?.settings
  if (settings?.ratePerMinute === undefined) return NO_LIMITS
  return {perMinute: settings.ratePerMinute, burst: settings.burst ?? settings.ratePerMinute, reserve: 0}
}

export function rehearsalDocument({calls, result, again}: Rehearsal, plan: BuiltPlan['plan']): JsonObject {
  const left = again.plan.operations.filter(it => it.action !== 'no-op')
  const held = heldIn(plan)
  const {guards, freezes = []} = plan
  return {
    plan: plan.hash,
    guards: guards.map(it => ({...it, addresses: [...it.addresses]})),
    ...(freezes.length === 0 ? {} : {freezes: freezes.map(it => ({...it}))}),
    ...(held.length === 0 ? {} : {held: held.map(({stack, address, held: {by, until, reason}}) => ({stack, address, by, until, reason}))}),
    calls: calls.map(it => ({...it})),
    requests: calls.length,
    seconds: {ready: result.readyMs / 1000, proven: result.provenMs / 1000},
    summary: {...result.summary},
    bill: {...plan.bill, ready: {...plan.bill.ready}},
    second_plan: {empty: left.length === 0, operations: left.map(({stack, address, action}) => ({stack, address, action}))},
  }
}
