import type {AuditEvent, UnchainedEntry} from '../../src/audit/entry.ts'

/** One line of an audit, before it has its place in the chain. */
export const entry = (event: Partial<AuditEvent> = {}): UnchainedEntry => ({
  v: 1,
  at: '2026-11-22T10:00:00.000Z',
  event: 'operation',
  stack: 'shop',
  lineage: 'l-1',
  actor: {name: 'ada', source: 'by', host: 'here'},
  ...event,
})
