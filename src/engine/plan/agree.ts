/**
 * Whether the parts of a saved plan say the same. What a reviewer sees of a plan (fields, names, counts, order, guards)
 * follows from what would be sent (declarations, remote paths, lifts); a file in which it does not was changed by
 * somebody, whatever hash was put into it.
 */
import {APIS} from '../../base/apis.ts'
import type {Problem} from '../../base/errors.ts'
import {canonicalJson} from '../../base/json.ts'
import type {Kinds} from '../model/kind.ts'
import type {Operation, Plan} from '../model/plan.ts'
import {keyOfOperation, spoken} from '../model/value.ts'
import {faultsOf} from './agree-operation.ts'
import {OperationCycleError} from './cycle.ts'
import {PlanAlteredError, summaryOf} from './document.ts'
import {evaluateGuards} from './guards.ts'
import {inOrder} from './order.ts'

/** @throws PlanAlteredError */
export function assertAgrees(plan: Plan, kinds: Kinds): void {
  const covered = plan.stacks.map(it => it.name)
  const byKey = new Map(plan.operations.map(it => [keyOfOperation(it), it]))
  const ofOperations = plan.operations.flatMap(it =>
    [...faultsOf(it, byKey, kinds)].map((message): Problem => ({address: spoken(keyOfOperation(it), covered), message})),
  )
  // The rest makes sense only of operations that do.
  const problems = ofOperations.length > 0 ? ofOperations : [...wholeFaults(plan, kinds)].map((message): Problem => ({message}))
  if (problems.length > 0) throw new PlanAlteredError(problems)
}

function* wholeFaults(plan: Plan, kinds: Kinds): Generator<string> {
  const {operations, stacks} = plan
  for (const text of repeated(stacks.map(it => it.name))) yield `the stack ${text} stands there twice`
  for (const text of repeated(operations.map(keyOfOperation))) yield `${text} has two operations`
  const accountOf = (it: Operation) => {
    const api = kinds.get(it.kind)?.api ?? ''
    const its = plan.accounts[`${it.stack}:${api}`] ?? plan.accounts[api]
    // Two keys may be of one account.
    return its?.account === undefined ? canonicalJson(its) : `${its.address} ${its.account}`
  }
  const objects = operations.flatMap(it => (it.remoteId === undefined ? [] : [`${it.remoteId} of ${accountOf(it)}`]))
  for (const text of repeated(objects)) yield `${text} stands in two operations`
  for (const it of operations) {
    if (!stacks.some(stack => stack.name === it.stack)) yield `${it.address} is of the stack ${it.stack}, which the plan does not cover`
  }
  for (const {name, declared} of stacks) {
    const own = operations.filter(it => it.stack === name && it.declared !== undefined).length
    if (own > declared) yield `${name} declares ${declared} objects, and ${own} are planned`
    if (declared > 0 && isEmptied(plan, name)) yield `${name} declares ${declared} objects, and none of them is planned`
  }
  const summary = summaryOf(operations)
  if (!same(summary, plan.summary)) yield `the summary counts ${spell(plan.summary)}, and the operations are ${spell(summary)}`
  yield* orderFaults(operations)
  yield* accountFaults(plan, kinds)
  yield* wordFaults(plan)
  const guards = evaluateGuards(plan, kinds)
  const said = plan.guards.filter(it => it.code !== OF_THE_PROFILE)
  if (!same(guards, said)) yield `it names the guards ${codes(said)}, and ${codes(guards)} refuse it`
}

/** Whether a stack loses objects in a plan that has nothing of what it declares. */
function isEmptied({operations, scope, undo}: Plan, stack: string): boolean {
  const own = operations.filter(it => it.stack === stack)
  const isDeclared = (it: Operation) => it.declared !== undefined || it.action === 'no-op'
  return scope === 'all' && undo === undefined && own.some(it => it.action === 'delete') && !own.some(isDeclared)
}

/** The one guard that does not follow from the plan; an apply asks its own profile. */
const OF_THE_PROFILE = 'G_READ_ONLY'

function* orderFaults(operations: readonly Operation[]): Generator<string> {
  try {
    const keys = (all: readonly Operation[]) => all.map(keyOfOperation)
    if (!same(keys(inOrder(operations)), keys(operations))) yield 'the operations do not stand in the order of what waits for what'
  } catch (error) {
    if (!(error instanceof OperationCycleError)) throw error
    yield error.message
  }
}

/** Every API that is spoken to has an account, and no other has. */
function* accountFaults({operations, stacks, accounts}: Plan, kinds: Kinds): Generator<string> {
  const known = new Set<string>(APIS.flatMap(api => [api, ...stacks.map(it => `${it.name}:${api}`)]))
  for (const name of Object.keys(accounts)) if (!known.has(name)) yield `it names an account for ${name}, which is no API of its stacks`
  const needed = new Set(
    operations.flatMap(it => {
      const api = it.action === 'no-op' ? undefined : kinds.get(it.kind)?.api
      return api === undefined || accounts[`${it.stack}:${api}`] !== undefined ? [] : [api]
    }),
  )
  for (const api of needed) if (accounts[api] === undefined) yield `it names no account for the ${api} API`
}

/** The words a plan was made with, and what came of them. */
function* wordFaults({scope, selectors, destroy, undo, operations, lifts}: Plan): Generator<string> {
  const chosen = selectors.target.length + selectors.exclude.length > 0
  if (scope !== 'changed' && chosen !== (scope === 'targeted')) yield `its scope is ${scope}, with ${chosen ? '' : 'no '}selectors`
  if (undo !== undefined && (destroy || lifts.onDrift !== 'keep'))
    yield 'it is an undo, which keeps what somebody changed since and destroys nothing else'
  for (const it of operations) {
    if (undo === undefined && (it.cause === 'undone' || it.secretsKept !== undefined)) yield `${it.address} is undone, and no run is`
    if (destroy ? it.declared !== undefined || it.cause === 'not-declared' : it.cause === 'destroy')
      yield `${it.address}: ${it.action} (${it.cause}) is no part of a ${destroy ? 'destroy' : 'plan that is no destroy'}`
    const destroys = it.action === 'delete' || it.action === 'replace'
    if (lifts.noDestroy && destroys) yield `${it.address}: ${it.action} is no part of a plan with --no-destroy`
    if (it.besides !== undefined && !lifts.noDestroy)
      yield `${it.address} comes beside ${it.besides}, and nothing is left out (--no-destroy)`
    if (it.cause === 'accepted' && lifts.accept.length === 0) yield `${it.address} was accepted, and nothing is (--accept)`
    if (it.kept !== undefined && lifts.onDrift !== 'keep') yield `${it.address} keeps what was changed, and nothing is kept (--on-drift)`
  }
}

const repeated = (texts: readonly string[]): string[] => {
  const seen = new Set<string>()
  return texts.filter(it => seen.size === seen.add(it).size)
}

const codes = (guards: Plan['guards']): string => (guards.length === 0 ? 'none' : guards.map(it => it.code).join(', '))

const spell = (summary: Plan['summary']): string =>
  Object.entries(summary)
    .flatMap(([action, count]) => (count > 0 ? [`${count} ${action}`] : []))
    .join(', ') || 'nothing'

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)
