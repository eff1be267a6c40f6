/** Operations and runs as lines of an audit. */
import type {AuditChange, AuditEvent} from '../../audit/entry.ts'
import type {ApplyResult} from '../../engine/apply/work.ts'
import {type ApplyEvent, STATES, type State} from '../../engine/model/events.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'

/** Who approved a plan in its review, and when. */
export interface Approval {
  readonly by: string
  readonly at: string
}

/** @param approval - absent: whoever ran the command */
export const planOfAudit = ({hash, source}: Pick<Plan, 'hash' | 'source'>, approval?: Approval): NonNullable<AuditEvent['plan']> => ({
  hash,
  ...(source && {commit: source.commit}),
  ...(approval && {approvedBy: approval.by, approvedAt: approval.at}),
})

/** What never began changed nothing, and the end of the run says how many those were. */
const UNTOUCHED: readonly State[] = ['no-op', 'skipped', 'blocked']

/** @returns `undefined` for what did not begin */
export function endedEvent(operation: Operation, {state, error, remoteId}: Extract<ApplyEvent, {type: 'ended'}>): AuditEvent | undefined {
  if (UNTOUCHED.includes(state)) return undefined
  return {
    ...operationEvent(operation, state, remoteId),
    ...(error && {reason: `${error.code}: ${error.message}`}),
  }
}

export function operationEvent(operation: Operation, state: State, remoteId = operation.remoteId): AuditEvent {
  const {stack, address, action, movedFrom} = operation
  const from = operation.from ?? (movedFrom === undefined ? undefined : {stack, address: movedFrom})
  return {
    event: 'operation',
    address,
    ...(remoteId === undefined ? {} : {remoteId}),
    action,
    state,
    changes: changesOf(operation),
    ...(from && {from: {stack: from.stack, address: from.address}}),
  }
}

/** Of what goes as a whole, the whole of it. */
function changesOf({action, changes, former}: Operation): readonly AuditChange[] {
  if (former !== undefined && (action === 'delete' || changes.length === 0)) return [{path: '', before: former}]
  return shownChanges(changes)
}

export const shownChanges = (changes: readonly AuditChange[]): AuditChange[] =>
  changes.map(({path, before, after}) => ({
    path,
    ...(before === undefined ? {} : {before}),
    ...(after === undefined ? {} : {after}),
  }))

/** Of one stack. */
export function applyEnd({ended, residual}: ApplyResult, stack: string, interrupted: boolean): AuditEvent {
  const own = ended.filter(it => it.operation.stack === stack)
  const counts = STATES.flatMap(state => {
    const count = own.filter(it => it.state === state && it.operation.action !== 'no-op').length
    return count === 0 ? [] : [`${count} ${state}`]
  })
  const isWhole = own.every(it => it.state === 'done' || it.state === 'no-op')
  const isConverged = isWhole && residual.every(it => it.stack !== stack)
  return {
    event: 'apply-end',
    state: interrupted ? 'interrupted' : isConverged ? 'converged' : isWhole ? 'not converged' : 'partial',
    ...(counts.length > 0 && {reason: counts.join(', ')}),
  }
}
