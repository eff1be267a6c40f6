/** What an apply left to do, as a plan of its own: a strict subset of what was approved. */
import {asJson, canonicalJson} from '../../base/json.ts'
import type {State} from '../model/events.ts'
import type {Kinds} from '../model/kind.ts'
import type {Lifts, Operation, Plan, PlannedStack} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import {sealed, summaryOf} from './document.ts'
import {evaluateGuards} from './guards.ts'
import {inOrder} from './order.ts'

export interface RestOptions {
  readonly kinds: Kinds
  /** What the plan was approved as: what was not done is left as it stands there. */
  readonly approved?: Plan
  /** What held for the run: what its options, or a person who was asked, lifted beyond what was approved. */
  readonly lifts?: Lifts
}

/** How an operation ended, as far as the rest depends on it. */
export interface EndedOperation {
  readonly operation: Operation
  readonly state: State
  readonly remoteId?: string
}

/** @returns undefined when nothing is left */
export function restOf(
  plan: Plan,
  {ended}: {readonly ended: readonly EndedOperation[]},
  {kinds, approved = plan, lifts = plan.lifts}: RestOptions,
): Plan | undefined {
  const done = new Map<Key, string | undefined>()
  for (const {operation, state, remoteId} of ended) {
    if (state === 'done' || state === 'no-op') done.set(keyOfOperation(operation), remoteId)
  }
  const asApproved = new Map(approved.operations.map(it => [keyOfOperation(it), it]))
  const all = plan.operations.map((now): Operation => {
    const key = keyOfOperation(now)
    const was = asApproved.get(key)
    const it = was?.action === now.action ? was : now
    if (!done.has(key))
      return {
        ...it,
        edges: it.edges.filter(edge => !done.has(edge.key)),
        because: it.because.filter(address => !done.has(address) && !done.has(keyOf(it.stack, address))),
      }
    const remoteId = done.get(key)
    const {
      declared: _,
      deferred: _deferred,
      changes: _changes,
      remoteId: _remoteId,
      adopts: _adopts,
      movedFrom: _from,
      besides: _besides,
      leaves: _leaves,
      former: _former,
      takes: _takes,
      from: _otherStack,
      later: _later,
      unprotects: _unprotects,
      held: _held,
      ...rest
    } = it
    return {
      ...rest,
      action: 'no-op',
      cause: 'done-before',
      reason: 'done before',
      changes: [],
      edges: [],
      because: [],
      ...(remoteId === undefined ? {} : {remoteId}),
    }
  })
  if (all.every(it => it.action === 'no-op')) return undefined
  // What waited for something that is done waits for nothing now, and stands where it stands without that.
  const operations = inOrder(all)
  const {hash, freezes: _freezes, ...content} = plan
  const stacks = plan.stacks.map(it => ({...it, owned: it.owned - handedOver(plan, it.name, key => done.has(key))}))
  const rest = {...content, stacks, lifts: liftedMore(approved.lifts, lifts), residualOf: plan.residualOf ?? hash, operations}
  return sealed({...rest, summary: summaryOf(operations), guards: evaluateGuards(rest, kinds)})
}

/** Whoever reads the rest finds nothing refused in it that was allowed for the run; what the run refused beyond that is over. */
function liftedMore(approved: Lifts, run: Lifts): Lifts {
  const either = (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])].sort()
  return {
    ...approved,
    allowDestroy: either(approved.allowDestroy, run.allowDestroy),
    adopt: either(approved.adopt, run.adopt),
    skipBlocked: approved.skipBlocked || run.skipBlocked,
    ...(approved.skipHeld || run.skipHeld ? {skipHeld: true as const} : {}),
    refuseRisky: approved.refuseRisky && run.refuseRisky,
    ...(approved.onDrift === 'refuse' ? {onDrift: run.onDrift} : {}),
    ...(run.maxDestroy === undefined ? {} : {maxDestroy: run.maxDestroy}),
  }
}

/** The stacks of a plan of which these operations are left: what has moved to another one since is no longer theirs. */
export function stacksLeft(plan: Plan, operations: readonly Operation[]): PlannedStack[] {
  const moving = new Set(operations.filter(it => it.action === 'move').map(keyOfOperation))
  return plan.stacks.map(it => ({...it, owned: it.owned - handedOver(plan, it.name, key => !moving.has(key))}))
}

/** Objects of a stack that are in another one's ledger by now. */
const handedOver = ({operations}: Plan, stack: string, isDone: (move: Key) => boolean): number =>
  operations.filter(it => it.action === 'move' && it.from?.stack === stack && isDone(keyOfOperation(it))).length

/**
 * Whether nothing is in `rest` that is not in `approved`: every operation that does something is one of that, letter by
 * letter, and whatever else decides what is sent is the same. What it waits for is worked out again before it is sent.
 */
export function isSubset(rest: Plan, approved: Plan): boolean {
  const known = new Map(approved.operations.map(it => [keyOfOperation(it), it]))
  if (!same(frameOf(rest), frameOf(approved)) || !areAmong(rest.accounts, approved.accounts)) return false
  return rest.operations.every(it => {
    const was = known.get(keyOfOperation(it))
    return it.action === 'no-op' || (was !== undefined && same(withoutOrder(was), withoutOrder(it)))
  })
}

const withoutOrder = ({edges: _, because: _because, ...rest}: Operation) => rest

/** What holds for all operations: whose ledgers and outputs, how long, and what is lifted. */
const frameOf = ({format, stacks, otherStacks, destroy, undo, lifts, selectors, scope, notAfter}: Plan) => ({
  format,
  stacks: stacks.map(({name, ledger, targets, outputs}) => ({name, ledger, targets, outputs})),
  otherStacks,
  destroy,
  undo,
  lifts,
  selectors,
  scope,
  notAfter,
})

/** The same accounts: with the same key, or with another one where both are known to be of one account. */
const areAmong = (accounts: Plan['accounts'], approved: Plan['accounts']): boolean =>
  Object.entries(accounts).every(([name, is]) => {
    const was = approved[name]
    const isOne = was?.account === undefined || is.account === undefined ? was?.keyHash === is.keyHash : was.account === is.account
    return was?.address === is.address && isOne
  })

const same = (a: object | undefined, b: object | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && canonicalJson(asJson(a)) === canonicalJson(asJson(b)))
