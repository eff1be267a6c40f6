/** From an open workspace to a plan. */
import {kinds} from '../../backends/kinds.ts'
import type {Problem} from '../../base/errors.ts'
import {canonicalJson} from '../../base/json.ts'
import type {ProcessVariables} from '../../base/process-variables.ts'
import type {Redactor} from '../../base/redact.ts'
import {currentJob} from '../../config/ci-job.ts'
import {DeclarationError, SET_VARIABLES} from '../../declaration/language/values/errors.ts'
import {variablesRead} from '../../declaration/read/secret-variables.ts'
import type {FieldDecision} from '../../engine/model/decision.ts'
import {sourceOf} from '../../engine/model/declaration.ts'
import {isSecretOutput} from '../../engine/model/field-rules.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import {outputOf} from '../../engine/model/live.ts'
import type {GuardResult, Lifts, Operation, Plan, PlanSource} from '../../engine/model/plan.ts'
import {openLeaves} from '../../engine/model/resolve.ts'
import {sendsField} from '../../engine/model/sent-field.ts'
import {type Key, keyOfOperation, Secret, spoken} from '../../engine/model/value.ts'
import {assertWords, type Choice} from '../../engine/observe/choice.ts'
import type {Going, Observation} from '../../engine/observe/observation.ts'
import {stepsOf} from '../../engine/plan/bill.ts'
import type {BuiltPlan} from '../../engine/plan/build.ts'
import {resealed} from '../../engine/plan/document.ts'
import {backendOf} from '../../ledger/backends/registry.ts'
import {LearnedDurations} from '../host/learned-durations.ts'
import {liftsOf} from '../host/lifts.ts'
import type {PlanOptions} from '../host/plan-options.ts'
import {justDeleted, maybeLate} from '../journal/maybe-late.ts'
import {accountsOf, checkAccounts, namedAccounts} from '../workspace/accounts.ts'
import {changeLimits, LearnedLimits} from '../workspace/change-limits.ts'
import {controlsSeen, plannedFreezes} from '../workspace/controls-seen.ts'
import {speaksTo} from '../workspace/needed-apis.ts'
import {maybeOneAccount} from '../workspace/one-account.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {beingMadeElsewhere} from './being-made.ts'
import {type PlanFacts, planOver} from './plan-over.ts'

export interface PlanWishes {
  readonly options: PlanOptions
  /** Of a saved plan, instead of what `options` say. */
  readonly lifts?: Lifts
  readonly destroy?: boolean
  /** Milliseconds the plan may be applied for. */
  readonly validForMs?: number | undefined
  readonly notes?: readonly string[]
  readonly onlyChanged?: boolean
  /** Of planning again after something was applied: what the words of the options meant before. */
  readonly choice?: Choice
  /** Of a saved plan: what it leaves as somebody changed it. */
  readonly kept?: ReadonlyMap<Key, readonly string[]>
  /** Of a saved plan: what was approved as left alone. */
  readonly leftAlone?: ReadonlyMap<Key, Operation>
  /** Of a saved plan: objects that stay beside what comes to their addresses. */
  readonly meantBesides?: ReadonlyMap<Key, string>
  /** Of a saved plan: what it deletes and no ledger has. */
  readonly going?: readonly Going[]
  /** Gets how each field was decided, by object. */
  readonly decisions?: Map<Key, readonly FieldDecision[]>
}

