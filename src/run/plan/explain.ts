/**
 * `svcctl explain`: why a plan does what it does to one object. Made by planning that object alone, as `plan --target` does,
 * and listening to the comparison; of a saved plan from what that says, without a request.
 */
import {kinds} from '../../backends/kinds.ts'
import {UsageError} from '../../base/usage-error.ts'
import type {FieldDecision} from '../../engine/model/decision.ts'
import type {Declaration} from '../../engine/model/declaration.ts'
import {kindCalled} from '../../engine/model/kind.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation, spoken} from '../../engine/model/value.ts'
import {UnknownAddressError} from '../../engine/observe/choice.ts'
import type {Found} from '../../engine/observe/pair.ts'
import {type Named, namedObjects, Words} from '../../engine/observe/selector.ts'
import {type ExplainInput, edgesAround, fieldsOf, identityOf, writesOf} from '../../engine/plan/explain.ts'
import type {Explanation} from '../../report/explain-text.ts'
import type {PlanOptions} from '../host/plan-options.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {planWorkspace} from './plan.ts'

/** @throws UnknownAddressError, UsageError for a word that means several objects, and what planning throws */
export async function explainObject(workspace: Workspace, word: string, options: PlanOptions): Promise<Explanation> {
  const {stacks, others, ledgers} = workspace
  const declarations = [...stacks, ...others].flatMap(it => it.declarations)
  const known = namedObjects([...stacks, ...others], ledgers, kinds)
  assertOne(word, known)
  const decisions = new Map<Key, readonly FieldDecision[]>()
  const {plan, observation} = await planWorkspace(workspace, {options: {...options, target: [word]}, decisions}).catch(error => {
    throw error instanceof UnknownAddressError ? error.calledBy('explain') : error
  })
  const operation = meantOf(word, plan.operations, known)
  const key = keyOfOperation(operation)
  const entry = ledgers
    .get(operation.from?.stack ?? operation.stack)
    ?.entries.get(operation.from?.address ?? operation.movedFrom ?? operation.address)
  return {
    ...explained({
      operation,
      plan,
      declarations,
      decisions: decisions.get(key),
      entry: entry?.kind === operation.kind ? entry : undefined,
      found: observation.pairs.get(key)?.match?.found,
    }),
    requests: {used: workspace.usedRequests()},
  }
}

/** The same of a saved plan: it has what differs, and of the rest that it does not. No request. @throws as `explainObject` */
export function explainPlanned(plan: Plan, word: string): Explanation {
  assertOne(word, plan.operations)
  return {...explained({operation: meantOf(word, plan.operations, []), plan, declarations: []}), requests: {used: 0}}
}

function assertOne(word: string, objects: readonly Named[]): void {
  const words = new Words([word], objects, kinds)
  const keys = new Set(objects.filter(it => words.mean(it)).map(keyOfOperation))
  if (keys.size < 2) return
  const stacks = new Set(objects.map(it => it.stack))
  const some = [...keys].slice(0, SHOWN).map(it => spoken(it, stacks))
  throw new UsageError(`${word} means ${keys.size} objects: ${some.join(', ')}${keys.size > SHOWN ? ', …' : ''}`, ['Name one of them.'])
}

const SHOWN = 5

/** What the word means in the plan; of something that was renamed the operation that knows both addresses. */
function meantOf(word: string, operations: readonly Operation[], known: readonly Named[]): Operation {
  const words = new Words([word], [...known, ...operations], kinds)
  const [operation] = operations.filter(it => words.mean(it))
  if (operation !== undefined) return operation
  const moved = operations.find(it => words.mean({...it, ...it.from, address: it.from?.address ?? it.movedFrom ?? it.address}))
  if (moved !== undefined) return moved
  throw new UnknownAddressError([{flag: 'explain', word}], [...known, ...operations])
}

interface Explained extends Pick<ExplainInput, 'decisions' | 'entry'> {
  readonly operation: Operation
  readonly plan: Plan
  readonly declarations: readonly Declaration[]
  readonly found?: Found | undefined
}

function explained({operation, plan, declarations, found, ...known}: Explained): Omit<Explanation, 'requests'> {
  const {stack, address, kind: kindName, name, construct, remoteId, action, wants, cause, reason, held} = operation
  const key = keyOfOperation(operation)
  const kind = kindCalled(kinds, kindName)
  const written = plan.written?.[key] ?? writtenAt(declarations.find(it => it.key === key))
  return {
    stack,
    address,
    kind: kindName,
    ...(name === undefined ? {} : {name}),
    ...(construct === undefined ? {} : {construct}),
    ...(remoteId === undefined ? {} : {remoteId}),
    action,
    ...(wants === undefined ? {} : {wants}),
    cause,
    reason,
    ...(written === undefined ? {} : {source: written}),
    identity: identityOf(operation, kind, found),
    guards: plan.guards.filter(it => it.addresses.includes(address) || it.addresses.includes(key)),
    holds: held === undefined ? [] : [held],
    edges: edgesAround(operation, plan.operations, declarations),
    fields: fieldsOf({operation, kind, ...known}),
    sends: writesOf(operation, plan.operations, kinds),
  }
}

function writtenAt(declaration: Declaration | undefined): string | undefined {
  const {file, line} = declaration?.source ?? {}
  return file === undefined || line === undefined ? file : `${file}:${line}`
}
