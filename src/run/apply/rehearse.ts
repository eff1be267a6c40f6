/**
 * Runs a plan against a copy of the live state: the simulator, seeded with what the plan has read, in virtual time.
 * Shows what would be sent, in which order and when, and whether a second plan would be empty. Nothing real is written.
 */
import type {JsonObject} from '../../base/json.ts'
import {VirtualClock} from '../../base/virtual-clock.ts'
import {LedgerBook} from '../../engine/apply/ledger-book.ts'
import type {ApplyResult} from '../../engine/apply/work.ts'
import type {BuiltPlan} from '../../engine/plan/build.ts'
import {MemoryLedgerStore} from '../../ledger/memory-store.ts'
import type {RehearsedCall} from '../../report/rehearsal-text.ts'
import {createSimulator} from '../../simulator/index.ts'
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
  const simulator = createSimulator({clock, config: {cloud: {taskMs: TASK_MS, readyMs: TASK_MS}, cluster: {changeMs: TASK_MS}}})
  const objects = [
    ...built.observation.collections.flatMap(it => it.objects),
    ...[...built.observation.pairs.values()].flatMap(it => it.match?.live ?? []),
  ]
  seedWorld(simulator.world, objects, clock.now())
  const backendOf = simulatedApis(simulator, {clock, budget: createBudget({limits: limitsOf(workspace), clock})})
  const secrets = new RunSecrets(workspace, built.observation.pairs)
  const stores = new Map([...workspace.ledgers].map(([stack, ledger]) => [stack, new MemoryLedgerStore(ledger)]))
  // Sealing takes real time, which virtual time does not wait for: it is done afterwards.
  await carryOver('rehearsal', built.plan.operations, stores, new Map())
  const ledgers = new Map(await Promise.all([...stores].map(async ([stack, store]) => [stack, await store.load()] as const)))
  const book = new LedgerBook(ledgers, stores, ledger => Promise.resolve(ledger))
  const {pace, timeoutMs, lagMs} = runTiming(undefined)
  const started = clock.now()
  const result = await clock.run(
    carryOut(plannedWork({...built, secret: secrets.of}).work, built.observation, {
      run: 'rehearsal',
      backendOf,
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
    }),
  )
  const calls = simulator.log.map(({at, api, method, path, status}) => ({seconds: (at - started) / 1000, api, method, path, status}))
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
      backendOf: simulatedApis(simulator, {clock, budget: createBudget({limits: NO_LIMITS, clock})}),
    }),
    {
      options,
      choice: built.choice,
    },
  )
  return {calls, result, again}
}

/** The account's limits, as they are set for the cloud. */
function limitsOf({connections}: Workspace): RateLimits {
  const settings = connections.find(it => it.api === 'cloud')?.settings
  if (settings?.ratePerMinute === undefined) return NO_LIMITS
  return {perMinute: settings.ratePerMinute, burst: settings.burst ?? settings.ratePerMinute, reserve: 0}
}

export function rehearsalDocument({calls, result, again}: Rehearsal, plan: BuiltPlan['plan']): JsonObject {
  const left = again.plan.operations.filter(it => it.action !== 'no-op')
  return {
    plan: plan.hash,
    calls: calls.map(it => ({...it})),
    requests: calls.length,
    seconds: {ready: result.readyMs / 1000, proven: result.provenMs / 1000},
    summary: {...result.summary},
    bill: {...plan.bill, ready: {...plan.bill.ready}},
    second_plan: {empty: left.length === 0, operations: left.map(({stack, address, action}) => ({stack, address, action}))},
  }
}
