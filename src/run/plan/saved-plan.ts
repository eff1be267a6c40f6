/** Reads a plan file, and makes of it what is to be carried out now. */
import {resolve} from 'node:path'
import {kinds} from '../../backends/kinds.ts'
import {JsonBoundsError, parseJson} from '../../base/bounded-json.ts'
import {AppError, EXIT, type Problem} from '../../base/errors.ts'
import {isJsonObject} from '../../base/json.ts'
import {judge} from '../../base/judge.ts'
import {addAll} from '../../base/many.ts'
import {formatPointer} from '../../base/pointer.ts'
import type {Redactor} from '../../base/redact.ts'
import {isAbsent} from '../../base/system-code.ts'
import {readWholeFile} from '../../base/whole-file.ts'
import {evaluate} from '../../declaration/read/residual.ts'
import type {VariableLookup} from '../../declaration/read/variable-lookup.ts'
import type {Undecided} from '../../engine/apply/recovery.ts'
import {heldOperations} from '../../engine/apply/undecided.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import {
  type GuardResult,
  type Lifts,
  type OpenLeaf,
  type Operation,
  PLAN_FORMAT,
  type Plan,
  type PlannedStack,
} from '../../engine/model/plan.ts'
import {planSchemaWith} from '../../engine/model/plan-schema.ts'
import {openLeaves} from '../../engine/model/resolve.ts'
import {Deferred, keyOfOperation, Secret} from '../../engine/model/value.ts'
import {assertPermissions} from '../../engine/observe/choice.ts'
import {assertAgrees} from '../../engine/plan/agree.ts'
import type {Begun} from '../../engine/plan/begun.ts'
import type {BuiltPlan} from '../../engine/plan/build.ts'
import {assertSealed, summaryOf} from '../../engine/plan/document.ts'
import {evaluateGuards, liftingOf} from '../../engine/plan/guards.ts'
import {stacksOf} from '../../engine/plan/recheck.ts'
import {stacksLeft} from '../../engine/plan/rest.ts'
import {PlanExpiredError} from '../../engine/plan/stale-plan.ts'
import {ledgerLocation} from '../../ledger/backends/registry.ts'
import {parseAddress} from '../../ledger/resource-address.ts'
import {liftsOf, liftsToApply} from '../host/lifts.ts'
import type {ApplyOptions} from '../host/plan-options.ts'
import {asTouched, type ConnectedStacks, type OtherAccount, otherAccount} from '../workspace/accounts.ts'
import {ClearSecretError, known, orNotGiven, watched} from '../workspace/secrets.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {planWorkspace, readOnlyGuard} from './plan.ts'
import {stillToDo} from './still-to-do.ts'

export class PlanFileError extends AppError {
  constructor(
    path: string,
    reason: string,
    {cause, problems, suggestions = []}: {cause?: unknown; problems?: readonly Problem[]; suggestions?: readonly string[]} = {},
  ) {
    super(`${path} ${reason}`, {
      code: 'E_PLAN_FILE',
      exit: EXIT.usage,
      suggestions: [...suggestions, 'Make a plan with: svcctl plan --out FILE'],
      ...(problems === undefined ? {} : {problems}),
      cause,
    })
  }
}

/** The configuration points at another account or address than the plan was made for. */
export class PlanTargetError extends AppError {
  constructor({api, was, is}: OtherAccount) {
    super(`the plan was made for the ${api} at ${was}, and the configuration now means ${is}`, {
      code: 'E_PLAN_TARGET',
      exit: EXIT.refused,
      suggestions: ['Apply it with the profile or variables it was planned with, or plan again.'],
    })
  }
}

/** Twice what the hundred thousand objects take that an app may have: 1.6 kB each. */
const LARGEST_PLAN_BYTES = 320 * 2 ** 20
const MOST_PLAN_VALUES = 10_000_000

/** A plan whose ledgers are where this program keeps ledgers. */
const knownPlan = planSchemaWith(ledgerLocation)