export async function planWorkspace(
  workspace: Workspace,
  {
    options,
    lifts: planned,
    destroy = false,
    validForMs,
    notes = [],
    onlyChanged = false,
    kept = new Map(),
    leftAlone = new Map(),
    meantBesides = new Map(),
    going = [],
    choice,
    decisions,
  }: PlanWishes,
): Promise<BuiltPlan> {
  const {settings, host} = workspace
  const stacks = [...workspace.stacks, ...workspace.others]
  const lifts = planned ?? liftsOf(options, settings)
  const selection = {target: options.target ?? [], exclude: options.exclude ?? []}
  const selected = new Set(workspace.stacks.map(it => it.name))
  if (choice === undefined && planned === undefined)
    assertWords({stacks, ledgers: workspace.ledgers, kinds, selected, destroy, words: {...selection, ...lifts}})
  await checkAccounts(workspace)
  const {freezes, holds} = await controlsSeen(workspace)
  const cloud = workspace.connections.find(it => it.api === 'cloud')?.settings
  const built = await planOver({
    stacks: workspace.stacks,
    others: workspace.others,
    ...ledgersSeen(workspace),
    beingMade: await beingMadeElsewhere(workspace),
    accountOf: workspace.accountOf,
    backendOf: workspace.backendOf,
    variable: workspace.variable,
    maybeLate: maybeLate(host),
    deleted: (await justDeleted(host)).filter(speaksTo((stack, api) => workspace.connectionOf(stack, api))),
    destroy,
    secretStates: (pairs, ahead) => workspace.sealer.states(workspace.allLedgers, pairs, ahead),
    kept,
    leftAlone,
    meantBesides,
    going,
    decisions,
    holds,
    hides: value => host.redactor.value(value),
    learnsSecret: (value, of) => host.redactor.registerValue(value, of),
    tool: `svcctl ${host.version}`,
    accounts: accountsOf(workspace),
    lifts,
    selection,
    notes: [...notes, ...ledgerRemarks(workspace.stacks)],
    onlyChanged,
    listUnmanaged: options.unmanaged ?? false,
    ...(choice ? {choice} : {}),
    pricing: {
      perMinute: cloud?.ratePerMinute ?? Number.POSITIVE_INFINITY,
      tokens: cloud?.burst ?? Number.POSITIVE_INFINITY,
      durationMs: new LearnedDurations(host).of,
      limits: changeLimits(workspace, new LearnedLimits(workspace), options.maxInflight),
    },
    mayRead: atLeast => workspace.assertReadable(atLeast),
    used: () => workspace.usedRequests(),
    ...planSource(host.environment.all, options.commit),
    ...(validForMs === undefined ? {} : {notAfter: new Date(host.clock.now() + validForMs).toISOString()}),
  })
  learnSecrets(host.redactor, built.observation)
  const {plan} = built
  assertSecretsGiven(workspace, built)
  if (choice === undefined) for (const text of await maybeOneAccount(workspace, plan.operations)) host.log.warn(text)
  // What the server saw, the looks at the accounts and at dead runs too; it is not part of the hash.
  const requests = {...plan.requests, used: workspace.usedRequests()}
  const guards = [...plan.guards, ...readOnlyGuard(workspace, plan.operations)]
  // What the servers call their objects is theirs to choose.
  const {unmanaged, notes: said} = host.redactor.value({unmanaged: plan.unmanaged, notes: plan.notes})
  return {
    ...built,
    plan: resealed(plan, {unmanaged, notes: said, requests, guards, ...(freezes.length === 0 ? {} : {freezes: plannedFreezes(freezes)})}),
  }
}

function ledgersSeen({
  ledgers,
  otherLedgers,
  unreadLedgers,
  ownLedgers,
}: Workspace): Pick<PlanFacts, 'ledgers' | 'otherLedgers' | 'unreadLedgers' | 'places'> {
  const places = [...ownLedgers].flatMap(([stack, {place, local}]): [string, string][] => (local ? [] : [[stack, place]]))
  return {ledgers, otherLedgers, unreadLedgers, places: new Map(places)}
}

/** The commit that `--commit` names, else the one the CI job is about. */
export function planSource(variables: ProcessVariables, commit: string | undefined): {readonly source?: PlanSource} {
  const job = currentJob(variables)
  const named = commit ?? job?.commit
  if (named === undefined) return {}
  return {source: {commit: named, ...(job?.repository === undefined ? {} : {repository: job.repository})}}
}

/** What the objects of a plan turned out to hold that must not be shown: resolved secrets, and secret fields that others read. */
function learnSecrets(redactor: Redactor, {pairs}: Observation): void {
  for (const {declaration, spec, match} of pairs.values()) {
    if (declaration.outputs.length === 0 && declaration.dependsOn.length === 0) continue
    for (const {leaf} of openLeaves(spec)) if (leaf instanceof Secret) redactor.registerValue(leaf.value, declaration.key)
    if (match === undefined) continue
    for (const name of declaration.outputs)
      if (isSecretOutput(match.live.kind, name)) redactor.registerValue(outputOf(match.live, name), declaration.key)
  }
}

