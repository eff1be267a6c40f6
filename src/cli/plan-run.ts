/** From an open workspace to a plan. */
import {kinds} from '../backends/kinds.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {canonicalJson} from '../base/json.ts'
import {evaluate} from '../declaration/residual.ts'
import {stepsOf} from '../engine/bill.ts'
import {type BuiltPlan, buildPlan} from '../engine/build-plan.ts'
import {assertWords, type Choice} from '../engine/choice.ts'
import type {StackDeclarations} from '../engine/declaration.ts'
import type {Ledger, LedgerAccount} from '../engine/ledger.ts'
import type {GuardResult, Lifts, Operation, Plan} from '../engine/plan.ts'
import {sealed} from '../engine/plan-document.ts'
import {type Key, keyOf} from '../engine/value.ts'
import {changeLimits, LearnedLimits} from './change-limits.ts'
import {LearnedDurations} from './learned-durations.ts'
import {liftsOf} from './lifts.ts'
import {selectionOf} from './stack-flags.ts'
import type {Api, Workspace} from './workspace.ts'

/** Parsed values of the options of planning. */
export interface PlanFlags {
  readonly target?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  readonly 'allow-destroy'?: readonly string[] | undefined
  readonly 'max-destroy'?: string | undefined
  readonly 'no-destroy'?: boolean | undefined
  readonly 'refuse-risky'?: boolean | undefined
  readonly 'on-drift'?: 'overwrite' | 'refuse' | 'keep' | undefined
  readonly 'skip-blocked'?: boolean | undefined
  readonly adopt?: readonly string[] | undefined
  readonly accept?: readonly string[] | undefined
  readonly 'max-inflight'?: number | undefined
  readonly unmanaged?: boolean | undefined
}

export interface PlanWishes {
  readonly flags: PlanFlags
  /** Of a saved plan, instead of what `flags` say. */
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
}

export async function planWorkspace(
  workspace: Workspace,
  {flags, lifts: planned, destroy = false, validForMs, notes = [], onlyChanged = false, kept = new Map(), choice}: PlanWishes,
): Promise<BuiltPlan> {
  const {settings, context} = workspace
  const stacks = [...workspace.stacks, ...workspace.others]
  const lifts = planned ?? liftsOf(flags, settings)
  const selection = selectionOf(flags)
  if (choice === undefined && planned === undefined)
    assertWords({stacks, ledgers: workspace.ledgers, kinds, destroy, words: {...selection, ...lifts}})
  await checkAccounts(workspace)
  const cloud = workspace.connections.find(it => it.api === 'cloud')?.settings
  const built = await buildPlan({
    stacks,
    selected: new Set(workspace.stacks.map(it => it.name)),
    ledgers: workspace.ledgers,
    otherLedgers: workspace.otherLedgers,
    unreadLedgers: workspace.unreadLedgers,
    accountOf: workspace.accountOf,
    kinds,
    backendOf: workspace.backendOf,
    evaluate,
    variable: workspace.variable,
    destroy,
    secretStates: pairs => workspace.sealer.states(workspace.allLedgers, pairs),
    kept,
    tool: `svcctl ${context.version}`,
    accounts: accountsOf(workspace),
    lifts,
    selection,
    notes,
    onlyChanged,
    listUnmanaged: flags.unmanaged ?? false,
    ...(choice ? {choice} : {}),
    pricing: {
      perMinute: cloud?.ratePerMinute ?? Number.POSITIVE_INFINITY,
      tokens: cloud?.burst ?? Number.POSITIVE_INFINITY,
      durationMs: new LearnedDurations(context).of,
      limits: changeLimits(workspace, new LearnedLimits(workspace), flags['max-inflight']),
    },
    mayRead: atLeast => workspace.assertReadable(atLeast),
    used: () => workspace.usedRequests(),
    ...(validForMs === undefined ? {} : {notAfter: new Date(context.clock.now() + validForMs).toISOString()}),
  })
  const {plan} = built
  // What the server saw, the looks at the accounts and at dead runs too; it is not part of the hash.
  const requests = {...plan.requests, used: workspace.usedRequests()}
  const guards = [...plan.guards, ...readOnlyGuard(workspace, plan.operations)]
  return {...built, plan: sealed({...plan, requests, guards})}
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
      addresses: refused.map(it => (workspace.stacks.length > 1 ? keyOf(it.stack, it.address) : it.address)),
      allow: 'use another profile: this one has mode = "read-only"',
      message: `the profile ${[...profiles].map(it => JSON.stringify(it)).join(' and ')} is read-only, and these would be changed`,
    },
  ]
}

/** The accounts a plan speaks to; by API where all stacks share one, by stack and API otherwise. */
export function accountsOf(workspace: Workspace): Plan['accounts'] {
  const accounts: Record<string, {address: string; keyHash: string}> = {}
  for (const stack of workspace.stacks) {
    for (const api of workspace.apisOf(stack)) {
      const connection = workspace.connectionOf(stack.name, api)?.connection
      if (connection === undefined) continue
      const {address, keyHash} = connection
      const first = accounts[api]
      if (first === undefined) accounts[api] = {address, keyHash}
      else if (first.address !== address || first.keyHash !== keyHash) accounts[`${stack.name}:${api}`] = {address, keyHash}
    }
  }
  return accounts
}

/** The ledger, the plan or the stack belongs to another account than the credentials. */
export class OtherAccountError extends AppError {
  constructor(what: string, expected: string, got: string) {
    super(`${what} belongs to account ${expected}, and these credentials are of account ${got}`, {
      code: 'E_OTHER_ACCOUNT',
      exit: EXIT.refused,
      suggestions: ['Use the profile of that account (--profile NAME), or another --state file for this one.'],
    })
  }
}

/** Design section 10, "Account": no request while address and key stay what they were. @throws OtherAccountError */
async function checkAccounts(workspace: Workspace): Promise<void> {
  for (const stack of workspace.stacks) {
    for (const api of workspace.apisOf(stack)) {
      const recorded = workspace.ledgers.get(stack.name)?.accounts[api]
      const pinned = stack.targets[api]?.account
      const opened = workspace.connectionOf(stack.name, api)
      if (opened === undefined) continue
      const same = recorded?.address === opened.connection.address && recorded.keyHash === opened.connection.keyHash
      const known = same ? recorded.account : undefined
      const expected = pinned ?? (same ? undefined : recorded?.account)
      if (expected === undefined) continue
      const got = known ?? (await opened.account())
      if (got !== expected)
        throw new OtherAccountError(pinned === undefined ? `the ledger of stack ${stack.name}` : `stack ${stack.name}`, expected, got)
    }
  }
}

/** What a ledger remembers of the accounts of a stack; asks who the account is where that is not known yet. */
export async function recordedAccounts(workspace: Workspace, stack: StackDeclarations): Promise<Readonly<Record<string, LedgerAccount>>> {
  const accounts: Record<string, LedgerAccount> = {...workspace.ledgers.get(stack.name)?.accounts}
  for (const api of workspace.apisOf(stack)) {
    const opened = workspace.connectionOf(stack.name, api)
    if (opened === undefined) continue
    const {address, keyHash} = opened.connection
    const known = accounts[api]
    if (known?.address === address && known.keyHash === keyHash) continue
    const account = await accountOrNothing(workspace, api, opened.account)
    accounts[api] = {address, keyHash, ...(account === undefined ? {} : {account})}
  }
  return accounts
}

async function accountOrNothing({context}: Workspace, api: Api, read: () => Promise<string>): Promise<string | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    context.log.warn(`the ${api} API does not say whose account this is (${error.message}): it is known by address and key alone`)
    return undefined
  }
}
