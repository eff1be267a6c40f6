/** Who else means, or has, an object of a saved plan by now: somebody may have given it the name of another declaration. */
import type {Ledger} from '../model/ledger.ts'
import type {Operation} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import {objectAt, objectOf} from './object-names.ts'
import type {PlanInput} from './plan-input.ts'

type Input = Pick<PlanInput, 'kinds' | 'accountOf'>

/** Who else means, as it is planned now, the object of an operation, in the same account. */
export function meantElsewhere(input: Input, fresh: readonly Operation[]): (it: Operation) => Key | undefined {
  const stays = fresh.filter(it => it.remoteId !== undefined && it.action !== 'delete' && it.action !== 'forget')
  const meaning = new Map(stays.map(it => [objectOf(input, it), keyOfOperation(it)]))
  return it => {
    const key = it.remoteId === undefined ? undefined : meaning.get(objectOf(input, it))
    return key === keyOfOperation(it) ? undefined : key
  }
}

/** Whether the ledgers have the object of an entry that is to be forgotten under another address, too. */
export function isHeldStill(
  {stack, address, action, cause}: Operation,
  input: Input & {readonly ledgers: ReadonlyMap<string, Ledger>},
): boolean {
  if (action !== 'forget' || cause !== 'held-elsewhere') return false
  const entry = input.ledgers.get(stack)?.entries.get(address)
  if (entry === undefined) return false
  const object = objectAt(input, stack, entry.kind, entry.remoteId)
  return [...input.ledgers].some(([name, {entries}]) =>
    [...entries.values()].some(
      it => it !== entry && it.remoteId === entry.remoteId && objectAt(input, name, it.kind, it.remoteId) === object,
    ),
  )
}