/** What is to be sent has to be given before anything is. @throws DeclarationError */
function assertSecretsGiven({stacks}: Workspace, {plan, observation}: BuiltPlan): void {
  const names = stacks.map(it => it.name)
  const problems = plan.operations.flatMap(operation => {
    const pair = observation.pairs.get(keyOfOperation(operation))
    return openLeaves(pair?.spec ?? {}).flatMap(({pointer, leaf}): Problem[] => {
      if (!(leaf instanceof Secret) || leaf.value !== undefined || !sendsField(operation, pointer)) return []
      const variables = [...new Set(variablesRead(leaf.expression ?? '', operation.stack).map(it => it.name))]
      const name = variables.join(' and ')
      return [
        {
          address: spoken(keyOfOperation(operation), names),
          path: pointer,
          message: `the variable ${name} has no value, and this ${operation.action} sends it: set ${variables.map(it => `TF_VAR_${it}`).join(' and ')}, or give --var ${name}=…`,
          ...(pair === undefined ? {} : sourceOf(pair.declaration)),
        },
      ]
    })
  })
  if (problems.length > 0) throw new DeclarationError(problems, {remedies: [SET_VARIABLES]})
}

/** A plan that is to be kept: it names the account its keys are of, so that another key of that account may apply it. */
export async function lastingPlan(workspace: Workspace, plan: Plan): Promise<Plan> {
  const accounts = await namedAccounts(workspace)
  return resealed(plan, {accounts, requests: {...plan.requests, used: workspace.usedRequests()}})
}

/** Outputs that apply would write down, whatever else it does: those whose values or flags are not in the ledger so. */
export function outputsToRecord({stacks}: Plan, ledgers: ReadonlyMap<string, Ledger>): string[] {
  return stacks.flatMap(({name: stack, outputs, owned}) => {
    const recorded = ledgers.get(stack)?.outputs ?? {}
    const kept = outputs.filter(it => it.secret !== true)
    const fresh = kept.filter(({name, value, sensitive, expression}) => {
      const known = recorded[name]
      if (known === undefined) return expression === undefined
      return known.sensitive !== sensitive || (expression === undefined && canonicalJson(known.value) !== canonicalJson(value))
    })
    const gone = owned > 0 ? Object.keys(recorded).filter(name => !kept.some(it => it.name === name)) : []
    return [...fresh.map(it => it.name), ...gone].map(name => (stacks.length > 1 ? `${stack}:${name}` : name))
  })
}

/** What a profile with `mode = "read-only"` would have to send: refused as a whole, before the first request. */
export function readOnlyGuard(workspace: Workspace, operations: readonly Operation[]): GuardResult[] {
  const profiles = new Set<string>()
  const refused = operations.filter(it => {
    const api = kinds.get(it.kind)?.api
    const connection = api && workspace.connectionOf(it.stack, api)?.connection
    if (stepsOf(it).length === 0 || connection?.settings.mode !== 'read-only') return false
    if (connection.readOnlyBy !== undefined) profiles.add(connection.readOnlyBy)
    return true
  })
  if (refused.length === 0) return []
  return [
    {
      code: 'G_READ_ONLY',
      addresses: refused.map(it => (workspace.stacks.length > 1 ? keyOfOperation(it) : it.address)),
      allow: 'use another profile: this one has mode = "read-only"',
      message: `the profile ${[...profiles].map(it => JSON.stringify(it)).join(' and ')} is read-only, and these would be changed`,
    },
  ]
}

/** What the stacks chose for their ledgers, where reviewers should look at it. */
const ledgerRemarks = (stacks: Workspace['stacks']): string[] =>
  stacks.flatMap(({name, ledger}) => (backendOf(ledger).remarks?.(ledger) ?? []).map(it => `the ledger of stack "${name}" ${it}`))
