/**
 * The part of a plan that takes nothing away: creates, adoptions, moves, what is only forgotten, and updates without a risk
 * or a difference that is adopted. Nothing that a guard stands before, and nothing that waits for any of the rest.
 */
import type {Kinds} from '../model/kind.ts'
import type {Operation, Plan} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation, spoken} from '../model/value.ts'
import {sealed, summaryOf} from './document.ts'
import {clearedIn, evaluateGuards} from './guards.ts'

export interface LeftOut {
  readonly operation: Operation
  /** In words that follow "left out: ". */
  readonly why: string
}

export interface SafePart {
  /** A plan of its own, which no guard refuses. */
  readonly plan: Plan
  readonly leftOut: readonly LeftOut[]
}

export function safePart(plan: Plan, kinds: Kinds): SafePart {
  const {operations, guards, stacks} = plan
  const covered = stacks.map(it => it.name)
  const guarded = new Map(guards.flatMap(guard => guard.addresses.map(address => [address, guard.code] as const)))
  const cleared = clearedIn(operations, kinds)
  const left = new Map<Key, LeftOut>()
  // Operations stand after what they wait for, so one pass is enough.
  for (const operation of operations) {
    if (operation.action === 'no-op') continue
    const key = keyOfOperation(operation)
    const code = guarded.get(spoken(key, covered)) ?? guarded.get(operation.address)
    const above = operation.edges.find(it => left.has(it.key))
    const why =
      unsafeBecause(operation) ??
      // What it holds would go with the next plan, when it is owned already.
      (operation.cause === 'found-by-name' && cleared.has(keyOf(operation.stack, operation.remoteId ?? ''))
        ? 'what nobody declares in it would go'
        : undefined) ??
      (code === undefined ? undefined : `${code} stands before it`) ??
      (above === undefined ? undefined : `it waits for ${spoken(above.key, covered)}`)
    if (why !== undefined) left.set(key, {operation, why})
  }
  const kept = operations.filter(it => !left.has(keyOfOperation(it)))
  const {hash: _, ...content} = plan
  const part = {...content, operations: kept, summary: summaryOf(kept)}
  // A guard that is about nothing of this part refuses nothing of it.
  const still = evaluateGuards(part, kinds).filter(it => it.addresses.length > 0)
  return {plan: sealed({...part, guards: still}), leftOut: [...left.values()]}
}

function unsafeBecause({action, cause, adopts, origin, changes, held, unprotects}: Operation): string | undefined {
  if (unprotects !== undefined) return 'it takes off what keeps the object from being deleted'
  if (held !== undefined) return `it is held by ${held.by} until ${held.until}: ${held.reason}`
  switch (action) {
    case 'create':
      // Until that is gone the ledger has it under this address.
      return cause === 'parent-changed' ? 'what it was goes with what that is in' : undefined
    case 'adopt':
    case 'move':
    case 'forget':
    case 'no-op':
      return undefined
    case 'update': {
      if (adopts && origin !== 'created') return 'it would change what was only found'
      const risk = changes.find(it => it.risk !== undefined)?.risk
      return risk === undefined ? undefined : `it is risky: ${risk}`
    }
    case 'delete':
    case 'replace':
      return 'it destroys'
    case 'blocked':
      return 'it is blocked'
    default:
      return action satisfies never
  }
}
