/**
 * One object stands in one operation of a plan, and one key too. Two operations that mean one object would each be
 * right and together destroy it. Asserted for every plan that is made and for every run before its first request.
 */
import type {Api} from '../../base/apis.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import type {Backend} from '../model/backend.ts'
import type {Kinds} from '../model/kind.ts'
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
 * @param backendOf - two accounts may each have an object of the same path
 * @throws PlanDefectError
 */
export function assertOneEach(operations: readonly Operation[], kinds: Kinds, backendOf: (stack: string, api: Api) => Backend): void {
  const byKey = new Map<Key, Operation>()
  const byObject = new Map<Backend, Map<string, Operation>>()
  const twice: {what: string; operations: Operation[]}[] = []
  const note = (seen: Map<string, Operation>, what: string, operation: Operation) => {
    const other = seen.get(what)
    if (other) twice.push({what, operations: [other, operation]})
    else seen.set(what, operation)
  }
  for (const it of operations) {
    note(byKey, keyOfOperation(it), it)
    const kind = kinds.get(it.kind)
    if (it.remoteId === undefined || kind === undefined) continue
    const backend = backendOf(it.stack, kind.api)
    const ofBackend = byObject.get(backend) ?? new Map<string, Operation>()
    byObject.set(backend, ofBackend)
    note(ofBackend, it.remoteId, it)
  }
  if (twice.length > 0) throw new PlanDefectError(twice)
}
