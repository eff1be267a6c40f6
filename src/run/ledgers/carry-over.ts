/** What a plan moves between stacks is moved before anything is sent: from then on it is the new stack's, whatever happens. */

import {neededBy} from '../../engine/model/declaration.ts'
import type {LedgerStore} from '../../engine/model/ledger.ts'
import type {Operation} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {type Arriving, type EntryMove, transferEntries} from '../../ledger/transfer.ts'

/** The moves between stacks that a plan holds. */
export const movesIn = (operations: readonly Operation[]): EntryMove[] =>
  operations.flatMap(({action, from, stack, address, declared}): EntryMove[] => {
    if (action !== 'move' || from === undefined || declared === undefined) return []
    const {removal, preventDestroy, exclusive} = declared.policy
    return [{from, to: {stack, address}, declared: {dependsOn: neededBy(declared), removal, preventDestroy, exclusive}}]
  })

/**
 * @param held - operations that do not begin: what a dead run does to their objects has no end yet
 * @returns whether anything was moved: then the ledgers are others than they were
 */
export async function carryOver(
  run: string,
  operations: readonly Operation[],
  stores: ReadonlyMap<string, LedgerStore>,
  held: ReadonlyMap<Key, unknown>,
  arriving?: Arriving,
): Promise<boolean> {
  const moves = movesIn(operations.filter(it => !held.has(keyOfOperation(it))))
  await transferEntries(run, moves, stores, arriving)
  return moves.length > 0
}
