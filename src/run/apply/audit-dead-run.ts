/**
 * What a dead run did and could not write down any more, in the audits of its stacks. Its own lines stay as they are; a
 * power cut may have taken the last of them, and its journal has what they said.
 */
import type {AuditEntry, AuditEvent} from '../../audit/entry.ts'
import type {LedgerBook} from '../../engine/apply/ledger-book.ts'
import type {Recovered} from '../../engine/apply/recovery.ts'
import {type SettledStep, stackOf} from '../../engine/model/journal.ts'
import type {Operation} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {stepsOf} from '../../engine/plan/bill.ts'
import {BookAudit, failed} from '../audit/audit.ts'
import {operationEvent} from '../audit/audit-operations.ts'
import {linesOfRun} from '../audit/audit-past.ts'
import {asWritten} from '../audit/audit-words.ts'
import type {Host} from '../host/host.ts'
import type {Workspace} from '../workspace/workspace.ts'

export interface DeadRunWork {
  readonly run: string
  readonly operations: readonly Operation[]
  /** Steps that ended well, those that were looked up among them. */
  readonly settled: readonly Pick<SettledStep, 'key' | 'step' | 'remoteId'>[]
  readonly failed: Recovered['failed']
  readonly unknown: Recovered['unknown']
}

/** @throws AuditWriteError, AuditLockedError, and what writing a ledger throws: what was looked up is looked up again */
export async function auditDeadRun({host, stores}: Workspace, book: LedgerBook, dead: DeadRunWork): Promise<void> {
  const audit = new BookAudit(host, book, stores, dead.run)
  try {
    const missing = [...stores.keys()].flatMap(stack => {
      const told = linesOfRun(host, stack, book.ledger(stack)?.audit, dead.run)
      return missingLines(host, dead, stack, told).map(event => ({stack, event}))
    })
    if (missing.length === 0) return
    await audit.begin(missing.map(it => it.stack))
    for (const {stack, event} of missing) audit.note(stack, event)
    await audit.flush()
    await book.flush()
  } finally {
    audit.close()
  }
}

function missingLines(host: Host, dead: DeadRunWork, stack: string, told: readonly AuditEntry[]): AuditEvent[] {
  const begin = told.find(it => it.event === 'apply-begin')
  const plan = begin?.plan && {plan: begin.plan}
  const reason = begin === undefined ? 'its run had died' : `sent by ${begin.actor.name}, whose run had died`
  const has = (event: AuditEvent, isDone: boolean) => {
    const {address} = asWritten(host, event)
    return told.some(it => it.event === 'operation' && it.address === address && (!isDone || it.state === 'done'))
  }
  const operations = new Map(dead.operations.map(it => [keyOfOperation(it), it]))
  const steps = new Map<Key, DeadRunWork['settled'][number][]>()
  for (const it of dead.settled) if (stackOf(it.key) === stack) steps.set(it.key, [...(steps.get(it.key) ?? []), it])
  const events: AuditEvent[] = []
  for (const [key, own] of steps) {
    const operation = operations.get(key)
    const isDone = operation === undefined || stepsOf(operation).every(step => own.some(it => it.step === step))
    const event = operation ? operationEvent(operation, isDone ? 'done' : 'failed', own.at(-1)?.remoteId) : stepEvent(key, own)
    if (!has(event, isDone)) events.push({...event, reason, ...plan})
  }
  for (const {key, error} of dead.failed) {
    const operation = operations.get(key)
    if (operation === undefined || stackOf(key) !== stack) continue
    const event = {...operationEvent(operation, 'failed'), ...failed(error), ...plan}
    if (!has(event, false)) events.push(event)
  }
  const isOver = told.some(it => it.event === 'apply-end') || dead.unknown.some(it => stackOf(it.key) === stack)
  if (begin !== undefined && !isOver) events.push({event: 'apply-end', state: 'settled', reason, ...plan})
  return events
}

/** Of a run whose plan is gone. */
function stepEvent(key: Key, steps: DeadRunWork['settled']): AuditEvent {
  const last = steps.at(-1)
  return {
    event: 'operation',
    address: key.slice(key.indexOf(':') + 1),
    ...(last?.remoteId === undefined ? {} : {remoteId: last.remoteId}),
    ...(last && {action: last.step}),
    state: 'done',
  }
}