/** @param cwd - where a relative path begins @throws PlanFileError, PlanAlteredError */
export async function readPlan(path: string, cwd = ''): Promise<Plan> {
  let text: string
  try {
    text = (await readWholeFile(resolve(cwd, path), LARGEST_PLAN_BYTES)).toString()
  } catch (error) {
    if (!isAbsent(error)) throw new PlanFileError(path, 'cannot be read', {cause: error})
    // A name without a dot or a folder in it may be that of a stack.
    const suggestions = /^[\w-]+$/.test(path) ? [`If ${path} is a stack: svcctl apply --stack ${path}`] : []
    throw new PlanFileError(`${path}:`, 'no such file', {cause: error, suggestions})
  }
  let document: unknown
  try {
    document = parseJson(text, undefined, MOST_PLAN_VALUES)
  } catch (error) {
    if (error instanceof JsonBoundsError) throw new PlanFileError(path, error.message, {cause: error})
    throw new PlanFileError(path, 'is not a saved plan: it is not JSON', {cause: error})
  }
  if (!isJsonObject(document) || typeof document.format !== 'string') throw new PlanFileError(path, 'is not a saved plan')
  if (document.format !== PLAN_FORMAT)
    throw new PlanFileError(path, `is a plan of another version (${document.format}; this program writes ${PLAN_FORMAT})`)
  // Before anything else is said of it: the hash covers what this program does not know, too.
  if (typeof document.hash === 'string') assertSealed({...document, hash: document.hash})
  const {success, data: plan, error} = judge(knownPlan, document)
  if (!success) {
    const problems = error.issues.map(({path: at, message}) => ({path: formatPointer(at.map(String)), message}))
    throw new PlanFileError(path, 'is not a saved plan as schemas/plan.schema.json describes it', {cause: error, problems})
  }
  assertAgrees(plan, kinds)
  assertRecordable(path, plan)
  return plan
}

/** What is declared is to stand in a ledger under its address. @throws PlanFileError */
function assertRecordable(path: string, {operations}: Plan): void {
  const fits = (address: string) => {
    const parsed = parseAddress(address)
    return parsed !== undefined && parsed.deposed === undefined
  }
  const problems = operations
    .filter(it => it.declared !== undefined && !fits(it.address))
    .map(it => ({address: keyOfOperation(it), message: 'is no address that a ledger can have'}))
  if (problems.length > 0) throw new PlanFileError(path, 'has objects that no ledger can hold', {problems})
}

/** Secrets of a plan: evaluated again, from the stacks where they stand in clear, or left to what live objects answer. */
export function planSecrets(
  variable: VariableLookup,
  stacks: readonly StackDeclarations[],
  redactor: Redactor,
): (operation: Operation, leaf: OpenLeaf) => Secret | Deferred {
  const declared = new Map(stacks.flatMap(it => it.declarations).map(it => [it.key, it.spec]))
  return (operation, leaf) => {
    const spec = declared.get(keyOfOperation(operation))
    const there = spec && openLeaves(spec).find(it => it.pointer === leaf.path)?.leaf
    if (there instanceof Secret && there.value !== undefined) return known(there, redactor)
    const {expression, needs} = leaf
    if (expression !== undefined && needs !== undefined) return new Deferred(expression, needs, true)
    if (expression === undefined) throw new ClearSecretError(operation, leaf.path)
    const lookup = {variable: watched(variable, redactor), attribute: () => undefined}
    return known(
      orNotGiven(operation, leaf, () => evaluate(expression, operation.stack, lookup)),
      redactor,
    )
  }
}

/**
 * Lets the redactor know what the plan calls secret, of what it leaves as it is too: servers may repeat that, and no request
 * of this run needs it. What cannot be had now is nothing that could be shown.
 */
export function hideSecretsOf(
  {operations, stacks}: Plan,
  variable: VariableLookup,
  secret: ReturnType<typeof planSecrets>,
  redactor: Redactor,
): void {
  const lookup = {variable: watched(variable, redactor), attribute: () => undefined}
  for (const operation of operations) for (const leaf of operation.secrets ?? []) ifHad(() => secret(operation, leaf))
  for (const {name, outputs} of stacks)
    for (const {secret: isSecret, expression} of outputs)
      if (isSecret && expression !== undefined) ifHad(() => evaluate(expression, name, lookup))
}

