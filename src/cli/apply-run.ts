/** Carries a plan out in a workspace, and turns what came of it into the document and the exit code of an apply. */
import {hostname} from 'node:os'
import {kinds} from '../backends/kinds.ts'
import {writeFileAtomicSync} from '../base/atomic-file.ts'
import {AppError, EXIT, type ExitCode} from '../base/errors.ts'
import type {Json, JsonObject} from '../base/json.ts'
import {evaluate} from '../declaration/residual.ts'
import type {Lookup} from '../engine/declaration.ts'
import {type Emit, STATES, type State} from '../engine/events.ts'
import {type ApplyResult, type Ended, execute, type Objects, type Work} from '../engine/execute.ts'
import type {Journal} from '../engine/journal.ts'
import type {LedgerOutput} from '../engine/ledger.ts'
import {LedgerBook} from '../engine/ledger-book.ts'
import {type LiveObject, outputOf} from '../engine/live.ts'
import type {Observation} from '../engine/observe.ts'
import type {OpenLeaf, Operation, Plan} from '../engine/plan.ts'
import {declarationOf} from '../engine/planned-object.ts'
import {openLeaves} from '../engine/resolve.ts'
import {type Key, keyOf, Secret} from '../engine/value.ts'
import {createJournal, createRunId, journalPath, runsFolder} from '../ledger/journal-file.ts'
import {onInterrupt} from './interrupt.ts'
import {recordedAccounts} from './plan-run.ts'
import type {Workspace} from './workspace.ts'

export interface ApplyInput {
  readonly workspace: Workspace
  readonly plan: Plan
  readonly observation: Observation
  readonly emit: Emit
  readonly maxInflight: number | undefined
  readonly warn: (text: string) => void
}

export interface ApplyDone {
  readonly run: string
  readonly result: ApplyResult
  readonly interrupted: boolean
  readonly requests: number
}

const LIST_LAG_MS = 2_000
const POLL_MIN_MS = 1_000
const POLL_MAX_MS = 10_000

export async function applyPlan(input: ApplyInput): Promise<ApplyDone> {
  const {workspace, plan, observation, emit, maxInflight} = input
  const {context, settings} = workspace
  const usedBefore = workspace.usedRequests()
  const secrets = new SecretSource(workspace, observation)
  const work = workOf(plan, observation, secrets)
  const run = createRunId(context.clock, context.random)
  const runs = runsFolder(context.cwd)
  const file = createJournal(journalPath(runs, run), {
    run,
    version: context.version,
    host: hostname(),
    pid: process.pid,
    startedAt: context.clock.now(),
    plan: plan.hash,
    stacks: plan.stacks.map(it => it.name),
    accounts: plan.accounts as JsonObject,
  })
  writeFileAtomicSync(`${journalPath(runs, run).replace(/\.jsonl$/, '')}.plan.json`, `${JSON.stringify(plan)}\n`, {mode: 0o600})
  const book = new LedgerBook(workspace.ledgers, workspace.stores, ledger =>
    workspace.sealer.seal(ledger, book.secretsOf(ledger.stack), secrets.ofStack(ledger.stack, plan)),
  )
  for (const stack of workspace.stacks) book.setAccounts(stack.name, await recordedAccounts(workspace, stack))
  const journal: Journal = {append: (entry, durable) => void file.append({...entry} as JsonObject, {fsync: durable})}
  const interrupts = onInterrupt(
    () => input.warn(`stopping: what is in flight goes on without us; resume with: svcctl apply --resume ${run}`),
    () => {},
  )
  const minMs = settings?.pollIntervalMs ?? POLL_MIN_MS
  try {
    const result = await execute(
      work,
      {
        run,
        kinds,
        backendOf: workspace.backendOf,
        clock: context.clock,
        evaluate,
        variable: workspace.variable,
        book,
        journal,
        emit,
        limits: {
          ...(settings?.limits === 'conservative' ? {perRoot: 1} : {}),
          ...(maxInflight === undefined ? {} : {inFlight: maxInflight}),
        },
        pace: {minMs, maxMs: Math.max(minMs, Math.min(POLL_MAX_MS, minMs * 10))},
        timeoutMs: settings?.timeoutMs ?? 30 * 60_000,
        listLagMs: LIST_LAG_MS,
        stop: interrupts.signal,
      },
      contextObjects(observation),
    )
    for (const stack of workspace.stacks) book.setOutputs(stack.name, outputsOf(workspace, plan, stack.name, result))
    await book.flush()
    return {run, result, interrupted: interrupts.signal.aborted, requests: workspace.usedRequests() - usedBefore}
  } finally {
    interrupts.off()
    file.close()
  }
}

/** Objects the plan only refers to. */
function contextObjects({pairs}: Observation): Map<Key, LiveObject> {
  return new Map([...pairs].flatMap(([key, {match, context}]) => (context && match ? [[key, match.live] as const] : [])))
}

function workOf({operations}: Plan, {pairs}: Observation, secrets: SecretSource): Work[] {
  return operations.map(operation => {
    const key = keyOf(operation.stack, operation.address)
    const declaration = declarationOf(operation, leaf => secrets.of(operation, leaf))
    const pair = pairs.get(key)
    const live = pair?.match?.live ?? pair?.stray
    return {operation, ...(declaration ? {declaration} : {}), ...(live ? {live} : {})}
  })
}

