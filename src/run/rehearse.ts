/**
 * Runs a plan against a copy of the live state: the simulator, seeded with what the plan has read, in virtual time.
 * Shows what would be sent, in which order and when, and whether a second plan would be empty. Nothing real is written.
 */
import {openCloudBackend} from '../backends/cloud/backend.ts'
import {openClusterBackend} from '../backends/cluster/backend.ts'
import {kinds} from '../backends/kinds.ts'
import type {Api} from '../base/apis.ts'
import type {JsonObject} from '../base/json.ts'
import {VirtualClock} from '../base/virtual-clock.ts'
import {evaluate} from '../declaration/read/residual.ts'
import {execute} from '../engine/apply/execute.ts'
import {LedgerBook} from '../engine/apply/ledger-book.ts'
import type {ApplyResult} from '../engine/apply/work.ts'
import type {Backend} from '../engine/model/backend.ts'
import type {BuiltPlan} from '../engine/plan/build.ts'
import {MemoryLedgerStore} from '../ledger/memory-store.ts'
import type {RehearsedCall} from '../report/rehearsal-text.ts'
import {createSimulator, type Simulator} from '../simulator/index.ts'
import {seedWorld} from '../simulator/seed.ts'
import type {RateLimits} from '../transport/account-bucket.ts'
import {createBudget, NO_LIMITS} from '../transport/budget.ts'
import {createApiClient} from '../transport/create-api-client.ts'
import {contextObjects, workOf} from './apply.ts'
import {carryOver} from './carry-over.ts'
import {planWorkspace} from './plan.ts'
import type {PlanOptions} from './plan-options.ts'
import {RunSecrets} from './secrets.ts'
import {runTiming} from './timing.ts'
import type {Workspace} from './workspace.ts'

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
  const backendOf = backends(workspace, simulator, clock, true)
  const secrets = new RunSecrets(workspace, built.observation.pairs)
  const stores = new Map([...workspace.ledgers].map(([stack, ledger]) => [stack, new MemoryLedgerStore(ledger)]))
  // Sealing takes real time, which virtual time does not wait for: it is done afterwards.
  await carryOver('rehearsal', built.plan.operations, stores, new Map())
  const ledgers = new Map(await Promise.all([...stores].map(async ([stack, store]) => [stack, await store.load()] as const)))
  const book = new LedgerBook(ledgers, stores, ledger => Promise.resolve(ledger))
  const {pace, timeoutMs, lagMs} = runTiming(undefined)
  const started = clock.now()
  const result = await clock.run(
    execute(
      workOf(built.plan, built.observation, secrets),
      {
        run: 'rehearsal',
        kinds,
        backendOf,
        clock,
        evaluate,
        variable: workspace.variable,
        book,
        journal: {append: () => {}},
        emit: () => {},
        limits: {},
        pace,
        timeoutMs,
        listLagMs: lagMs,
        stop: new AbortController().signal,
      },
      contextObjects(built.observation),
    ),
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
  const again = await planWorkspace(workspace.seen({ledgers: sealed, backendOf: backends(workspace, simulator, clock, false)}), {
    options,
    choice: built.choice,
  })
  return {calls, result, again}
}

/** @param limited - whether the account's budget holds; planning again must not have to wait on a clock nobody moves */
function backends(
  {connections}: Workspace,
  simulator: Simulator,
  clock: VirtualClock,
  limited: boolean,
): (stack: string, api: Api) => Backend {
  const {credentials} = simulator.config
  const settings = connections.find(it => it.api === 'cloud')?.settings
  const limits =
    !limited || settings?.ratePerMinute === undefined
      ? NO_LIMITS
      : {perMinute: settings.ratePerMinute, burst: settings.burst ?? settings.ratePerMinute, reserve: 0}
  const client = (address: string, authentication: Record<string, string>, allowed: RateLimits) =>
    createApiClient({
      address,
      authentication,
      transport: simulator.transport,
      budget: createBudget({limits: allowed, clock}),
      clock,
    })
  const cloud = openCloudBackend(
    client(simulator.bases.cloud, {'x-api-key': credentials.apiKey, 'x-api-secret-key': credentials.secretKey}, limits),
    {clock},
  )
  const basic = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
  const cluster = openClusterBackend(client(simulator.bases.cluster, {authorization: `Basic ${basic}`}, NO_LIMITS), {clock})
  return (_, api) => (api === 'cloud' ? cloud : cluster)
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
