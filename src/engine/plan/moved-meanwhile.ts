/**
 * What has come, since a plan was made, to where the plan puts something, takes something away or takes something over: none of
 * its own operations says so, and whoever approved it has not seen that.
 */
import {deposedAddress, withoutDeposed} from '../model/deposed.ts'
import {parentRemoteId} from '../model/kind.ts'
import type {Ledger, LedgerEntry} from '../model/ledger.ts'
import type {Operation, Plan} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import {type Begun, foundBy} from './begun.ts'
import {isTakenOver} from './in-exclusive.ts'
import type {PlanInput} from './plan-input.ts'
import {touched} from './touched.ts'

interface Looked extends Pick<PlanInput, 'kinds'> {
  /** Whole, those of other stacks too. */
  readonly ledgers: ReadonlyMap<string, Ledger>
  readonly begun?: Begun | undefined
}

export interface Moved {
  readonly address: string
  readonly message: string
}

/** @param byKey - the fresh operations */
export const movedMeanwhile = (
  plan: Plan,
  fresh: readonly Operation[],
  byKey: ReadonlyMap<Key, Operation>,
  input: Looked,
): readonly Moved[] => [
  ...parentsMoved(plan, input),
  ...joinedMeanwhile(plan, fresh),
  ...toBeCleared(plan, fresh, input),
  ...takenMeanwhile(plan, byKey, input.ledgers),
  ...displaced(plan, fresh, input.begun),
]

/**
 * Parents that stay as they are are not looked at: the ledgers must still have the objects that the plan puts things into, or
 * takes from what nobody declares in them.
 */
function parentsMoved(plan: Plan, {kinds, ledgers}: Looked): Moved[] {
  const planned = new Map(plan.operations.map(it => [keyOfOperation(it), it]))
  const objects = new Map(plan.operations.flatMap(it => (it.remoteId === undefined ? [] : [[keyOf(it.stack, it.remoteId), it]])))
  const parents = new Map(
    touched(plan).flatMap(({stack, cause, remoteId = '', declared}) => {
      const holder = cause === 'exclusive' ? objects.get(keyOf(stack, parentRemoteId({kinds}, remoteId) ?? '')) : undefined
      const parent = holder === undefined ? declared?.parent : ({by: 'key', key: keyOfOperation(holder)} as const)
      return parent?.by === 'key' ? [[parent.key, parent] as const] : []
    }),
  )
  return [...parents.values()].flatMap(({key, remoteId, ledgerHas}) => {
    const it = planned.get(key)
    if (it !== undefined && it.action !== 'no-op') return []
    const now = entryAt(ledgers, key)?.remoteId
    const was = it === undefined ? remoteId : it.remoteId
    // What was found by its name alone no ledger need have; another object there is another one.
    if (now === was || (it === undefined && (now === undefined || now === ledgerHas))) return []
    return [{address: key, message: `planned was ${was ?? 'nothing'}, and the ledger has ${now ?? 'nothing'}`}]
  })
}

function entryAt(ledgers: ReadonlyMap<string, Ledger>, key: Key): LedgerEntry | undefined {
  const at = key.indexOf(':')
  return ledgers.get(key.slice(0, at))?.entries.get(key.slice(at + 1))
}

/** What has come into a planned deletion and would go with it, unseen by whoever approved that. */
function joinedMeanwhile(plan: Plan, fresh: readonly Operation[]): Moved[] {
  const known = new Set(plan.operations.map(keyOfOperation))
  return fresh.flatMap(it => {
    const key = keyOfOperation(it)
    return it.cause === 'made-inline' && !known.has(key) ? [{address: key, message: `it is there now, and ${it.reason}`}] : []
  })
}

/**
 * What has come into an object that is taken over by its name, and that the plan after this one would remove from it as
 * undeclared: whoever approved this plan has not seen that, and guards would not ask for it once the object is the stack's own.
 */
function toBeCleared(plan: Plan, fresh: readonly Operation[], {kinds}: Looked): Moved[] {
  const known = new Set(
    plan.operations.flatMap(it => [
      keyOfOperation(it),
      ...[...(it.leaves ?? []), ...(it.spares ?? [])].map(remoteId => keyOf(it.stack, remoteId)),
    ]),
  )
  const takenOver = fresh.filter(isTakenOver)
  const holders = new Map(takenOver.map(it => [keyOf(it.stack, it.remoteId ?? ''), it]))
  const going = [
    ...takenOver.flatMap(it => (it.leaves ?? []).map(remoteId => ({holder: it, remoteId}))),
    ...fresh.flatMap(({stack, action, cause, remoteId = ''}) => {
      const holder =
        action === 'delete' && cause === 'exclusive' ? holders.get(keyOf(stack, parentRemoteId({kinds}, remoteId) ?? '')) : undefined
      return holder === undefined ? [] : [{holder, remoteId}]
    }),
  ]
  return going.flatMap(({holder, remoteId}) =>
    known.has(keyOf(holder.stack, remoteId))
      ? []
      : [
          {
            address: keyOfOperation(holder),
            message: `${remoteId} is in ${holder.remoteId ?? 'it'} now, and would be removed as undeclared`,
          },
        ],
  )
}

/**
 * What the ledger has under an address at which the plan does not know it: a colleague has declared and applied it, or
 * renamed it, since. Planning again looks only at what the plan touches, and would not see that.
 */
function takenMeanwhile(plan: Plan, fresh: ReadonlyMap<Key, Operation>, ledgers: ReadonlyMap<string, Ledger>): Moved[] {
  const holders = new Map<Key, string[]>()
  for (const {stack, entries} of ledgers.values()) {
    for (const {address, remoteId} of entries.values()) {
      const object = keyOf(stack, remoteId)
      holders.set(object, [...(holders.get(object) ?? []), address])
    }
  }
  return touched(plan).flatMap(it => {
    // What is left where it is does not say where that is: it would give way to what comes to its address.
    const {stack, address, action, movedFrom = action === 'blocked' ? withoutDeposed(address) : address} = it
    const key = keyOfOperation(it)
    const remoteId = it.remoteId ?? (action === 'blocked' ? undefined : fresh.get(key)?.remoteId)
    if (remoteId === undefined) return []
    const own = [address, movedFrom].flatMap(at => [at, deposedAddress(at, remoteId)])
    const [holder, ...more] = holders.get(keyOf(stack, remoteId)) ?? []
    return holder === undefined || [holder, ...more].some(at => own.includes(at))
      ? []
      : [{address: key, message: `planned for ${remoteId}, and the ledger has it as ${holder} by now`}]
  })
}

/**
 * Objects that have come to an address which the plan gives to others: written over, they would be nobody's; put aside, the next
 * plan would delete them. What the plan leaves there it says; a run knows what else it found.
 */
function displaced(plan: Plan, fresh: readonly Operation[], begun: Begun | undefined): Moved[] {
  const found = begun && foundBy(begun)
  if (begun !== undefined && found === undefined) return []
  const known = new Set(plan.operations.map(keyOfOperation))
  const given = new Map(touched(plan).flatMap(it => (it.action === 'blocked' ? [] : [[keyOfOperation(it), it]])))
  return fresh.flatMap(it => {
    if (it.declared !== undefined || it.movedFrom === undefined || known.has(keyOfOperation(it))) return []
    const address = keyOf(it.stack, it.movedFrom)
    const taker = given.get(address)
    const isLeft = it.remoteId !== undefined && (taker?.besides === it.remoteId || found?.(address, it.remoteId) === true)
    return taker === undefined || isLeft ? [] : [{address, message: `the ledger has ${it.remoteId ?? 'another object'} there by now`}]
  })
}
