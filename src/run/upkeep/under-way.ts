/** What a transfer has not brought to its end, where it could not be: a ledger cannot be read, or its stack is frozen. */
import {UsageError} from '../../base/usage-error.ts'
import {keyOf} from '../../engine/model/value.ts'
import {ledgerName, type marksIn} from '../../ledger/transfer.ts'

/**
 * @param more - what else may be done about it
 * @throws UsageError where something of it is on its way
 */
export function assertArrived(marks: ReturnType<typeof marksIn>, ...more: readonly string[]): void {
  const [first] = marks
  if (first === undefined) return
  const {stack, entry, mark} = first
  const from = mark.from.state === undefined ? `stack ${mark.from.stack}` : ledgerName(mark.from)
  throw new UsageError(`${keyOf(stack, entry.address)} is on its way there from ${from}, which may have it still`, [
    'Run: svcctl transfer --resume',
    ...more,
  ])
}