/** A secret of a plan that only its stack can give: it was written there in clear. */
export class ClearSecretError extends AppError {
  constructor(operation: Operation, path: string) {
    super(`${operation.address} ${path}: this secret stands in the stack itself, and a plan holds none`, {
      code: 'E_CLEAR_SECRET',
      exit: EXIT.usage,
      suggestions: [
        'Give the stacks too (--synth-dir DIR, or run beside cdktf.json), or make it a sensitive variable: secret(this, "name").',
      ],
    })
  }
}

/** Secrets in clear: from the declarations that were read, or evaluated again from what the plan says of them. */
class SecretSource {
  readonly #workspace: Workspace
  readonly #pairs: Observation['pairs']

  constructor(workspace: Workspace, {pairs}: Observation) {
    this.#workspace = workspace
    this.#pairs = pairs
  }

  of({stack, address, ...operation}: Operation, {path, expression, version}: OpenLeaf): Secret {
    const spec = this.#pairs.get(keyOf(stack, address))?.spec
    const leaf = spec && openLeaves(spec).find(it => it.pointer === path)?.leaf
    if (leaf instanceof Secret) return leaf
    if (expression === undefined) throw new ClearSecretError({stack, address, ...operation}, path)
    const lookup: Lookup = {variable: this.#workspace.variable, attribute: () => undefined}
    return new Secret(evaluate(expression, stack, lookup), expression, version)
  }

  /** Every secret of a stack by address and pointer. */
  ofStack(stack: string, {operations}: Plan): ReadonlyMap<string, ReadonlyMap<string, Secret>> {
    const found = new Map<string, ReadonlyMap<string, Secret>>()
    for (const operation of operations) {
      if (operation.stack !== stack || operation.secrets === undefined) continue
      found.set(operation.address, new Map(operation.secrets.map(leaf => [leaf.path, this.of(operation, leaf)])))
    }
    return found
  }
}

function outputsOf({variable, ledgers}: Workspace, plan: Plan, stack: string, {objects}: ApplyResult): Record<string, LedgerOutput> {
  const outputs: Record<string, LedgerOutput> = {}
  for (const {name, value, sensitive, expression, secret} of plan.stacks.find(it => it.name === stack)?.outputs ?? []) {
    if (secret) continue
    const known =
      expression === undefined
        ? value
        : evaluated(expression, stack, {variable, attribute: (key, attribute) => attributeOf(objects, key, attribute)})
    const kept = known ?? ledgers.get(stack)?.outputs[name]?.value
    if (kept !== undefined) outputs[name] = {value: kept, sensitive}
  }
  return outputs
}

function attributeOf(objects: Objects, key: Key, attribute: string): Json | undefined {
  if (attribute === 'id') return objects.remoteId(key)
  const live = objects.live(key)
  return live && outputOf(live, attribute.replace(/^out\//, ''))
}

function evaluated(expression: string, stack: string, lookup: Lookup): Json | undefined {
  try {
    return evaluate(expression, stack, lookup)
  } catch (error) {
    // What it reads was not made in this run: the output keeps its last value.
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** `apply -o json`, interface.md "Documents". */
export function applyDocument({run, result, requests}: ApplyDone, plan: Plan): JsonObject {
  return {
    run,
    operations: result.ended.map(({operation, state, error, because, remoteId}) => ({
      stack: operation.stack,
      address: operation.address,
      kind: operation.kind,
      action: operation.action,
      state,
      ...(remoteId === undefined ? {} : {remoteId}),
      ...(because === undefined ? {} : {because: [because]}),
      ...(error ? {error: {code: error.code, message: error.message, suggestions: [...error.suggestions]}} : {}),
    })),
    summary: Object.fromEntries(STATES.map(state => [state, result.summary[state]])),
    converged: isConverged(result),
    residual: result.residual.map(it => (plan.stacks.length > 1 ? it.key : it.address)),
    diagnosis: result.residual.map(({stack, address, fields}) => ({
      stack,
      address,
      fields: fields.map(({path, before, after, diagnosis, advice}) => ({
        path,
        ...(before === undefined ? {} : {before}),
        ...(after === undefined ? {} : {after}),
        diagnosis,
        advice,
      })),
    })),
    requests: {used: requests},
    seconds: {ready: result.readyMs / 1000, proven: result.provenMs / 1000},
    bill: {...plan.bill},
    plan: plan.hash,
  }
}

const UNFINISHED: readonly State[] = ['failed', 'skipped', 'detached', 'unknown']

export const isConverged = ({summary, residual}: ApplyResult): boolean =>
  residual.length === 0 && UNFINISHED.every(state => summary[state] === 0)

/** Interface.md, "States": 9 or 13 only when nothing was sent; then 4, 6, 12, 7. */
export function applyExit({result, interrupted}: ApplyDone): ExitCode {
  const {summary, ended, residual} = result
  const failed = ended.filter(it => it.state === 'failed')
  const accepted = ended.some(
    it => it.operation.action !== 'no-op' && (it.state === 'done' || it.state === 'detached' || it.state === 'unknown'),
  )
  const only = (exit: ExitCode) => failed.length > 0 && failed.every(it => exitOf(it) === exit)
  for (const exit of [EXIT.unauthorized, EXIT.unreachable, EXIT.exhausted]) if (!accepted && only(exit)) return exit
  if (interrupted || summary.detached > 0) return EXIT.interrupted
  if (only(EXIT.timeout) && summary.unknown === 0) return EXIT.timeout
  if (summary.failed + summary.unknown + summary.skipped > 0) return EXIT.partial
  return residual.length > 0 ? EXIT.notConverged : EXIT.ok
}

const exitOf = ({error}: Ended): ExitCode | undefined => error?.exit
