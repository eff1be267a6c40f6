/**
 * One object stands in one operation of a plan, and one key too. Two operations that mean one object would each be
 * right and together destroy it. Asserted for every plan that is made and for every run before its first request.
 */
import {AppError, EXIT} from '../../base/errors.ts'
import type {Kinds} from '../model/kind.ts'
import {type AccountOf, accountsOfOperations} from '../model/ownership.ts'
import type {Operation} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'

/** The planner contradicts itself: a defect of this program and not of the stack. */
export class PlanDefectError extends AppError {
  constructor(meant: readonly {readonly what: string; readonly operations: readonly Operation[]}[]) {
    const said = meant.map(({what, operations}) => `${what}: ${operations.map(it => `${it.action} ${keyOfOperation(it)}`).join(', ')}`)
    super(`the plan has more than one operation for the same object, and nothing was sent: ${said.join('; ')}`, {
      code: 'E_PLAN_DEFECT',
      exit: EXIT.failure,
      suggestions: ['This is a defect of svcctl. Report it together with this message.'],
    })
  }
}

/**
 * @param accountOf - two accounts may each have an object of the same path; without it all speak to one
 * @throws PlanDefectError
 */
export function assertOneEach(operations: readonly Operation[], kinds: Kinds, accountOf?: AccountOf): void {
  const accountAt = accountsOfOperations(kinds, accountOf)
  const byKey = new Map<Key, Operation>()
  const byAccount = new Map<string, Map<string, Operation>>()
  const twice: {what: string; operations: Operation[]}[] = []
  const note = (seen: Map<string, Operation>, what: string, operation: Operation) => {
    const other = seen.get(what)
    if (other) twice.push({what, operations: [other, operation]})
    else seen.set(what, operation)
  }
  for (const it of operations) {
    note(byKey, keyOfOperation(it), it)
    if (it.remoteId === undefined || !kinds.has(it.kind)) continue
    const account = accountAt(it)
    const ofAccount = byAccount.get(account) ?? new Map<string, Operation>()
    byAccount.set(account, ofAccount)
    note(ofAccount, it.remoteId, it)
  }
  if (twice.length > 0) throw new PlanDefectError(twice)
}