function ifHad(look: () => unknown): void {
  try {
    look()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}

export const planStacks = (plan: Plan, secret: ReturnType<typeof planSecrets>): StackDeclarations[] => stacksOf(plan, secret)

/**
 * Whether the configuration means the accounts the plan was made for. Where address and key are the same nobody is asked;
 * where they are not, not even a list is read. What a stack has come to have of another API since is no part of the plan.
 * @throws PlanTargetError
 */
export async function assertTarget(
  workspace: ConnectedStacks,
  {accounts, operations}: Pick<Plan, 'accounts' | 'operations'>,
): Promise<void> {
  const other = await otherAccount(asTouched(workspace, accounts, operations), accounts)
  if (other !== undefined) throw new PlanTargetError(other)
}

export interface RecheckOptions {
  /** What a dead run has begun and nobody can tell the end of yet. */
  readonly undecided?: readonly Undecided[]
  /** What the ledgers have by now is what the run itself has made of them: thresholds count as they did when it began. */
  readonly resumed?: boolean
  /** What a run of this very plan has done that was settled just now. */
  readonly begun?: Begun | undefined
  /** The same of an earlier one that is over: asked only where that decides. */
  readonly begunBefore?: () => Begun | undefined
}

/**
 * What of the plan is to be done now, from fresh facts of what it touches.
 * @throws PlanExpiredError, StalePlanError: zero writes
 */
export async function recheckPlan(
  workspace: Workspace,
  plan: Plan,
  options: ApplyOptions,
  {undecided = [], resumed = false, begun, begunBefore}: RecheckOptions = {},
): Promise<BuiltPlan> {
  if (plan.notAfter !== undefined && workspace.host.wallClock.now() > Date.parse(plan.notAfter)) throw new PlanExpiredError(plan.notAfter)
  // What the plan was made with may name what it leaves out.
  const added = (words: readonly string[] = [], known: readonly string[]) => words.filter(it => !known.includes(it))
  const permissions = {
    allowDestroy: added(options.allowDestroy, plan.lifts.allowDestroy),
    adopt: added(options.adopt, plan.lifts.adopt),
  }
  assertPermissions(plan.operations, permissions, kinds)
  const open = new Set(heldOperations(plan.operations, undecided, {kinds, accountOf: workspace.accountOf}).keys())
  const {operations, fresh} = await stillToDo(plan, {
    kinds,
    accountOf: workspace.accountOf,
    ledgers: workspace.ledgers,
    otherLedgers: workspace.otherLedgers,
    planAgain: (seen, wishes) => planWorkspace(workspace.seen(seen), {options: {...options, target: [], exclude: []}, ...wishes}),
    open,
    begun,
    ...(begunBefore && {begunBefore}),
  })
  const lifts = liftsToApply(plan, options, workspace.settings)
  // Nobody is believed about what a ledger has: it is there to be asked.
  const stacks = resumed ? stacksLeft(plan, operations) : plan.stacks.map(it => ({...it, ...countsOf(workspace.ledgers.get(it.name))}))
  const refusing = (given: Lifts) => evaluateGuards({...plan, stacks, operations, lifts: given}, kinds)
  // What the hash does not lift only a new plan can; what an option of this apply refuses another one takes back.
  const before = new Set(options.approve === undefined ? [] : refusing(plan.lifts).map(it => it.code))
  const guards = refusing(lifts).map(it =>
    before.has(it.code) && liftingOf(it.allow) === 'option' ? {...it, allow: `plan again with ${it.allow}`} : it,
  )
  const most = liftsOf(options, undefined).maxDestroy
  if (options.approve !== undefined && most !== undefined && !before.has('G_THRESHOLD'))
    addAll(
      guards,
      refusing({...lifts, maxDestroy: most}).filter(it => it.code === 'G_THRESHOLD'),
    )
  return {
    plan: {
      ...plan,
      operations,
      lifts,
      summary: summaryOf(operations),
      guards: [...guards, ...noDestroyGuard(operations, lifts), ...readOnlyGuard(workspace, operations)],
      requests: fresh.plan.requests,
      bill: fresh.plan.bill,
    },
    observation: fresh.observation,
    choice: fresh.choice,
  }
}

const countsOf = (ledger: Ledger | undefined): Pick<PlannedStack, 'owned' | 'ledgerCondition'> => ({
  owned: ledger?.entries.size ?? 0,
  ledgerCondition: ledger?.condition ?? 'absent',
})

/** A saved plan is carried out whole or not at all: what it deletes cannot be left out of it now. */
function noDestroyGuard(operations: readonly Operation[], {noDestroy}: Lifts): GuardResult[] {
  const destroying = noDestroy ? operations.filter(it => it.action === 'delete' || it.action === 'replace') : []
  if (destroying.length === 0) return []
  return [
    {
      code: 'G_NO_DESTROY',
      addresses: destroying.map(it => it.address),
      allow: 'plan again with --no-destroy',
      message: '--no-destroy was given, and the saved plan deletes or replaces these',
    },
  ]
}
