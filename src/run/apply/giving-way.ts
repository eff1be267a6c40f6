/**
 * Addresses in a ledger that a run gives to other objects, while who has them is no part of the run (`--safe-only`,
 * `--no-destroy`, `import --all`), or is blocked in it: such an object goes where the whole plan would have put it. Written
 * over, it would be nobody's any more.
 */
import type {GivingWay} from '../../engine/apply/ledger-book.ts'
import type {Work} from '../../engine/apply/work.ts'
import {deposedAddress} from '../../engine/model/deposed.ts'
import {renamedFrom} from '../../engine/model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../../engine/model/value.ts'
import type {Observation} from '../../engine/observe/observation.ts'

export function givingWay(work: readonly Work[], {pairs, orphans}: Pick<Observation, 'pairs' | 'orphans'>): GivingWay[] {
  const all: GivingWay[] = [
    ...orphans.flatMap(({stack, object, address, heldBy}) =>
      heldBy === undefined && address !== object.address ? [{stack, from: object.address, to: address, remoteId: object.remoteId}] : [],
    ),
    ...[...pairs.values()].flatMap(({declaration: {stack, address}, match}) =>
      match?.formerAddress === undefined ? [] : [{stack, from: match.formerAddress, to: address, remoteId: match.live.remoteId}],
    ),
  ]
  const known = new Set(all.map(it => keyOf(it.stack, it.remoteId)))
  for (const {
    operation: {stack, address, besides},
  } of work)
    if (besides !== undefined && !known.has(keyOf(stack, besides)))
      all.push({stack, from: address, to: deposedAddress(address, besides), remoteId: besides})
  // What is blocked goes nowhere of itself, and takes no address, but for what is declared and was called otherwise.
  const own = new Set(
    work.flatMap(({operation: it}) =>
      it.remoteId === undefined || (it.action === 'blocked' && renamedFrom(it) === undefined) ? [] : [keyOf(it.stack, it.remoteId)],
    ),
  )
  const begun = work.filter(
    ({held, operation: it}) => held === undefined && it.action !== 'no-op' && (it.action !== 'blocked' || renamedFrom(it) !== undefined),
  )
  const taken = new Set<Key>(begun.map(it => keyOfOperation(it.operation)))
  const left = new Set(all.filter(it => !own.has(keyOf(it.stack, it.remoteId))))
  const found: GivingWay[] = []
  // Who gives way takes an address in turn.
  for (let before = -1; before < found.length; ) {
    before = found.length
    for (const it of left) {
      if (!taken.has(keyOf(it.stack, it.from))) continue
      taken.add(keyOf(it.stack, it.to))
      left.delete(it)
      found.push(it)
    }
  }
  return found
}
