/**
 * Which operations are about something that somebody holds: the object itself, under whatever address it goes by now or
 * went by when it was held, and whatever it would go with. A rename is an operation on it, too, and so is its way into
 * another ledger.
 */
import {agreed, type Hold} from '../model/controls.ts'
import type {Ledger} from '../model/ledger.ts'
import type {Operation} from '../model/plan.ts'

type Holds = ReadonlyMap<string, readonly Hold[]>
type Ledgers = ReadonlyMap<string, Pick<Ledger, 'entries'>>

export function withHolds(operations: readonly Operation[], holds: Holds | undefined, ledgers: Ledgers): readonly Operation[] {
  if (holds === undefined || [...holds.values()].every(it => it.length === 0)) return operations
  return operations.map(it => {
    const hold = holdOn(it, holds, ledgers)
    return hold === undefined ? it : {...it, held: agreed(hold)}
  })
}

export function holdOn(operation: Operation, holds: Holds, ledgers: Ledgers): Hold | undefined {
  if (operation.action === 'no-op') return undefined
  const {stack, from} = operation
  for (const [name, address] of [[stack, undefined], ...(from === undefined ? [] : [[from.stack, from.address]])] as const) {
    const found = (holds.get(name) ?? []).find(it => concerns(operation, it, ledgers.get(name), address))
    if (found !== undefined) return found
  }
  return undefined
}

/** @param former - the address in the ledger that the hold belongs to, of what moves out of it */
function concerns(
  {address, movedFrom, remoteId, action, cause}: Operation,
  hold: Hold,
  ledger: Pick<Ledger, 'entries'> | undefined,
  former: string | undefined,
): boolean {
  const addresses = former === undefined ? [address, movedFrom] : [former]
  if (addresses.includes(hold.address)) return true
  if (remoteId === undefined) return false
  const ids = [hold.remoteId, ledger?.entries.get(hold.address)?.remoteId].filter(it => it !== undefined)
  // What is deleted takes along what it has in it; what was made with an object goes with that, and not before.
  const goes = action === 'delete' || action === 'replace'
  return ids.some(
    id => id === remoteId || (goes && id.startsWith(`${remoteId}/`)) || (cause === 'made-inline' && remoteId.startsWith(`${id}/`)),
  )
}
