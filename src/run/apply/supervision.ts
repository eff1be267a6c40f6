/** Holds and freezes as a run goes by them: read before anything is changed, and again while there is more to send. */
import {ControlsLostError, FrozenError, HeldError} from '../../controls/errors.ts'
import type {Restrictions, Supervision} from '../../engine/apply/supervisor.ts'
import type {Held} from '../../engine/apply/undecided.ts'
import type {Agreed} from '../../engine/model/controls.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {holdOn} from '../../engine/plan/holds.ts'
import {assertNotFrozen, type InForce} from '../workspace/controls.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {auditBreakGlass, staysHeld} from './break-glass.ts'

export interface OpenControls {
  /** Operations that are not begun. */
  readonly left: ReadonlyMap<Key, Held>
  readonly supervision: Supervision
}

/**
 * @param whole - what `plan` is a part of: what is held keeps its address also where it is left out
 * @param why - of `--break-glass`: it stands in the audit before anything is passed
 * @throws FrozenError, ControlsError, AuditWriteError: nothing was changed
 */
export async function openControls(workspace: Workspace, plan: Plan, whole: Plan, why: string | undefined): Promise<OpenControls> {
  const breakGlass = why !== undefined
  const {controls, host, ledgers} = workspace
  const at = host.clock.now()
  const counts = (all: InForce): InForce => (breakGlass ? {freezes: all.freezes.filter(it => it.strict), holds: new Map()} : all)
  const inForce = counts(await controls.read())
  assertNotFrozen(inForce)
  if (breakGlass) await auditBreakGlass(workspace, plan, why)
  const operations = new Map(plan.operations.map(it => [keyOfOperation(it), it]))
  const restrictions = ({freezes, holds}: InForce): Restrictions => ({
    closed: freezes.length === 0 ? undefined : new FrozenError(freezes),
    left: key => {
      const operation = operations.get(key)
      const hold = operation && holdOn(operation, holds, ledgers)
      return hold && new HeldError(hold)
    },
  })
  return {
    left: heldByControls(whole.operations, it => {
      // What was approved as left out stays so.
      const marked = !breakGlass || staysHeld(it, plan) ? it.held : undefined
      return marked ?? holdOn(it, inForce.holds, ledgers)
    }),
    supervision: {
      first: {restrictions: restrictions(inForce), at},
      wallClock: host.wallClock,
      read: async () => restrictions(counts(await controls.read('quick'))),
      lost: (cause, misses) => new ControlsLostError(cause, misses),
    },
  }
}

/**
 * What is held, and what would take its place in the ledger: an address that the held object still has there belongs to
 * it until it may move.
 *
 * @param heldBy - who holds what an operation is about
 */
export function heldByControls(operations: readonly Operation[], heldBy: (it: Operation) => Agreed | undefined): ReadonlyMap<Key, Held> {
  const left = new Map<Key, Held>()
  /** By the address in the ledger: whose that stays. */
  const staying = new Map<Key, {readonly key: Key; readonly hold: Agreed}>()
  const leave = (it: Operation, hold: Agreed, keeper?: Key): void => {
    const key = keyOfOperation(it)
    left.set(key, {left: new HeldError(hold, keeper)})
    staying.set(keyOfOperation(it.from ?? {stack: it.stack, address: it.movedFrom ?? it.address}), {key, hold})
  }
  for (const it of operations) {
    const hold = heldBy(it)
    if (hold !== undefined) leave(it, hold)
  }
  for (let before = -1; before < left.size; ) {
    before = left.size
    for (const it of operations) {
      const key = keyOfOperation(it)
      const keeper = staying.get(key)
      if (keeper !== undefined && keeper.key !== key && !left.has(key) && it.action !== 'no-op') leave(it, keeper.hold, keeper.key)
    }
  }
  return left
}
