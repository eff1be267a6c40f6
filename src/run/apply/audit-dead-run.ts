/**
 * What a dead run did and could not write down any more, in the audits of its stacks. Its own lines stay as they are; a
 * power cut may have taken the last of them, and its journal has what they said.
 */
import type {AuditEntry, AuditEvent} from '../../audit/entry.ts'
import type {LedgerBook} from '../../engine/apply/ledger-book.ts'
import type {Recovered} from '../../engine/apply/recovery.ts'
import type {State} from '../../engine/model/events.ts'
import {addressIn, type JournalEntry, readRun, stackOf} from '../../engine/model/journal.ts'
import type {Operation} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {LEFT_OPEN, toldEnds} from '../../engine/plan/told-ends.ts'
import {BookAudit, reasonOf} from '../audit/audit.ts'
import {operationEvent} from '../audit/audit-operations.ts'
import {linesOfRun} from '../audit/audit-past.ts'
import {asWritten} from '../audit/audit-words.ts'
import type {Host} from '../host/host.ts'
import type {Workspace} from '../workspace/workspace.ts'

export interface DeadRunWork {
  readonly run: string
  readonly operations: readonly Operation[]
  /** Of its journal, with what was found out just now. */
  readonly entries: readonly JournalEntry[]
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
  const has = (event: AuditEvent) => {
    const {address} = asWritten(host, event)
    return told.some(it => it.event === 'operation' && it.address === address && isSaid(it.state, event.state))
  }
  const operations = new Map(dead.operations.map(it => [keyOfOperation(it), it]))
  const errors = new Map([...dead.failed, ...dead.unknown].map(it => [it.key, it.error]))
  const {loose} = readRun(dead.entries)
  const endOf = toldEnds({entries: dead.entries, loose})
  const steps = new Map<Key, SettledEntry | undefined>(loose.map(it => [it.key, undefined]))
  for (const it of dead.entries) if (it.type === 'settled') steps.set(it.key, it)
  const events: AuditEvent[] = []
  for (const [key, last] of steps) {
    if (stackOf(key) !== stack) continue
    const operation = operations.get(key)
    const {state, why} = endOf(key, operation)
    const event = operation ? operationEvent(operation, state, last?.remoteId) : stepEvent(key, state, last)
    const error = errors.get(key)
    const because = error === undefined ? why : reasonOf(error)
    if (!has(event)) events.push({...event, reason: because === undefined ? reason : `${because} (${reason})`, ...plan})
  }
  const isOver = told.some(it => it.event === 'apply-end') || dead.unknown.some(it => stackOf(it.key) === stack)
  if (begin !== undefined && !isOver) events.push({event: 'apply-end', state: 'settled', reason, ...plan})
  return events
}

type SettledEntry = Extract<JournalEntry, {type: 'settled'}>

/** Whether a line says already how it stands, or better. */
const isSaid = (told: string | undefined, now: string | undefined): boolean =>
  told === now || told === 'done' || now === 'unknown' || (now === 'failed' && !LEFT_OPEN.some(it => it === told))

/** Of a run whose plan is gone. */
const stepEvent = (key: Key, state: State, last: SettledEntry | undefined): AuditEvent => ({
  event: 'operation',
  address: addressIn(key),
  ...(last?.remoteId === undefined ? {} : {remoteId: last.remoteId}),
  ...(last && {action: last.step}),
  state,
})
